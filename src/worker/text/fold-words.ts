import { normaliseText } from "../../shared/text/normalise-text.ts";

/** A word or a mark as it is compared, and where it stands in its text, in UTF-16 units. */
export type Word = { readonly text: string; readonly start: number; readonly end: number };

const IDEOGRAPH = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}`;
// Bounded, since a match of millions would exhaust the stack of the matcher.
const LETTERS = String.raw`[[\p{L}\p{N}\p{M}]--[${IDEOGRAPH}]]{1,1000}`;
const HIDDEN = String.raw`[\p{Cf}\0-\x08\x0E-\x1F\x7F-\x84\x86-\x9F]`;
const LINE_END = String.raw`(?:\r\n|[\n\r])`;
/** Within a word: an apostrophe, invisible characters, or a hyphen between letters, also at the end of a line. */
const JOINT = String.raw`(?:['’＇]|(?<=[\p{L}\p{M}])[\-\u2010\u2011\u00AD](?:[ \t]{0,8}${LINE_END}[ \t>]*)?(?=\p{L})|${HIDDEN}+)`;
/** Ignored: marks of Markdown, quote marks, brackets, targets of links, our changes to evidence, marks of doubtful figures. */
const IGNORED = String.raw`\]\([^\(\)\s]{0,2000}\)|${LINE_END}[ \t]*>[ \t>]*|<<<|>>>|[\s\u2E2E*_\`~·#\|\\"'“”„‟«»‹›「」『』‘’‚‛＂＇´\(\)\[\]【】［］（）]|${HIDDEN}`;
const PATTERN = new RegExp(
  [
    String.raw`(?<tag>[<‹]\/?[tT][hH][iI][nN][kK])`,
    `(?<word>${LETTERS}(?:${JOINT}${LETTERS})*)`,
    String.raw`(?<ideograph>[${IDEOGRAPH}]\p{M}{0,30})`,
    `(?<ignored>${IGNORED})`,
    String.raw`(?<ellipsis>…|\.(?:[ \u00A0]?\.)+)`,
    String.raw`(?<dash>[\-\u2010-\u2015\u2212]+)`,
    String.raw`(?<mark>[^\s])`,
  ].join("|"),
  "gv",
);

/**
 * The words and marks of a text as quotes are compared, in NFKC. White space, quote marks, brackets, marks of Markdown,
 * targets of links, case, and hyphens within a word (also at the end of a line) do not count; letters, digits and all
 * other marks do. Each character of a script without blanks is a word. Linear.
 */
export function foldWords(text: string): Word[] {
  const words: Word[] = [];
  for (const match of text.matchAll(PATTERN)) {
    const folded = fold(match);
    if (folded === "") continue;
    words.push({ text: folded, start: match.index, end: match.index + match[0].length });
  }
  return words;
}

function fold({ 0: whole, groups }: RegExpMatchArray): string {
  if (groups?.["ignored"] !== undefined) return "";
  if (groups?.["tag"] !== undefined) return "<think";
  if (groups?.["ellipsis"] !== undefined) return ELLIPSIS;
  if (groups?.["dash"] !== undefined) return "-";
  if (/^[a-zA-Z0-9]+$/.test(whole)) return whole.toLowerCase();
  return normaliseText(whole.replace(/[\s>\-\u2010\u2011\p{Cf}\p{Cc}]+/gu, "") || whole)
    .replace(/[’＇]/g, "'")
    .toLowerCase();
}

export const ELLIPSIS = "…";

/**
 * The places of a sequence of numbers in another one, in order, at most `limit`, overlapping ones too. The algorithm of
 * Knuth, Morris and Pratt: linear for any repetition.
 */
export function findSequence(
  wanted: readonly number[],
  sequence: Int32Array,
  limit: number,
): number[] {
  const found: number[] = [];
  const fallback = fallbacks(wanted);
  let matched = 0;
  for (let at = 0; at < sequence.length && found.length < limit; at += 1) {
    matched = advance(wanted, fallback, matched, sequence[at] ?? -1);
    if (matched < wanted.length) continue;
    found.push(at - matched + 1);
    matched = fallback[matched - 1] ?? 0;
  }
  return wanted.length === 0 ? [] : found;
}

/** For each prefix, the length of the longest shorter prefix that it ends with. */
function fallbacks(wanted: readonly number[]): number[] {
  const fallback = [0];
  for (let at = 1; at < wanted.length; at += 1) {
    fallback.push(advance(wanted, fallback, fallback[at - 1] ?? 0, wanted[at] ?? -1));
  }
  return fallback;
}

function advance(
  wanted: readonly number[],
  fallback: readonly number[],
  matched: number,
  next: number,
): number {
  let length = matched;
  while (length > 0 && wanted[length] !== next) length = fallback[length - 1] ?? 0;
  return wanted[length] === next ? length + 1 : length;
}

/** The folded words that have a letter or a digit, without their places. */
export const foldedWords = (text: string): string[] =>
  foldWords(text).flatMap(({ text: word }) => (/[\p{L}\p{N}]/u.test(word) ? [word] : []));
