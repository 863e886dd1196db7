import type { IndexFaults } from "../../src/shared/store/index/totals.ts";

/** The faults of an index that has none. */
export const SOUND: IndexFaults = {
  documents: 0,
  proofs: 0,
  chunks: 0,
  segments: 0,
  postings: 0,
  dead: 0,
  counts: 0,
};
