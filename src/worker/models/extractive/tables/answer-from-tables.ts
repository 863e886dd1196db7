import { figureOverTable } from "../../../text/tables/figure-over-table.ts";
import { readTables } from "../../../text/tables/read-tables.ts";
import type { EvidenceBlock } from "../../model.ts";
import { candidatesOf } from "../candidates.ts";
import type { Candidate } from "../candidates.ts";
import { lookUpCells } from "./look-up-cells.ts";

type FromTables =
  | { readonly kind: "answered"; readonly text: string }
  /** `isNoAnswer`: whether a sentence is a line of a table that has one part of what is asked, and lacks the rest. */
  | { readonly kind: "none"; readonly isNoAnswer: (sentence: Candidate) => boolean };

/**
 * The answer that the tables of the evidence give: a cell, or a figure that is computed over one of them.
 * @param about the question without the names of files
 */
export function answerFromTables(
  {
    question,
    evidence,
  }: { readonly question: string; readonly evidence: readonly EvidenceBlock[] },
  about: string,
): FromTables {
  const { found, lacking } = lookUpCells(about, evidence);
  if (found.length > 0) return { kind: "answered", text: found.map(cite).join("\n") };
  const figure = figureOverTable(question, evidence);
  if (figure?.kind === "computed") return { kind: "answered", text: cite(figure) };
  const left = evidence.map((block) =>
    onlyLines(block, figure === null ? lacking.get(block.number) : linesOfTables(block)),
  );
  const lines = new Set(candidatesOf(left).map(keyOf));
  return { kind: "none", isNoAnswer: (sentence) => lines.has(keyOf(sentence)) };
}

const cite = ({ text, number }: { readonly text: string; readonly number: number }): string =>
  `${text} [${number}]`;

const keyOf = ({ text, number }: Candidate): string => `${number} ${text}`;

const linesOfTables = ({ text }: EvidenceBlock): ReadonlySet<number> =>
  new Set(readTables(text).flatMap(({ lines }) => lines));

function onlyLines(block: EvidenceBlock, kept: ReadonlySet<number> = new Set()): EvidenceBlock {
  if (kept.size === 0) return { ...block, text: "" };
  const lines = block.text.split(/\r\n|\n|\r/);
  return { ...block, text: lines.map((line, at) => (kept.has(at) ? line : "")).join("\n") };
}
