import { Failure } from "../../shared/failure.ts";
import { jobInputSchema, KINDS } from "../../shared/job.ts";
import type { JobInput } from "../../shared/job.ts";
import { kindOf } from "../../shared/kinds.ts";
import type { RepeatableInput } from "../../shared/kinds.ts";
import type { PromptRecord, ReplyRecord } from "../../shared/run-result.ts";
import type { RunDetail } from "../../shared/views/runs.ts";

/**
 * The run to repeat, of those that a run's or a job's id stands for: the last one with a result.
 * @throws Failure INPUT_INVALID for a kind without a model, and where no run came to a result
 */
export function selectRun(runs: readonly RunDetail[]): {
  readonly run: RunDetail;
  readonly input: RepeatableInput;
} {
  const run = runs.findLast(({ state }) => state === "succeeded" || state === "refused");
  if (run === undefined) throw withoutResult(runs.at(-1));
  const input = jobInputSchema.parse(run.input);
  if (isRepeatable(input)) return { run, input };
  throw new Failure(
    "INPUT_INVALID",
    `Run ${run.run_id} is of kind ${input.kind}: ${kindOf(input.kind).notRepeatable}. ` +
      `Only runs of ${REPEATABLE.join(", ").replace(/, (\w+)$/, " and $1")} are repeated.`,
  );
}

const REPEATABLE = KINDS.filter((kind) => kindOf(kind).notRepeatable === null);

const isRepeatable = (input: JobInput): input is RepeatableInput =>
  kindOf(input.kind).notRepeatable === null;

function withoutResult(run: RunDetail | undefined): Failure {
  const what = run === undefined ? "There is no run" : `Run ${run.run_id} is ${run.state}`;
  const where = run === undefined ? "nightdesk runs list" : `nightdesk runs show ${run.job_id}`;
  return new Failure(
    "INPUT_INVALID",
    `${what}: only a run that succeeded or was refused has a result to repeat. ${where} shows the others.`,
  );
}

/** What a repetition came to do that its run had not done. */
export type Unrecorded =
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "tool"; readonly name: string }
  /** What the call of a step gave was removed since. */
  | { readonly kind: "output"; readonly name: string; readonly step: number }
  | {
      readonly kind: "call";
      readonly pass: ReplyRecord["pass"];
      readonly prompt: PromptRecord;
    };

/** Ends a repetition: without a model there is nothing to go on with. */
export class NotOnRecord extends Error {
  override readonly name = "NotOnRecord";
  readonly what: Unrecorded;
  constructor(what: Unrecorded) {
    super(`the run made no such ${what.kind}`);
    this.what = what;
  }
}

/** What can't be looked at now is said, and does not end the replay; anything else is thrown again. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}
