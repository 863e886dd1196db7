import type { Lines } from "./lines.ts";

const SPACE = 32;
const TAB = 9;

/** How a line begins. `indent` counts columns, with tab stops of 4; `first` is the offset after the indent. */
export type LineShape = { readonly indent: number; readonly first: number; readonly end: number };

export function shapeOf(lines: Lines, line: number): LineShape {
  const end = lines.end(line);
  let first = lines.start(line);
  let indent = 0;
  for (; first < end; first += 1) {
    const unit = lines.text.charCodeAt(first);
    if (unit === SPACE) indent += 1;
    else if (unit === TAB) indent += 4 - (indent % 4);
    else break;
  }
  return { indent, first, end };
}

export const isBlank = ({ first, end }: LineShape): boolean => first === end;

/** The length of a run of one character from an offset on. */
export function runLength(text: string, from: number, end: number): number {
  const unit = text.charCodeAt(from);
  let at = from;
  while (at < end && text.charCodeAt(at) === unit) at += 1;
  return at - from;
}

/** Whether nothing but blanks and tabs stands between two offsets. */
export function isBlankBetween(text: string, from: number, end: number): boolean {
  for (let at = from; at < end; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit !== SPACE && unit !== TAB) return false;
  }
  return true;
}
