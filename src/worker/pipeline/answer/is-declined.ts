import { DECLINED } from "../../model/model.ts";
import { normaliseText } from "../../../shared/normalise-text.ts";
import type { CitableBlock } from "../number-evidence.ts";
import { plainForm } from "../text/plain-form.ts";
import { findCitations } from "./find-citations.ts";
import { withoutSpans } from "./resolve-citations.ts";

/** What an answer that speaks of the literal may rest on. */
type Grounds = { readonly question: string; readonly evidence: readonly CitableBlock[] };

/** The two words in a text in plain form, which has no underscores. */
const SPELLED = /(?<![a-z0-9])insufficient(?<joint>[\s./:|\-‐‑–—]{0,4})evidence(?![a-z0-9])/giu;
const WINDOW = 80;

/**
 * Whether a reply says that the evidence does not answer, be it with a guess beside it: it holds the literal anywhere, in
 * one word, with another mark for the underscore or in capitals, unless the evidence speaks of it in the same words; or
 * the two words in ordinary letters stand as a verdict of their own. "The audit found insufficient evidence of fraud" is
 * an answer. Linear.
 */
export function isDeclined(body: string, grounds: Grounds): boolean {
  const { text } = plainForm(body);
  if (!lettersOf(text).includes(DECLINED_LETTERS)) return false;
  const claimed = withoutSpans(text, findCitations(text, 0));
  if (claimed.split("\n").some((line) => lettersOf(line) === DECLINED_LETTERS)) return true;
  const found = [...text.matchAll(SPELLED)].map((match) => occurrenceOf(text, match));
  if (found.length === 0) return false;
  const known = wordsOf(grounds.evidence.map(wholeOf).join("\n"));
  const isAsked = wordsOf(grounds.question).includes(LITERAL);
  return found.some((one) => {
    if (!known.includes(LITERAL)) return one.isLiteral || (one.opensClause && one.endsClause);
    // Of what evidence speaks of, an answer may speak too, but not begin with it as its verdict.
    if (one.opensReply && one.endsClause) return true;
    return one.isLiteral && !isAsked && !one.phrases.some((phrase) => known.includes(phrase));
  });
}

/** Whether fields hold the literal, and the document does not. */
export function holdsDecline(json: string, evidence: readonly CitableBlock[]): boolean {
  const { text } = plainForm(json);
  const holdsLiteral = [...text.matchAll(SPELLED)].some((match) => isLiteral(match));
  return holdsLiteral && !evidence.some((block) => wordsOf(wholeOf(block)).includes(LITERAL));
}

/** Letters and digits alone, in one case and one form. */
export const lettersOf = (text: string): string =>
  normaliseText(text.replace(/[^\p{L}\p{N}]/gu, "")).toUpperCase();

const DECLINED_LETTERS = lettersOf(DECLINED);
const LITERAL = " insufficient evidence ";

const wholeOf = ({ path, headingPath, text }: CitableBlock): string =>
  `${path}\n${headingPath ?? ""}\n${text}`;

/** The words of a text, parted and enclosed by one blank each; those of the literal are two. */
const wordsOf = (text: string): string =>
  ` ${(
    plainForm(text)
      .text.toLowerCase()
      .replaceAll("insufficientevidence", " insufficient evidence ")
      .match(/[\p{L}\p{N}]{1,1000}/gu) ?? []
  ).join(" ")} `;

type Occurrence = {
  readonly isLiteral: boolean;
  readonly opensReply: boolean;
  readonly opensClause: boolean;
  readonly endsClause: boolean;
  /** The literal with two words beside it. */
  readonly phrases: readonly string[];
};

const isLiteral = ({ 0: spelled, groups }: RegExpExecArray): boolean =>
  !/^\s+$/.test(groups?.["joint"] ?? "") || spelled === spelled.toUpperCase();

function occurrenceOf(text: string, match: RegExpExecArray): Occurrence {
  const end = match.index + match[0].length;
  const before = text.slice(Math.max(0, match.index - WINDOW), match.index);
  const after = text.slice(end, end + WINDOW);
  const [one, two] = [wordsOf(before).trim().split(" "), wordsOf(after).trim().split(" ")];
  const [first = "", second = ""] = one.slice(-2);
  const [third = "", fourth = ""] = two;
  const last = one.at(-1) ?? "";
  return {
    isLiteral: isLiteral(match),
    opensReply: match.index < WINDOW && !/[\p{L}\p{N}]/u.test(before),
    opensClause: OPENS_CLAUSE.test(before),
    endsClause: ENDS_CLAUSE.test(after),
    phrases: [
      ` ${first} ${second}${LITERAL}`,
      ` ${last}${LITERAL}${third} `,
      `${LITERAL}${third} ${fourth} `,
    ].filter((phrase) => !phrase.includes("  ")),
  };
}

const OPENS_CLAUSE =
  /(?:^|\n|[.!?…:;—–]["'”’»)]{0,3}\s{1,4}|(?:answer|reply|verdict|result|conclusion|respond|antwort|réponse|respuesta)(?:\s{1,2}(?:is|with|lautet|est|es))?)[^\p{L}\p{N}]{0,12}$/iu;
const ENDS_CLAUSE =
  /^(?:[^\p{L}\p{N}\n]{0,12}(?:\n|$)|["'”’»)]{0,3}\s{0,2}[.,;:!?(—–-]|["'”’»)]{0,3}\s{1,4}(?:but|however|though|although|yet|still|aber|jedoch|doch|mais|pero|to\s{1,4}(?:answer|say|tell|determine|conclude|decide))(?![\p{L}]))/iu;
