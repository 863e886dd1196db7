import { Failure } from "../../shared/failure.ts";
import { REST_MS } from "../run-trace.ts";
import { RunAborted } from "../../shared/job/settlement.ts";

/** A run that this worker holds. */
export type InFlightRun = {
  /** Aborted with a `RunAborted`, or with the Failure that states how long the run made no progress. */
  readonly signal: AbortSignal;
  /** Reports progress of the run; the next progress may take this long. */
  readonly moved: (mayTakeMs: number) => void;
};

/** The runs that this worker holds, each with its abort controller. */
export type InFlightRuns = {
  start(runId: string): InFlightRun;
  end(runId: string): void;
  abort(runId: string, why: RunAborted["why"]): void;
  /** Stops the worker's runs: aborts current ones, and any that still start. */
  requeue(): void;
  ids(): readonly string[];
  /** Aborts runs that made no progress for longer than allowed. @returns their ids, including those aborted before */
  abortResting(): readonly string[];
};

type Held = { readonly controller: AbortController; movedAt: number; mayTakeMs: number };

export function inFlightRuns(): InFlightRuns {
  const runs = new Map<string, Held>();
  let isHandingBack = false;
  const abort: InFlightRuns["abort"] = (runId, why) => {
    runs.get(runId)?.controller.abort(new RunAborted(why));
  };
  return {
    start(runId) {
      const held: Held = {
        controller: new AbortController(),
        movedAt: performance.now(),
        mayTakeMs: REST_MS,
      };
      runs.set(runId, held);
      if (isHandingBack) abort(runId, "stopping");
      return {
        signal: held.controller.signal,
        moved(mayTakeMs) {
          Object.assign(held, { movedAt: performance.now(), mayTakeMs });
        },
      };
    },
    end: (runId) => void runs.delete(runId),
    abort,
    requeue() {
      isHandingBack = true;
      for (const runId of runs.keys()) abort(runId, "stopping");
    },
    ids: () => [...runs.keys()],
    abortResting() {
      const now = performance.now();
      const resting = [...runs].filter(([, { movedAt, mayTakeMs }]) => now - movedAt > mayTakeMs);
      for (const [, { controller, mayTakeMs }] of resting)
        controller.abort(restedFailure(mayTakeMs));
      return resting.map(([runId]) => runId);
    },
  };
}

const restedFailure = (mayTakeMs: number): Failure =>
  new Failure(
    "TOOL_ERROR",
    `The run did nothing for ${Math.round(mayTakeMs / 1_000)} s and was given up; something that it waits for does not ` +
      "answer. Look whether the documents can be read (a network folder?), and at the worker's log.",
  );
