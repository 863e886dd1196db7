import { countOf } from "./quantity.ts";
import { cutToColumns } from "../../shared/text-width.ts";

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
