import type { ChildProcess } from "node:child_process";

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** After a process has run this long, the pause is reset. */
const STEADY_MS = 60_000;

/** How a process ended: `exit 1`, `SIGKILL`, or the error at its start; and the pause before the next start. */
export type Ended = { readonly ending: string; readonly pauseMs: number };

/**
 * Keeps a process running: starts it again after a pause, which doubles up to a minute while it keeps ending.
 * @param onEnd called at each end, except after `stop`
 * @returns `stop` sends SIGTERM and prevents a new start
 */
export function keepRunning(
  start: () => ChildProcess,
  onEnd: (ended: Ended) => void,
): { readonly stop: () => void } {
  let child: ChildProcess | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let pauseMs = FIRST_PAUSE_MS;

  function run(): void {
    const startedAt = performance.now();
    const started = start();
    child = started;
    const end = (ending: string): void => {
      if (child !== started || isStopped) return;
      child = undefined;
      if (performance.now() - startedAt > STEADY_MS) pauseMs = FIRST_PAUSE_MS;
      timer = setTimeout(run, pauseMs);
      onEnd({ ending, pauseMs });
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    };
    started.once("error", ({ message }) => {
      end(message);
    });
    started.once("exit", (code, signal) => {
      end(signal ?? `exit ${code}`);
    });
  }

  run();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
      child?.kill("SIGTERM");
    },
  };
}
