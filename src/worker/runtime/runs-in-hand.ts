import { RunAborted } from "../../shared/settlement.ts";

/** The runs that this worker holds, each with the switch that aborts it. */
export type RunsInHand = {
  start(runId: string): AbortSignal;
  end(runId: string): void;
  abort(runId: string, why: RunAborted["why"]): void;
  /** The worker stops: aborts what runs, and what still starts. */
  handBack(): void;
  ids(): readonly string[];
};

export function runsInHand(): RunsInHand {
  const controllers = new Map<string, AbortController>();
  let isHandingBack = false;
  const abort: RunsInHand["abort"] = (runId, why) => {
    controllers.get(runId)?.abort(new RunAborted(why));
  };
  return {
    start(runId) {
      const controller = new AbortController();
      controllers.set(runId, controller);
      if (isHandingBack) abort(runId, "stopping");
      return controller.signal;
    },
    end: (runId) => void controllers.delete(runId),
    abort,
    handBack() {
      isHandingBack = true;
      for (const runId of controllers.keys()) abort(runId, "stopping");
    },
    ids: () => [...controllers.keys()],
  };
}
