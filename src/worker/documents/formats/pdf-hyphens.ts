/** Counts the words of a text; a word with a hyphen counts as a whole. Empty if no line ends with a hyphen. */
export function wordsOf(lines: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (!lines.some((line) => brokenAt(line) !== null)) return counts;
  for (const line of lines) {
    const end = brokenAt(line)?.index;
    for (const [word] of line.slice(0, end).matchAll(WORD)) {
      const name = word.toLowerCase();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

const WORD = /\p{L}[\p{L}\p{M}]*(?:[-\u2010][\p{L}\p{M}]+)*/gu;
const BROKEN = /(?<![\p{L}\p{M}])(\p{L}[\p{L}\p{M}]*)[-\u2010]$/u;
/** The match of the word in which a line breaks off; null if it ends with a whole word. */
const brokenAt = (line: string): RegExpExecArray | null =>
  line.endsWith("-") || line.endsWith("\u2010") ? BROKEN.exec(line) : null;
const GOES_ON = /^(\p{Ll}[\p{L}\p{M}]*)(\S*) ?/u;
/** Letters of a short rest, which may be a word of its own: the "and" of "wind- and waterproof". */
const SHORT = 4;

/**
 * Joins words that a hyphen splits at the end of a line, and writes them on that line.
 * @param words of the whole document: they tell a split word from one that has a hyphen
 */
export function joinHyphens(
  lines: readonly string[],
  words: ReadonlyMap<string, number>,
): string[] {
  const joined: string[] = [];
  for (const line of lines) {
    const last = joined.length - (joined.at(-1) === "" ? 2 : 1);
    const start = brokenAt(joined[last] ?? "");
    const rest = start === null ? null : GOES_ON.exec(line);
    const whole =
      start === null || rest === null ? undefined : wholeOf(start[1] ?? "", rest[1] ?? "", words);
    if (start === null || rest === null || whole === undefined) joined.push(line);
    else {
      joined[last] = `${(joined[last] ?? "").slice(0, start.index)}${whole}${rest[2] ?? ""}`;
      joined.push(line.slice(rest[0].length));
    }
  }
  return joined;
}

function wholeOf(
  start: string,
  rest: string,
  words: ReadonlyMap<string, number>,
): string | undefined {
  const count = (word: string): number => words.get(word.toLowerCase()) ?? 0;
  if (count(`${start}${rest}`) > 0) return `${start}${rest}`;
  if (count(`${start}-${rest}`) > 0) return `${start}-${rest}`;
  // The rest itself is counted once where it begins its line.
  return rest.length <= SHORT && count(rest) > 1 ? undefined : `${start}${rest}`;
}
