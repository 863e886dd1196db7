import type { NameListing } from "./list-names.ts";

/** A listing that is made when asked for and kept for a while. */
export type KeptListing = {
  current(): Promise<NameListing>;
  /** After a miss: made anew, unless it is so young that misses alone would keep the disk busy. */
  renewed(): Promise<NameListing>;
};

const keptMs = 5_000;
// A flood of misses spends at most about one tenth of its time on listing.
const renewalFactor = 10;

/** `now` is a monotonic clock in milliseconds. Askers at the same time share one walk. */
export function keepListing(list: () => Promise<NameListing>, now: () => number): KeptListing {
  type Kept = { listing: Promise<NameListing>; startedAt: number; costMs: number | null };
  let kept: Kept | null = null;

  const make = async (): Promise<NameListing> => {
    const entry: Kept = { listing: list(), startedAt: now(), costMs: null };
    kept = entry;
    try {
      const listing = await entry.listing;
      entry.costMs = now() - entry.startedAt;
      return listing;
    } catch (error) {
      if (kept === entry) kept = null;
      throw error;
    }
  };
  const youngerThan = (limitMs: (costMs: number) => number): Promise<NameListing> => {
    if (kept === null) return make();
    const isYoung =
      kept.costMs === null || now() - kept.startedAt < kept.costMs + limitMs(kept.costMs);
    return isYoung ? kept.listing : make();
  };
  return {
    current: () => youngerThan(() => keptMs),
    renewed: () => youngerThan((costMs) => Math.min(keptMs, costMs * renewalFactor)),
  };
}
