import { isRecord } from "./schema/json-value.ts";
import { hasCode } from "./store/connection/errors.ts";

/** In the environment of a command whose parent sends it further variables over the channel between them. */
export const SECRETS_FOLLOW = "NIGHTDESK_SECRETS_FOLLOW";

/** Variables whose values may hold a password, or name the file that does. */
const SECRET =
  /^(?:DATABASE_(?:DIRECT_)?URL|REDIS_URL|NIGHTDESK_DASHBOARD_TOKEN|NIGHTDESK_WEBHOOK_SECRET)(?:_FILE)?$|^PG[A-Z]+$/;

/** What reaches the database and the queue: not part of an environment, which every child inherits and any tool prints. */
export const secretsOf = (
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => SECRET.test(entry[0]) && entry[1] !== undefined,
    ),
  );

/** The variables that the parent sends; none where it is gone, or where there never was a channel. */
export function receiveSecrets(): Promise<Readonly<Record<string, string>>> {
  if (!process.connected) return Promise.resolve({});
  return new Promise((resolve) => {
    const end = (message: unknown): void => {
      process.off("message", end).off("disconnect", end);
      resolve(isVariables(message) ? message : {});
    };
    process.once("message", end).once("disconnect", end);
  });
}

// By hand: this is loaded before any command, and zod takes as long as all that it loads.
const isVariables = (message: unknown): message is Readonly<Record<string, string>> =>
  isRecord(message) && Object.values(message).every((value) => typeof value === "string");

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
