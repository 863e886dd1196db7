import { Failure } from "../../shared/failure.ts";
import { REST_MS } from "../run-trace.ts";
import { RunAborted } from "../../shared/job/settlement.ts";

/** A run that this worker holds. */
export type InFlightRun = {
  /** Aborted by a `RunAborted`, or by the Failure that says for how long the run has rested. */
  readonly signal: AbortSignal;
  /** The run did something, and may rest for so long until it does the next. */
  readonly moved: (mayTakeMs: number) => void;
};

/** The runs that this worker holds, each with the switch that aborts it. */
export type InFlightRuns = {
  start(runId: string): InFlightRun;
  end(runId: string): void;
  abort(runId: string, why: RunAborted["why"]): void;
  /** The worker stops: aborts what runs, and what still starts. */
  requeue(): void;
  ids(): readonly string[];
  /** Aborts the runs that have rested for longer than they said. @returns their ids, also of those aborted before */
  abortResting(): readonly string[];
};

type Held = {
  readonly controller: AbortController;
  movedAt: number;
  mayTakeMs: number;
};

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
      for (const [, { controller, mayTakeMs }] of resting) controller.abort(rested(mayTakeMs));
      return resting.map(([runId]) => runId);
    },
  };
}

const rested = (mayTakeMs: number): Failure =>
  new Failure(
    "TOOL_ERROR",
    `The run did nothing for ${Math.round(mayTakeMs / 1_000)} s and was given up; something that it waits for does not ` +
      "answer. Look whether the documents can be read (a network folder?), and at the worker's log.",
  );
