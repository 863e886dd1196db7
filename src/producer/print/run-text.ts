import { cleanForTerminal } from "../../shared/terminal-text.ts";
import { countOf } from "./quantity.ts";
import { cutToColumns, widthOf } from "./text-width.ts";

/** How much of a run is shown: `brief` folds what is long. */
export type Extent = "brief" | "all";

const HEAD_ITEMS = 20;
const TAIL_ITEMS = 5;
const MOST_CHARS = 300;

/** The first and the last of many items, and between them how many there are. */
export function fold(
  items: readonly (readonly string[])[],
  extent: Extent,
  noun: string,
): readonly string[] {
  const hidden = items.length - HEAD_ITEMS - TAIL_ITEMS;
  if (extent === "all" || hidden <= 1) return items.flat();
  return [
    ...items.slice(0, HEAD_ITEMS).flat(),
    `… ${countOf(hidden, noun)} more; --all shows all`,
    ...items.slice(-TAIL_ITEMS).flat(),
  ];
}

/** Text as one line: white space folded, and cut where it is long. */
export function oneLine(text: string, extent: Extent): string {
  const line = text.slice(0, extent === "all" ? undefined : 8 * MOST_CHARS).replace(/\s+/g, " ");
  return extent === "all" ? line.trim() : cutToColumns(line.trim(), MOST_CHARS);
}

/** A title over its indented lines; nothing where there are none. */
export const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line}`)];

const NARROWEST = 40;

/** Lines that no hostile text drives, broken between words where a terminal would break them anywhere. */
export const layOutLines = (
  lines: readonly string[],
  mostColumns: number | undefined,
): readonly string[] =>
  lines.flatMap((line) => {
    const clean = cleanForTerminal(line.replace(/[\r\n]+/g, " ↵ "));
    return mostColumns === undefined ? [clean] : wrap(clean, Math.max(NARROWEST, mostColumns));
  });

/** What follows the first line hangs two columns deeper. */
function wrap(line: string, columns: number): readonly string[] {
  if (widthOf(line) <= columns) return [line];
  const indent = " ".repeat(Math.min((/^ */.exec(line)?.[0].length ?? 0) + 2, columns / 2));
  const wrapped: string[] = [];
  let current = "";
  for (const word of line.split(/(?<=\S)(?= )/)) {
    if (current !== "" && widthOf(current) + widthOf(word) > columns) {
      wrapped.push(current);
      current = indent + word.trimStart();
    } else {
      current += word;
    }
  }
  return [...wrapped, current];
}
