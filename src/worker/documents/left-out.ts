import type { ExtractedText, LeftOut } from "./extraction.ts";

/** Pages whose words are in a picture that was not read. */
export const PICTURED_PAGES = "pages that are pictures";

/** Of a mail, where no pictures are read. */
export const ATTACHED_PICTURES = "attached pictures";

/** Counts what a text leaves out while it is made. */
export type LeftOutCounter = {
  add(kind: string, count?: number): void;
  addAll(counts: LeftOut): void;
  /** For an extraction; nothing where nothing was left out. */
  finish(): { readonly leftOut?: LeftOut };
};

export function countLeftOut(): LeftOutCounter {
  const counts = new Map<string, number>();
  const add = (kind: string, count = 1): void => {
    if (count > 0) counts.set(kind, (counts.get(kind) ?? 0) + count);
  };
  return {
    add,
    addAll(more) {
      for (const [kind, count] of Object.entries(more)) add(kind, count);
    },
    finish: () => countedOut(Object.fromEntries(counts)),
  };
}

/** What a text leaves out, of the kinds that there are any of. */
export function countedOut(counts: LeftOut): Pick<ExtractedText, "leftOut"> {
  const kinds = Object.entries(counts).filter(([, count]) => count > 0);
  return kinds.length === 0 ? {} : { leftOut: Object.fromEntries(kinds) };
}
