import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import {
  lockDirectory,
  socketDirectory,
  socketFile,
} from "../shared/store/embedded/embedded-directory.ts";
import { ALREADY_SERVED } from "../shared/store/embedded/embedded-process.ts";
import type { Log } from "./listen-socket.ts";
import type { PackedFiles } from "./open-database.ts";

/** Runs one statement with values, or several without. */
export type Query = (
  sql: string,
  values?: readonly unknown[],
) => Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>;

type DatabaseProcessOptions = {
  /** The absolute folder of `pgdata`, the socket, the lock, the pid and `backups`. */
  readonly directory: string;
  /** Seconds without a client after which it ends. */
  readonly idleSeconds: number;
  readonly log: Log;
  readonly packed?: PackedFiles;
  /** Runs on the open database before any client can connect. */
  readonly migrate: (query: Query) => Promise<void>;
  /** Seconds for which a client may hold an idle transaction; 30 by default. */
  readonly idleInTransactionSeconds?: number;
};

/**
 * The embedded database process. It serves the database of a directory until it has had no client for `idleSeconds`, or until
 * SIGTERM or SIGINT. Resolves to the exit status: 0, 1 after a logged error, 75 if another process serves the directory.
 */
export async function runDatabase(options: DatabaseProcessOptions): Promise<number> {
  const { directory, log } = options;
  process.umask(0o077);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await chmod(directory, 0o700);
    const lock = await lockDirectory(directory);
    // No message: commands that start at the same time each start a process, and one of them serves all.
    if (lock === "held") return ALREADY_SERVED;
    try {
      return await serveDirectory(options);
    } finally {
      lock.release();
    }
  } catch (error) {
    log("error", error instanceof Error ? error.message : String(error));
    return 1;
  }
}

async function serveDirectory(options: DatabaseProcessOptions): Promise<number> {
  const { directory, log } = options;
  const pidFile = path.join(directory, "pid");
  await writeFile(pidFile, `${process.pid}\n`, { mode: 0o600 });
  // PGlite takes a while to load, so it is loaded only once this process has the lock.
  const { openDirectory } = await import("./open-database.ts");
  const { listenOnSocket } = await import("./listen-socket.ts");
  const onDeath = exitOnDeath(log);
  const engine = await openDirectory(directory, onDeath, options.packed);
  await engine.query("set search_path to public");
  await options.migrate((sql, values) => engine.query(sql, values));
  await engine.query("reset session authorization; reset all");
  const socket = socketFile(await socketDirectory(directory));
  const { idleSeconds, idleInTransactionSeconds = 30 } = options;
  const listening = await listenOnSocket({
    ...{ engine, directory, socket, idleSeconds, idleInTransactionSeconds, onDeath, log },
  });
  log("info", "The embedded database listens.", { directory });
  const reason = await Promise.race([listening.idle.then(() => "idle"), stopSignal()]);
  await listening.close();
  await rm(pidFile, { force: true });
  log("info", "The embedded database has stopped.", { reason });
  return 0;
}

const stopSignal = (): Promise<string> =>
  new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, resolve);
  });

/**
 * Ends the process when PostgreSQL has ended inside PGlite, because any further call would never return. No clean-up is possible
 * or needed: the next process recovers as after `kill -9`.
 */
const exitOnDeath =
  (log: Log) =>
  (reason: string): never => {
    log("error", `The embedded database has to start again: ${reason}`);
    process.exit(1);
  };
