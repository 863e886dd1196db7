import type { PipelineDependencies } from "../evidence/types.ts";

/** One thing that a run of the same job would meet now. */
export type Prospect = {
  readonly what: string;
  /** unknown: it can't be told now; the words say why. */
  readonly verdict: "same" | "differs" | "unknown";
  readonly words: string;
};

/** What a run made now would be made with. */
export type Present = {
  readonly version: string;
  readonly configSha256: string;
  readonly deps: Omit<PipelineDependencies, "calls">;
  /** Whether the model host may be asked what it has. */
  readonly host: "ask" | "leave";
};
