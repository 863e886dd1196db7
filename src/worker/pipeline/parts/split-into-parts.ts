import { countCodePoints } from "../text/code-points.ts";

/** A stretch of a text; all of them in order are the text. Characters are code points from 0, lines count from 1. */
export type TextPart = {
  readonly text: string;
  readonly startChar: number;
  readonly endChar: number;
  readonly lineStart: number;
  readonly lineEnd: number;
};

type Position = Pick<TextPart, "startChar" | "lineStart">;

const START: Position = { startChar: 0, lineStart: 1 };

/** Where to cut, best first: before a heading, after a blank line, after a line, after a sentence, at a blank. */
const CUTS: readonly (readonly [string, number])[] = [
  ["\n#", 1],
  ["\n\n", 2],
  ["\n\r\n", 3],
  ["\n", 1],
  [". ", 2],
  ["。", 1],
  [" ", 1],
];

/**
 * Cuts a text into parts of at most `maxChars` UTF-16 units that cover it completely, each as long as a good
 * place to cut in its second half allows. No cut goes through a surrogate pair or a CRLF. Linear in the text.
 *
 * @param maxChars 2 or more
 * @param from where the text itself starts in its file
 */
export function splitIntoParts(text: string, maxChars: number, from = START): TextPart[] {
  const parts: TextPart[] = [];
  let { startChar, lineStart } = from;
  for (let start = 0; start < text.length;) {
    const end = endOfPart(text, start, maxChars);
    const part = partAt(text.slice(start, end), { startChar, lineStart });
    parts.push(part);
    startChar = part.endChar;
    lineStart = endsLine(part.text) ? part.lineEnd + 1 : part.lineEnd;
    start = end;
  }
  return parts;
}

function partAt(text: string, { startChar, lineStart }: Position): TextPart {
  const breaks = text.match(/\r\n?|\n/g)?.length ?? 0;
  return {
    text,
    startChar,
    endChar: startChar + countCodePoints(text),
    lineStart,
    lineEnd: lineStart + (endsLine(text) ? breaks - 1 : breaks),
  };
}

const endsLine = (text: string): boolean => /[\r\n]$/.test(text);

function endOfPart(text: string, start: number, maxChars: number): number {
  const limit = start + maxChars;
  if (limit >= text.length) return text.length;
  const earliest = start + Math.floor(maxChars / 2);
  // A window of its own: a mark that the whole text lacks is not looked for back to its beginning each time.
  const secondHalf = text.slice(earliest, limit);
  for (const [mark, kept] of CUTS) {
    const found = secondHalf.lastIndexOf(mark, secondHalf.length - kept);
    if (found !== -1) return earliest + found + kept;
  }
  return isJoined(text, limit) && limit - 1 > start ? limit - 1 : limit;
}

const isJoined = (text: string, cut: number): boolean =>
  /^(?:[\uD800-\uDBFF][\uDC00-\uDFFF]|\r\n)/.test(text.slice(cut - 1, cut + 1));
