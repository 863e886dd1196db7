import { interruptsParagraph } from "./interrupts-paragraph.ts";
import { isBlank, shapeOf } from "./line-shape.ts";
import type { Lines } from "./lines.ts";
import { listMarker } from "./list-marker.ts";

/** More columns are no table that somebody reads. */
const ROW_CHARS = 5_000;

/** Whether a line is the head of a table of GitHub's Markdown: the row below it is of dashes, and as many cells. */
export function opensTable(lines: Lines, at: number): boolean {
  if (at + 1 >= lines.count) return false;
  const [head, delimiter] = [lineOf(lines, at), lineOf(lines, at + 1)];
  return (
    head.includes("|") &&
    shapeOf(lines, at + 1).indent <= 3 &&
    /^[|:-]/.test(delimiter) &&
    !/^-\s/.test(delimiter) &&
    /^[\s|:-]+$/.test(delimiter) &&
    cellsOf(delimiter).every((cell) => /^\s*:?-+:?\s*$/.test(cell)) &&
    cellsOf(head).length === cellsOf(delimiter).length
  );
}

/** The last row of a table with that head. */
export function lastRow(lines: Lines, head: number): number {
  let line = head + 1;
  while (line + 1 < lines.count && continues(lines, line + 1)) line += 1;
  return line;
}

function continues(lines: Lines, line: number): boolean {
  const shape = shapeOf(lines, line);
  return (
    !isBlank(shape) &&
    shape.indent <= 3 &&
    !interruptsParagraph(lines, line) &&
    listMarker(lines.text, shape) === undefined
  );
}

function lineOf(lines: Lines, line: number): string {
  const { first, end } = shapeOf(lines, line);
  return lines.text.slice(first, Math.min(end, first + ROW_CHARS)).trimEnd();
}

/** A bar behind a backslash parts no cells. */
const cellsOf = (row: string): string[] =>
  row
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "")
    .split(/(?<!\\)\|/);
