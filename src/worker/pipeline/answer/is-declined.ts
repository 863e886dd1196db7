import { DECLINED } from "../../model/model.ts";
import { normaliseText } from "../../../shared/normalise-text.ts";
import type { AnswerRules } from "../check-answer.ts";
import { findCitations } from "./find-citations.ts";
import { withoutSpans } from "./resolve-citations.ts";

/**
 * Whether an answer says that the evidence does not answer: a line that holds nothing but the literal, cited or not; the
 * literal at its start, with a reason behind it; or the literal anywhere in an answer that has to cite and cites nothing.
 * Any other sentence that mentions the literal is an answer.
 */
export function isDeclined(body: string, citations: AnswerRules["citations"]): boolean {
  if (!lettersOf(body).includes(DECLINED_LETTERS)) return false;
  const claimed = withoutSpans(body, findCitations(body, 0));
  if (claimed.split("\n").some((line) => lettersOf(line) === DECLINED_LETTERS)) return true;
  if (OPENS_DECLINED.test(body)) return true;
  return citations === "required" && claimed === body && SPELLED.test(body);
}

/** Letters and digits alone, in one case and one form. */
export const lettersOf = (text: string): string =>
  normaliseText(text.replace(/[^\p{L}\p{N}]/gu, "")).toUpperCase();

const DECLINED_LETTERS = lettersOf(DECLINED);
const SPELLED = /INSUFFICIENT\\?[_ ]EVIDENCE/;
const OPENS_DECLINED =
  /^[\s"'“„*_`>#-]{0,12}INSUFFICIENT\\?_EVIDENCE["'”“*_`]{0,4}\s{0,4}[.,:;!()–—-]/;
