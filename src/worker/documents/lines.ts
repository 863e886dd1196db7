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

const STEP = 512;

/** Makes a function that translates UTF-16 offsets of a text into code point offsets. */
export function codePointOffsets(text: string): (offset: number) => number {
  if (!/[\ud800-\udbff]/.test(text)) return (offset) => offset;
  const pairsAtStep: number[] = [];
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (at % STEP === 0) pairsAtStep.push(pairs);
    if (isHighSurrogate(text, at)) pairs += 1;
  }
  return (offset) => {
    const step = Math.min(Math.floor(offset / STEP), pairsAtStep.length - 1);
    let before = pairsAtStep[step] ?? 0;
    for (let at = step * STEP; at < offset; at += 1) if (isHighSurrogate(text, at)) before += 1;
    return offset - before;
  };
}

/** Whether the first half of a surrogate pair stands at an offset. */
export function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** A block of a document: whole lines, numbered from 0, both ends included. */
export type Block = {
  readonly firstLine: number;
  readonly lastLine: number;
  /** Where it may be cut when it is too long for one chunk. */
  readonly cut: "sentences" | "lines";
  /** Begins a section without a heading, as a page does. */
  readonly opensSection?: true;
  readonly heading?: { readonly level: number; readonly title: string };
};
