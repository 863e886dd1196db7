import type { AskInput } from "../../shared/job/job.ts";
import { routeModels } from "../../shared/job/route-models.ts";
import type { Route, RouteOptions } from "../../shared/job/route-models.ts";
import type { RunTrace } from "../run-trace.ts";
import type { Followed } from "../../shared/store/jobs/followed.ts";
import { modelOf, modelUse } from "../answer/call-model.ts";
import type { CallParts } from "../answer/call-model.ts";
import { notesFor } from "../answer/notes.ts";
import type { ShownNotes } from "../answer/notes.ts";
import type { Snapshot } from "../evidence/retrieve.ts";
import type { Auditor, PipelineDependencies } from "../evidence/types.ts";
import type { Model } from "../models/model.ts";
import type { Classification } from "../question/classify-question.ts";

/** The inputs that every step of one question uses. */
export type AskRun = {
  readonly jobId: string;
  readonly input: AskInput;
  readonly followed?: Followed | undefined;
  readonly deps: PipelineDependencies;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/** The files that the job names in its input, independent of the names in the question. */
export const filesOfJob = ({
  input: { path },
  followed,
}: Pick<AskRun, "input" | "followed">): readonly string[] => [
  ...(path === undefined ? [] : [path]),
  ...(followed?.paths ?? []),
];

/** What the run knows before it calls any model. */
export type RetrievedContext = {
  readonly classification: Classification;
  /**
   * The names in the question. A name that its file does not have is replaced by the path: an attachment can be named as its
   * sender spelled it.
   */
  readonly meant: readonly string[];
  /** One of the names for each file, in order. */
  readonly toRead: readonly string[];
  readonly snapshot: Snapshot;
};

/** Selects the models of both passes, by the words of the question and the options of the job. */
export async function selectAnswerers(
  question: string,
  { route: wanted, model }: RouteOptions = {},
  { deps, trace, signal }: Pick<AskRun, "deps" | "trace" | "signal">,
): Promise<Answerers> {
  const route = routeModels(question, deps.settings.model, { route: wanted, model });
  const first = await modelOf(route.first, deps.models, signal);
  const second = await modelOf(route.second, deps.models, signal);
  trace.models([modelUse("first", first, route.first), modelUse("second", second, route.second)]);
  return { route, first, second, notes: await notesFor(second, deps, trace) };
}

/** The models that answer: model and budget of each pass, and the operator's notes for pass 2. */
export type Answerers = {
  readonly route: Route;
  readonly first: Model;
  readonly second: Model;
  readonly notes: ShownNotes;
};

/** The model that answers when a job has no first pass, and the inputs of each of its calls. */
export type Answerer = Auditor & {
  /** The operator's notes as the prompt shows them. */
  readonly notes: string;
  readonly fenceKey: Buffer;
  readonly parts: CallParts;
};

export async function selectAnswerer(
  { route, model: name }: RouteOptions = {},
  deps: Pick<PipelineDependencies, "settings" | "models" | "notes" | "fenceKey">,
  parts: CallParts,
): Promise<Answerer> {
  const { trace, signal } = parts;
  const { second: choice } = routeModels("", deps.settings.model, { route, model: name });
  const model = await modelOf(choice, deps.models, signal);
  trace.models([modelUse("second", model, choice)]);
  const notes = await notesFor(model, deps, trace);
  trace.memory(notes.ids);
  return { model, choice, notes: notes.text, fenceKey: deps.fenceKey, parts };
}
