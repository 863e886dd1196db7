import type { Block, Lines } from "../lines.ts";

/** Stands between two pages. */
export const PAGE_BREAK = "\f";

/** Drops the blocks of page breaks, and lets the block behind each open a section, so that no chunk spans two pages. */
export function byPage(lines: Lines, blocks: readonly Block[]): Block[] {
  let isFirst = false;
  return blocks.flatMap((block): Block[] => {
    const begins = lines.text.startsWith(PAGE_BREAK, lines.start(block.firstLine));
    if (begins && block.firstLine === block.lastLine) {
      isFirst = true;
      return [];
    }
    const opens = isFirst;
    isFirst = false;
    return [opens ? { ...block, opensSection: true } : block];
  });
}
