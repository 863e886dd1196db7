import { hasCode } from "./db/error-code.ts";

/** In the environment of a command that was started with a channel, and is to end with the process that started it. */
export const STOP_WITH_PARENT = "NIGHTDESK_STOP_WITH_PARENT";

const KILL_MS = 5_000;

/**
 * Ends this process, and what it started in its group, when its parent is gone, however that ended: the system closes the
 * channel between them. It is ended as by SIGTERM, and killed when it still runs a moment later. That is before the
 * lease of a dead worker runs out, which it has renewed 5 s before its death at the latest and which lasts 15 s.
 * Without a channel nothing happens: the environment may have been handed down further than it was meant.
 * @param killMs between SIGTERM and SIGKILL
 */
export function stopWithParent(killMs = KILL_MS): void {
  const stop = (): void => {
    setTimeout(signalGroup, killMs, "SIGKILL").unref();
    signalGroup("SIGTERM");
  };
  // The parent may be gone before anybody here could listen.
  if ("connected" in process && !process.connected) stop();
  process.once("disconnect", stop);
  // Nobody talks on it, and a listener alone would keep a command that has ended from leaving.
  process.channel?.unref();
}

/** Of its group where it leads one, which a worker sees to. */
function signalGroup(signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-process.pid, signal);
  } catch (error) {
    if (!hasCode(error, "ESRCH")) throw error;
    process.kill(process.pid, signal);
  }
}
