/** A stretch of a text; all of them in order are the text. Lines count from 1. */
export type TextPart = {
  readonly text: string;
  readonly lineStart: number;
  readonly lineEnd: number;
};

/** Where to cut, best first: before a heading, after a blank line, after a line, after a sentence, at a blank. */
const CUTS: readonly (readonly [string, number])[] = [
  ["\n#", 1],
  ["\n\n", 2],
  ["\n", 1],
  [". ", 2],
  [" ", 1],
];

/**
 * Cuts a text into parts of at most `maxChars` UTF-16 units that cover it completely, each as long as a good
 * place to cut in its second half allows.
 */
export function splitIntoParts(text: string, maxChars: number): TextPart[] {
  const parts: TextPart[] = [];
  let start = 0;
  let line = 1;
  while (start < text.length) {
    const end = endOfPart(text, start, maxChars);
    const part = text.slice(start, end);
    const breaks = part.split("\n").length - 1;
    const lineEnd = part.endsWith("\n") ? line + breaks - 1 : line + breaks;
    parts.push({ text: part, lineStart: line, lineEnd: Math.max(line, lineEnd) });
    line += breaks;
    start = end;
  }
  return parts;
}

function endOfPart(text: string, start: number, maxChars: number): number {
  const limit = start + maxChars;
  if (limit >= text.length) return text.length;
  const earliest = start + Math.floor(maxChars / 2);
  for (const [mark, kept] of CUTS) {
    const found = text.lastIndexOf(mark, limit - kept);
    if (found >= earliest) return found + kept;
  }
  const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(limit - 1));
  return splitsPair && limit - 1 > start ? limit - 1 : limit;
}
