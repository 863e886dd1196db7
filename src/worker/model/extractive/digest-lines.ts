import { DECLINED } from "../../models/model.ts";
import type { EvidenceBlock, ModelTask } from "../../models/model.ts";
import { candidatesOf } from "./candidates.ts";
import { rankForSummary } from "./rank-for-summary.ts";

type DigestTask = Extract<ModelTask, { purpose: "digest" }>;

/** Of an answer, where there is room for more than one of each. */
const MOST_OF_ONE = 3;

/**
 * Lines with the sentences that stand best for each of the answers, and its number: one of each, or more where there is
 * room. Of more answers than there is room for, evenly chosen ones: nothing tells which of them matter.
 */
export function digestLines({ evidence, lines }: DigestTask): string {
  const ofEach = Math.max(1, Math.min(MOST_OF_ONE, Math.floor(lines / evidence.length)));
  const said = evidence.flatMap((block) =>
    bestSentences(block, ofEach).map((sentence) => `- ${sentence} [${block.number}]`),
  );
  if (said.length === 0) return DECLINED;
  const step = Math.max(1, said.length / lines);
  const taken = Array.from(
    { length: Math.min(lines, said.length) },
    (_, at) => said[Math.floor(at * step)],
  );
  return taken.join("\n");
}

/** The fields of an extraction are no sentences, and are shown as they are where they are short. */
const MOST_FIELD_CHARS = 300;

function bestSentences(block: EvidenceBlock, most: number): string[] {
  const candidates = candidatesOf([block]).filter(({ text }) => quotesAreClosed(text));
  const best = rankForSummary(candidates, block.title ?? "", most).map(({ text }) => text);
  if (best.length > 0) return best;
  const [first = ""] = block.text.split("\n");
  const field = withClosedQuotes(first.trim().slice(0, MOST_FIELD_CHARS)).trim();
  return field === "" ? [] : [field];
}

/** A sentence that was cut out of a quotation would quote, with the words around it, what nobody wrote. */
const quotesAreClosed = (text: string): boolean => text.split('"').length % 2 === 1;

const withClosedQuotes = (text: string): string =>
  quotesAreClosed(text) ? text : text.slice(0, text.lastIndexOf('"'));
