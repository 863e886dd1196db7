import { isRecord } from "./schema/json-value.ts";
import { hasCode } from "./store/connection/errors.ts";

/** Environment variable of a command whose parent sends it secrets over the channel between them. */
export const SECRETS_FOLLOW = "NIGHTDESK_SECRETS_FOLLOW";

/** Variables with a password, or with the name of a file that has one. */
const SECRET =
  /^(?:DATABASE_(?:DIRECT_)?URL|REDIS_URL|NIGHTDESK_DASHBOARD_TOKEN|NIGHTDESK_WEBHOOK_SECRET)(?:_FILE)?$|^PG[A-Z]+$/;

/** Access to the database and the queue, kept out of the environment, which every child inherits and any tool prints. */
export const secretsOf = (
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => SECRET.test(entry[0]) && entry[1] !== undefined,
    ),
  );

/** The secrets that the parent sends; empty if the parent is gone, or if there is no channel. */
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

// Checked without zod, because this file is loaded before any command, and zod takes as long to load as all the rest of it.
const isVariables = (message: unknown): message is Readonly<Record<string, string>> =>
  isRecord(message) && Object.values(message).every((value) => typeof value === "string");

/** Environment variable of a command that was started with a channel and ends with its parent. */
export const STOP_WITH_PARENT = "NIGHTDESK_STOP_WITH_PARENT";

const KILL_MS = 5_000;

/**
 * Ends this process and its process group when its parent has ended in any way: the system then closes the channel between them.
 * The group gets SIGTERM, and SIGKILL if it still runs after `killMs`. That is before the lease of a dead worker runs out: it
 * lasts 15 s, and was renewed at most 5 s before the death. Without a channel nothing happens, because the environment may have
 * been inherited further than intended.
 * @param killMs between SIGTERM and SIGKILL
 */
export function stopWithParent(killMs = KILL_MS): void {
  const stop = (): void => {
    setTimeout(signalGroup, killMs, "SIGKILL").unref();
    signalGroup("SIGTERM");
  };
  // The parent may have ended before this process could listen.
  if ("connected" in process && !process.connected) stop();
  process.once("disconnect", stop);
  // The channel carries no messages, and its listener alone would keep a finished command running.
  process.channel?.unref();
}

/** Signals the group if this process leads one, which a worker ensures. */
function signalGroup(signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-process.pid, signal);
  } catch (error) {
    if (!hasCode(error, "ESRCH")) throw error;
    process.kill(process.pid, signal);
  }
}
