import type { Citation } from "../../shared/run-result.ts";
import type { EvidenceBlock } from "../model/model.ts";
import { countLines } from "./evidence-piece.ts";
import type { AdmittedEvidence } from "./gate-evidence.ts";
import type { Passage, Reading } from "./pipeline-dependencies.ts";

/** A numbered piece of evidence, and what a citation of its number stands for. */
export type CitableBlock = EvidenceBlock & Pick<Citation, "chunkKey" | "lineStart" | "lineEnd">;

/** Numbers the admitted evidence from 1: the file first, then the passages in rank order. */
export function numberEvidence({ file, passages }: AdmittedEvidence): CitableBlock[] {
  const unnumbered = [...(file === null ? [] : [fileBlock(file)]), ...passages.map(passageBlock)];
  return unnumbered.map((block, index) => ({ ...block, number: index + 1 }));
}

const fileBlock = ({ path, text }: Reading): CitableBlock => ({
  number: 1,
  path,
  title: titleOf(text),
  headingPath: null,
  text,
  chunkKey: null,
  lineStart: 1,
  lineEnd: countLines(text),
});

const passageBlock = (passage: Passage): CitableBlock => ({
  number: 1,
  path: passage.path,
  title: passage.title,
  headingPath: passage.headingPath,
  text: passage.text,
  chunkKey: passage.chunkKey,
  lineStart: passage.lineStart,
  lineEnd: passage.lineEnd,
});

/** The first heading of a text, or null. */
export const titleOf = (text: string): string | null =>
  /^#{1,6}[ \t]+(\S[^\r\n]*)/m.exec(text)?.[1]?.trim() ?? null;
