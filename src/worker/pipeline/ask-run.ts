import type { AskInput } from "../../shared/job.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import type { Model } from "../model/model.ts";
import type { Classification } from "../question/classify-question.ts";
import type { ShownNotes } from "../answer/notes.ts";
import type { PipelineDependencies } from "../evidence/types.ts";
import type { Snapshot } from "./retrieve.ts";
import type { Route } from "../../shared/route-models.ts";

/** What every step of one question works with. */
export type AskRun = {
  readonly jobId: string;
  readonly input: AskInput;
  readonly deps: PipelineDependencies;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/** What is known before any model is asked. */
export type Found = { readonly classification: Classification; readonly snapshot: Snapshot };

/** Who answers: model and budget of each pass, and the operator's notes for pass 2. */
export type Answerers = {
  readonly route: Route;
  readonly first: Model;
  readonly second: Model;
  readonly notes: ShownNotes;
};
