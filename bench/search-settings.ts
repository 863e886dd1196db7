import type { SearchSettings } from "../src/worker/search/search.ts";

/** The defaults of configs/default.yaml. */
export const DEFAULT_SEARCH: SearchSettings = {
  lexicalK: 50,
  vectorK: 50,
  rrfK: 60,
  vectorWeight: null,
  neighbourWeight: 0.5,
  feedback: "auto",
  perDocument: 3,
  floor: 0,
};
