import type { LineShape } from "./line-shape.ts";

const MARKER = /^(?:[-+*]|\d{1,9}[.)])(?=[ \t]|$)/;
/** The longest marker with the blanks that may follow it. */
const HEAD_CHARS = 16;

/** The column where the content of a list item starts, when the line opens one. */
export function listMarker(text: string, { indent, first, end }: LineShape): number | undefined {
  if (indent > 3) return undefined;
  const head = text.slice(first, Math.min(end, first + HEAD_CHARS));
  const marker = MARKER.exec(head)?.[0];
  if (marker === undefined) return undefined;
  const blanks = /^[ \t]*/.exec(head.slice(marker.length))?.[0].length ?? 0;
  // More than four blanks are indented code in the item; none are an item that starts on the next line.
  return indent + marker.length + (blanks >= 1 && blanks <= 4 ? blanks : 1);
}

/** Whether nothing follows the marker on its line. */
export function isBareMarker(text: string, { first, end }: LineShape): boolean {
  const head = text.slice(first, Math.min(end, first + HEAD_CHARS));
  const marker = MARKER.exec(head)?.[0];
  return marker !== undefined && text.slice(first + marker.length, end).trim() === "";
}
