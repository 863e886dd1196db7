import { Failure } from "../../shared/failure.ts";
import { REST_MS } from "../../shared/run-trace.ts";
import { RunAborted } from "../../shared/settlement.ts";
import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import { renewLeases } from "../../shared/store/jobs/claim-job.ts";
import { heartbeat } from "../../shared/store/jobs/workers.ts";
import type { WorkerFacts } from "../../shared/store/jobs/workers.ts";
import { repeat } from "../loop.ts";
import type { FaultLog, Repeating } from "../loop.ts";

/** A run that this worker holds. */
export type RunInHand = {
  /** Aborted by a `RunAborted`, or by the Failure that says for how long the run has rested. */
  readonly signal: AbortSignal;
  /** The run did something, and may rest for so long until it does the next. */
  readonly moved: (mayTakeMs: number) => void;
};

/** The runs that this worker holds, each with the switch that aborts it. */
export type InFlightRuns = {
  start(runId: string): RunInHand;
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

const RENEW_MS = 5_000;
const AFTER_ERROR_MS = 500;
const UNRENEWED = "leases could not be renewed";

type LeaseParts = {
  readonly database: Database;
  readonly worker: WorkerFacts;
  readonly runs: InFlightRuns;
  readonly faults: FaultLog;
};

/**
 * Says every 5 s that the worker is alive, renews the leases of its runs that move, and aborts those that rest, that it
 * lost, or whose batch was cancelled or expired. Woken by a cancellation, it looks at once.
 */
export function keepAlive({ database, worker, runs, faults }: LeaseParts): Repeating {
  return repeat(
    async () => {
      const db = database.within("lease");
      // Neither waits for the other: a lease is short.
      await Promise.all([heartbeat(db, worker), renew(db, runs)]);
      faults.works(UNRENEWED);
      return RENEW_MS;
    },
    (err) => {
      faults.broke(UNRENEWED, err);
      return AFTER_ERROR_MS;
    },
  );
}

async function renew(db: Queryable, runs: InFlightRuns): Promise<void> {
  const resting = runs.abortResting();
  const held = runs.ids().filter((runId) => !resting.includes(runId));
  if (held.length === 0) return;
  const renewed = await renewLeases(db, held);
  for (const runId of held) {
    const stop = renewed.get(runId);
    if (stop === undefined) runs.abort(runId, "lease_lost");
    else if (stop !== null) runs.abort(runId, stop);
  }
}
