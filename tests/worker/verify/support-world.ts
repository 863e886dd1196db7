import type { EvidenceSpan } from "../../../src/shared/job/run-result.ts";
import type { CitableBlock } from "../../../src/worker/evidence/number.ts";
import type { AnswerRules } from "../../../src/worker/verify/check-answer.ts";
import { sha256Of } from "../../support/pipeline-world.ts";

/** A piece of evidence with this text. */
export function blockOf(
  number: number,
  path: string,
  text: string,
  more: Partial<CitableBlock> = {},
): CitableBlock {
  const startChar = more.startChar ?? 0;
  return {
    number,
    path,
    text,
    sha256: sha256Of(text),
    title: null,
    headingPath: null,
    chunkKey: null,
    startChar,
    endChar: startChar + [...text].length,
    lineStart: 1,
    lineEnd: (more.lineStart ?? 1) + text.split("\n").length - 1,
    summaryLevel: null,
    ...more,
  };
}

/** The text at a span, cut by code points. */
export function sliceOf(
  evidence: readonly CitableBlock[],
  span: EvidenceSpan | null | undefined,
): string | null {
  const block = evidence.find(({ number }) => number === span?.number);
  if (span === null || span === undefined || block === undefined) return null;
  const { startChar, endChar } = span;
  return [...block.text].slice(startChar - block.startChar, endChar - block.startChar).join("");
}

/** The strict rules for the answer as a whole; what is said in it stands, so that a test is about one thing. */
export const rulesFor = (
  evidence: readonly CitableBlock[],
  more: Partial<AnswerRules> = {},
): AnswerRules => ({
  footer: `Scope: 2 passages from 2 files, snapshot=${sha256Of("x")}`,
  question: "",
  evidence,
  citations: "required",
  requireInSnapshot: true,
  headingMatch: "prefix",
  normalizeHeading: true,
  unsupported: "flag",
  ...more,
});
