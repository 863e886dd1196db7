/** Words that models put before the number of a piece, in English and German. */
const LABELS =
  "evidence|sources?|passages?|pieces?|documents?|docs?|notes?|ref(?:erence)?s?|citations?|cite|quellen?|belege?|no|nr|#";
const DIGITS = "[0-9０-９]{1,400}";
const ITEM = new RegExp(
  `(?:(?:${LABELS})[\\s.:#]{0,4})?(?<first>${DIGITS})(?:\\s{0,8}[–—-]\\s{0,8}(?<last>${DIGITS}))?`,
  "iuy",
);
const SEPARATOR = /\s{0,400}(?:[,;，；、&+]\s{0,400}|(?:and|und|et)\s{1,4}|(?<=\s))/iuy;
/** What may stand behind the numbers: nothing, what other hosts add, or the place within the piece in words. */
const REST =
  /\s{0,400}(?:[,;，；、]?\s{0,8}\\?$|†|(?:[,;:，；：]\s{0,8}|\s[–—-]\s)[\p{L}§(]|(?<=\s)[§(])/iuy;
/** A date or years, which no piece has for a number. */
const DATE = /^\s*(?:\d{4}-\d{1,2}(?:-\d{1,2})?|(?:19|20)\d\d(?:\s?[–-]\s?(?:19|20)\d\d)?)\s*$/;
const LONGEST_RANGE = 50;

/**
 * The numbers that what stands in brackets cites, each once: "1", "1, 2", "1-3", "^1", "Source 1 and 2", "1, line 4".
 * None where it is no citation. Linear.
 */
export function citedNumbers(inBrackets: string): number[] {
  if (DATE.test(inBrackets)) return [];
  const numbers: number[] = [];
  let position = /^\s{0,400}\^?/.exec(inBrackets)?.[0].length ?? 0;
  for (let item = matchAt(ITEM, inBrackets, position); item !== null;) {
    numbers.push(...expand(item.groups?.["first"] ?? "", item.groups?.["last"]));
    position = ITEM.lastIndex;
    const separator = matchAt(SEPARATOR, inBrackets, position);
    item = separator === null ? null : matchAt(ITEM, inBrackets, SEPARATOR.lastIndex);
  }
  const isCitation = numbers.length > 0 && matchAt(REST, inBrackets, position) !== null;
  return isCitation ? [...new Set(numbers)] : [];
}

function expand(spelled: string, spelledLast = spelled): number[] {
  const [first, last] = [valueOf(spelled), valueOf(spelledLast)];
  if (last < first || last - first > LONGEST_RANGE) return [first, last];
  return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
}

const valueOf = (digits: string): number =>
  Math.min(Number(digits.normalize("NFKC")), Number.MAX_SAFE_INTEGER);

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}
