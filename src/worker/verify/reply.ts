import { normaliseText } from "../../shared/text/normalise-text.ts";
import { labelsOf } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { DECLINED } from "../models/model.ts";
import { visibleText, withoutSpans } from "../text/clean-text.ts";
import { FOOTER_LABEL, FOOTER_MARK, holdsFooter } from "../text/footer-form.ts";
import { foldLookAlikes, plainForm } from "../text/plain-form.ts";
import { findCitations } from "./citations.ts";
import { withoutOwnMarks } from "./own-marks.ts";

const OPENING = /^(`{3,8}|~{3,8})(?:markdown|md|text|txt|plaintext)?[ \t]*\n/i;

/** Extracts the answer from a reply: the visible text without our own marks, footers, and a code fence around all of it. */
export function openAnswer(reply: string): SplitReply {
  const text = withoutOwnMarks(visibleText(reply)).trim();
  const outer = splitFooters(insideFence(text) ?? text);
  const fenced = insideFence(outer.body);
  if (fenced === null) return outer;
  const inner = splitFooters(fenced);
  return { body: inner.body, footers: [...inner.footers, ...outer.footers] };
}

/** The content of a single fence around the whole text; null for any other text. */
function insideFence(text: string): string | null {
  const [opening, fence] = OPENING.exec(text) ?? [];
  if (opening === undefined || fence === undefined || !text.endsWith(`\n${fence}`)) return null;
  const inside = text.slice(opening.length, -fence.length);
  return /^[ \t]{0,3}(?:`{3}|~{3})/m.test(inside) ? null : inside;
}

/** A reply, and the scope footers at its end, or lines that imitate one. */
type SplitReply = { readonly body: string; readonly footers: readonly string[] };

/** No honest reply ends with more; further footers before them count as a scope in the wrong place. */
const MOST_FOOTERS = 20;

/** Splits footers off. A last line that opens with "Scope:" but is no footer of ours belongs to the answer. */
export function splitFooters(text: string): SplitReply {
  const footers: string[] = [];
  const folded = foldLookAlikes(text);
  const from = text.length - text.trimStart().length;
  let end = text.trimEnd().length;
  while (footers.length < MOST_FOOTERS) {
    const start = startOfFooter(folded.slice(from, end));
    if (start === null) break;
    footers.unshift(text.slice(from + start, end).trim());
    end = from + text.slice(from, from + start).trimEnd().length;
  }
  return { body: text.slice(from, end), footers };
}

function startOfFooter(text: string): number | null {
  const lineStart = text.lastIndexOf("\n") + 1;
  const line = text.slice(lineStart);
  if (OPENS_FOOTER.test(line) && holdsFooter(line)) return lineStart;
  const from = Math.max(0, text.length - LONGEST_CHARS);
  const found = FOOTER_AT_END.exec(text.slice(from));
  return found === null ? null : from + found.index;
}

const LONGEST_CHARS = 600;
const LABEL = `(?:(?:evidence|answer|final|true)\\s{1,4})?${FOOTER_LABEL}`;
const OPENS_FOOTER = new RegExp(
  `^[\\s>*_\`#|+•([{"'“„«<!-]{0,40}(?:\\d{1,3}[.)]\\s)?${LABEL}`,
  "iu",
);

/**
 * A whole footer behind other words of its line, over several lines, or in code, quotes, brackets or a comment. It matches from
 * the space before the footer to the end of the text.
 */
const FOOTER_AT_END = new RegExp(
  "(?:^|\\s)\\s{0,8}(?:`{3,8}\\w{0,12}\\s)?[([{\"'“„«*_`~<!-]{0,8}\\s?" +
    `${LABEL}${FOOTER_MARK}[*_\`]{0,3}\\s{0,4}(?:full|partial|\\d{1,9}\\s)[^\\n]{0,200}\\n?[^\\n]{0,200}` +
    "(?:sha-?256|snapshot)\\s?=\\s?[0-9a-f]{8,64}(?:, parts=\\d{1,9})?[)\\]}\"'”“»*_`~.!>\\s-]{0,16}$",
  "iu",
);

/** The texts that may hold the literal themselves, so that an answer may mention it. */
type Grounds = { readonly question: string; readonly evidence: readonly CitableBlock[] };

/** The two words of the literal, in a text in plain form, which has no underscores. */
const SPELLED = /(?<![a-z0-9])insufficient(?<joint>[\s./:|\-‐‑–—]{0,4})evidence(?![a-z0-9])/giu;
const WINDOW = 80;

/**
 * Whether a reply declines, even with a guess beside it: it holds the literal anywhere, in one word, with another mark for the
 * underscore, or in capitals, unless the evidence has it in the same words; or the two words in ordinary letters are a clause
 * by themselves. "The audit found insufficient evidence of fraud" is an answer. Linear.
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
    // An answer may mention the literal if the evidence does, but not begin with it as its verdict.
    if (one.opensReply && one.endsClause) return true;
    return one.isLiteral && !isAsked && !one.phrases.some((phrase) => known.includes(phrase));
  });
}

/** Whether fields hold the literal while the document does not. */
export function holdsDecline(json: string, evidence: readonly CitableBlock[]): boolean {
  const { text } = plainForm(json);
  const holdsLiteral = [...text.matchAll(SPELLED)].some((match) => isLiteral(match));
  return holdsLiteral && !evidence.some((block) => wordsOf(wholeOf(block)).includes(LITERAL));
}

/** Only the letters and digits of a text, in one case and form. */
export const lettersOf = (text: string): string =>
  normaliseText(text)
    .replace(/[^\p{L}\p{N}]{1,1000}/gu, "")
    .toUpperCase();

const DECLINED_LETTERS = lettersOf(DECLINED);
const LITERAL = " insufficient evidence ";

const wholeOf = (block: CitableBlock): string => [...labelsOf(block), block.text].join("\n");

/** The words of a text, with one space before and after each; the literal counts as two words. */
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
