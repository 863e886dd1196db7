/** Words that models put before the number of a piece, in English and German. */
const LABELS =
  "evidence|sources?|passages?|pieces?|documents?|docs?|notes?|ref(?:erence)?s?|citations?|cite|quellen?|belege?|no|nr|#";
const DIGITS = "[0-9]{1,400}";
/** A line of the piece: `[1:3]`, `[1:L3-L5]`. */
const LINES = "(?<lines>:\\s{0,2}L?\\d{1,7}(?:\\s?[–—-]\\s?L?\\d{1,7})?(?![\\d:.]))";
const ITEM = new RegExp(
  `(?:(?:${LABELS})[\\s.:#]{0,4})?(?<first>${DIGITS})(?:${LINES}|\\s{0,8}[–—-]\\s{0,8}(?<last>${DIGITS}))?`,
  "iuy",
);
const SEPARATOR = /\s{0,400}(?:[,;，；、&+]\s{0,400}|(?:and|und|et)\s{1,4}|(?<=\s))/iuy;
/** What may stand behind the numbers: nothing, what other hosts add, or the place within the piece in words. */
const REST =
  /\s{0,400}(?:[,;，；、]?\s{0,8}\\?$|†|(?:[,;:，；：]\s{0,8}|\s[–—-]\s)[\p{L}§(]|(?<=\s)[§(])/iuy;
const DATE = /^\s*\d{4}-\d{1,2}(?:-\d{1,2})?\s*$/;
const TIME = /^\s*\d{2}:[0-5]\d(?::[0-5]\d)?\s*(?:[–—-]\s*\d{2}:[0-5]\d\s*)?$/;
const [FIRST_YEAR, LAST_YEAR] = [1900, 2099];

/** Neighbouring numbers as they are cited, first and last included; the last may be the smaller one. */
export type NumberRange = { readonly first: number; readonly last: number };

/**
 * The numbers that what stands in brackets cites: "1", "1, 2", "1-3", "^1", "Source 1 and 2", "1, line 4", "1:4". None
 * where it is no citation: a date, a time, and a year unless so many pieces have a number. Linear.
 *
 * @param inBrackets as `foldLookAlikes` gives it, without its fillers
 * @param pieces how many there are, numbered from 1; 0 where nobody knows
 */
export function citedRanges(inBrackets: string, pieces: number): NumberRange[] {
  const inside = inBrackets.replace(/\n[ \t>]*/g, " ");
  if (DATE.test(inside) || TIME.test(inside)) return [];
  const ranges: NumberRange[] = [];
  let hasLines = false;
  let position = /^\s{0,400}\^?/.exec(inside)?.[0].length ?? 0;
  for (let item = matchAt(ITEM, inside, position); item !== null;) {
    const first = item.groups?.["first"] ?? "";
    ranges.push({ first: valueOf(first), last: valueOf(item.groups?.["last"] ?? first) });
    hasLines ||= item.groups?.["lines"] !== undefined;
    position = ITEM.lastIndex;
    const separator = matchAt(SEPARATOR, inside, position);
    item = separator === null ? null : matchAt(ITEM, inside, SEPARATOR.lastIndex);
  }
  if (ranges.length === 0 || matchAt(REST, inside, position) === null) return [];
  // "[9:30]" is a time and "[1984]" a year where no piece has that number.
  const isMaybeOther = hasLines || ranges.every(isYears);
  return isMaybeOther && !namePieces(ranges, pieces) ? [] : ranges;
}

/** Whether each of the numbers is that of a piece. */
export const namePieces = (ranges: readonly NumberRange[], pieces: number): boolean =>
  ranges.every(({ first, last }) => first >= 1 && first <= last && last <= pieces);

export const isYears = ({ first, last }: NumberRange): boolean =>
  [first, last].every((number) => number >= FIRST_YEAR && number <= LAST_YEAR);

/**
 * The numbers of ranges, each once: of every piece in them, and first and last where no piece has them.
 *
 * @param most numbers that are given before a range counts by its ends alone
 */
export function numbersOf(
  ranges: readonly NumberRange[],
  pieces: number,
  most = Number.POSITIVE_INFINITY,
): number[] {
  const numbers = new Set<number>();
  for (const { first, last } of ranges) {
    numbers.add(first);
    const end = Math.min(last, pieces);
    for (let number = first + 1; number <= end && numbers.size < most; number += 1) {
      numbers.add(number);
    }
    numbers.add(last);
  }
  return [...numbers];
}

const valueOf = (digits: string): number => Math.min(Number(digits), Number.MAX_SAFE_INTEGER);

/** What a sticky pattern finds at a position. */
export function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

/** What stands in brackets that hold no others, and where they stand. */
type Bracketed = { readonly start: number; readonly end: number; readonly inside: string };

/** Pairs of `[…]` and `【…】` in a text as `foldLookAlikes` gives it, in order. Linear, however long they are. */
export const inSquareBrackets = (folded: string): Bracketed[] =>
  innermost(folded, /[[\]【】]/g, "[【");

/** Pairs of `(…)`. */
export const inParentheses = (folded: string): Bracketed[] => innermost(folded, /[()]/g, "(");

function innermost(text: string, marks: RegExp, openers: string): Bracketed[] {
  const found: Bracketed[] = [];
  let open: number | null = null;
  for (const { 0: mark, index } of text.matchAll(marks)) {
    if (openers.includes(mark)) open = index;
    else if (open !== null) {
      found.push({ start: open, end: index + 1, inside: text.slice(open + 1, index) });
      open = null;
    }
  }
  return found;
}
