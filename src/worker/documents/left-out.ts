import type { ExtractedText, LeftOut } from "./extraction.ts";

/** Pages whose words are in a picture that was not read. */
export const PICTURED_PAGES = "pages that are pictures";

/** Pictures that are attached to a mail, counted if OCR is off. */
export const ATTACHED_PICTURES = "attached pictures";

/** Counts the content that a text leaves out, while a reader makes it. */
export type LeftOutCounter = {
  add(kind: string, count?: number): void;
  addAll(counts: LeftOut): void;
  /** The counts for an extraction; an empty object if nothing was left out. */
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

/** The counts above zero, for an extraction. */
export function countedOut(counts: LeftOut): Pick<ExtractedText, "leftOut"> {
  const kinds = Object.entries(counts).filter(([, count]) => count > 0);
  return kinds.length === 0 ? {} : { leftOut: Object.fromEntries(kinds) };
}
