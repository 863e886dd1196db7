/** The lines of a text. Offsets are UTF-16; line numbers count from 0. */
export type Lines = {
  readonly text: string;
  readonly count: number;
  /** Offset of the first character of line `n`; of the end of the text for `n = count`. */
  readonly start: (n: number) => number;
  /** Offset after the last character of line `n`, its line end left out. */
  readonly end: (n: number) => number;
  /** The line that holds an offset. */
  readonly at: (offset: number) => number;
};

const LF = 10;
const CR = 13;

/** Splits at LF, CRLF and lone CR, as CommonMark does. A byte order mark belongs to no line. */
export function splitLines(text: string): Lines {
  const starts = lineStarts(text);
  const start = (n: number) => starts[n] ?? text.length;
  return {
    text,
    count: starts.length,
    start,
    end: (n) => trimLineEnd(text, start(n), start(n + 1)),
    at: (offset) => findLine(starts, offset),
  };
}

function lineStarts(text: string): number[] {
  const first = text.startsWith("\uFEFF") ? 1 : 0;
  if (first === text.length) return [];
  const starts = [first];
  const hasLoneCr = /\r(?!\n)/.test(text);
  const pattern = hasLoneCr ? /\r\n?|\n/g : /\n/g;
  for (pattern.lastIndex = first; pattern.test(text);) {
    if (pattern.lastIndex < text.length) starts.push(pattern.lastIndex);
  }
  return starts;
}

function trimLineEnd(text: string, start: number, next: number): number {
  let end = next;
  if (end > start && text.charCodeAt(end - 1) === LF) end -= 1;
  if (end > start && text.charCodeAt(end - 1) === CR) end -= 1;
  return end;
}

function findLine(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
