import type { Block } from "./block.ts";
import { shortenTitle } from "./shorten-title.ts";

/** Consecutive blocks under the same headings. The headings that open it are part of its first block. */
export type Section = { readonly headingPath: string | null; readonly blocks: readonly Block[] };

type Heading = NonNullable<Block["heading"]>;

/**
 * Cuts a document at its headings. A heading belongs to the text that follows it; one that is followed by no
 * text of its own goes along with the deeper heading after it, and else stands alone.
 */
export function cutSections(blocks: readonly Block[]): Section[] {
  const sections: Section[] = [];
  let path: Heading[] = [];
  let pending: Block[] = [];
  let current: Block[] = [];

  const finish = () => {
    const opening = mergeBlocks(pending);
    const all = opening === undefined ? current : prepend(opening, current);
    if (all.length > 0) sections.push({ headingPath: joinPath(path), blocks: all });
    pending = [];
    current = [];
  };

  for (const block of blocks) {
    if (block.heading === undefined) {
      current.push(block);
      continue;
    }
    const { level } = block.heading;
    const isCarried = current.length === 0 && level > (pending.at(-1)?.heading?.level ?? 6);
    if (!isCarried) finish();
    path = [...path.filter((outer) => outer.level < level), block.heading];
    pending.push(block);
  }
  finish();
  return sections;
}

/** The opening becomes part of the first block, so that no cut leaves a heading alone. */
function prepend(opening: Block, blocks: readonly Block[]): Block[] {
  const [first, ...rest] = blocks;
  if (first === undefined) return [opening];
  return [{ ...first, firstLine: opening.firstLine }, ...rest];
}

function mergeBlocks(blocks: readonly Block[]): Block | undefined {
  const [first] = blocks;
  const last = blocks.at(-1);
  if (first === undefined || last === undefined) return undefined;
  return { firstLine: first.firstLine, lastLine: last.lastLine, cut: first.cut };
}

function joinPath(path: readonly Heading[]): string | null {
  const titles = path.map(({ title }) => shortenTitle(title)).filter((title) => title !== "");
  return titles.length === 0 ? null : titles.join(" > ");
}
