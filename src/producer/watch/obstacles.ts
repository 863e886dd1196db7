import { connect } from "node:net";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { embedderHostsOf, modelHostsOf } from "../../shared/config/hosts.ts";
import { searchKeyHint } from "../../shared/config/search-key.ts";
import { FROM_HOSTS } from "../../shared/config/providers.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import { findBatch } from "../../shared/views/batches.ts";
import { countAliveWorkers, selectAliveWorkers } from "../../shared/store/jobs/workers.ts";
import { assertOwnSessions, connectQueueDatabase } from "../../shared/store/connection/connect.ts";
import { isDiskFull } from "../../shared/store/embedded/embedded-process.ts";
import { probeWrites } from "../../shared/store/connection/health.ts";
import { Failure } from "../../shared/failure.ts";
import type { ErrorCode } from "../../shared/failure.ts";
import { formatHold, holdRemedy } from "../../shared/views/batch-words.ts";
import { selectApprovalGroups, selectUncertainSteps } from "../../shared/views/inbox.ts";
import { selectHostOverview, unansweredText } from "../../shared/views/hosts.ts";

/** A reason why no work is done, which no job's row shows. */
type Obstacle = {
  readonly what: "no_queue" | "no_worker" | "database_read_only" | "disk_full" | "host_silent";
  readonly code: ErrorCode | null;
  /** One line: the reason and the remedy. */
  readonly message: string;
};

/** Checks everything that can stop all work: the database, its disk, the queue, the workers and the model hosts. */
export async function findObstacles(
  context: CommandContext,
  database: Database,
): Promise<readonly Obstacle[]> {
  const checks = await Promise.all([
    checkDatabase(database),
    checkDisk(context),
    checkQueue(context),
    checkWorkers(context, database),
    checkHosts(database),
  ]);
  return checks.flat().filter((obstacle) => obstacle !== undefined);
}

async function checkHosts(database: Database): Promise<readonly Obstacle[]> {
  const hosts = await selectHostOverview(database, "models");
  return hosts
    .map(unansweredText)
    .filter((text) => text !== null)
    .map((text) => ({ what: "host_silent", code: null, message: `host silent: ${text}` }));
}

async function checkDatabase(database: Database): Promise<Obstacle | undefined> {
  const failure = await probeWrites(database);
  if (failure === undefined) return undefined;
  const { code, message } = failure;
  return code === "DISK_FULL"
    ? { what: "disk_full", code, message: `disk full: ${message}` }
    : { what: "database_read_only", code, message: `database read-only: ${message}` };
}

export async function checkDisk({ config }: CommandContext): Promise<Obstacle | undefined> {
  const { databaseDirectory } = config.roots;
  if (config.database.url !== "embedded" || !(await isDiskFull(databaseDirectory)))
    return undefined;
  const message = `disk full: free some space for ${databaseDirectory}; the work goes on by itself`;
  return { what: "disk_full", code: "DISK_FULL", message };
}

const QUEUE_WITHIN_MS = 1_000;

async function checkQueue(context: CommandContext): Promise<Obstacle | undefined> {
  const failure = await findQueueFault(context);
  return failure === undefined
    ? undefined
    : { what: "no_queue", code: failure.code, message: `no queue: ${failure.message}` };
}

/**
 * The Failure of a queue in Redis that does not respond (QUEUE_UNREACHABLE) or can't be used (CONFIG_ERROR). A queue in
 * Postgres is in the database of the rows; it can't be used through a pooler that shares sessions.
 */
export async function findQueueFault(context: CommandContext): Promise<Failure | undefined> {
  const { queue, database } = context.config;
  if (database.url === "embedded") return undefined;
  try {
    if (queue.backend === "redis") {
      // Loaded here, because a queue in Postgres needs no Redis client.
      const { probeQueue } = await import("../../shared/queue/probe-queue.ts");
      const { redis_url: url, prefix } = queue;
      await probeQueue({ backend: "redis", url, prefix }, QUEUE_WITHIN_MS);
    } else await assertSessionsOfQueue(context);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

async function assertSessionsOfQueue({ config, invocation }: CommandContext): Promise<void> {
  const { packageRoot } = invocation;
  const queueDatabase = connectQueueDatabase({
    ...{ config, packageRoot, create: "must-exist" },
    onError: () => undefined,
  });
  try {
    await assertOwnSessions(queueDatabase);
  } finally {
    await queueDatabase.end();
  }
}

async function checkWorkers(
  { config }: CommandContext,
  database: Database,
): Promise<Obstacle | undefined> {
  if ((await countAliveWorkers(database, null)) > 0) return undefined;
  const remedy =
    config.database.url === "embedded"
      ? "nightdesk batch wait starts one, and so does: nightdesk up"
      : "start one with: nightdesk worker";
  return { what: "no_worker", code: null, message: `no worker alive: ${remedy}` };
}

/** Prints that the queued jobs are held, and the remedy. */
export async function hintHold(
  { terminal }: CommandContext,
  database: Database,
  batchId: string,
): Promise<void> {
  const batch = await findBatch(database, batchId);
  const remedy = batch === undefined ? undefined : holdRemedy(batch);
  if (batch === undefined || remedy === undefined) return;
  terminal.say(`It is ${formatHold(batch)}; ${remedy}`);
}

/** Prints how to start a worker if none is alive. */
export async function hintWorker(context: CommandContext, database: Database): Promise<void> {
  await hintHost(context, database);
  if ((await countAliveWorkers(database, null)) > 0) return;
  context.terminal.say(
    `No worker is alive; the work waits until you start one with: ${startOf(context)}`,
  );
}

/** The command that shows what waits for a person: tool calls first. @param batchId null: in all batches */
export async function decidingCommand(db: Queryable, batchId: string | null): Promise<string> {
  const calls = { batchId, which: "waiting", limit: 1 } as const;
  if ((await selectApprovalGroups(db, calls)).length > 0) return "nightdesk approvals review";
  const steps = await selectUncertainSteps(db, batchId, 1);
  return steps.length > 0 ? "nightdesk approvals list --uncertain" : "nightdesk reviews list";
}

/** Prints that an index job waits if no live worker has files. */
export async function hintFiles({ terminal }: CommandContext, database: Database): Promise<void> {
  const workers = await selectAliveWorkers(database);
  if (workers.length === 0 || workers.some(({ documentsFrom }) => documentsFrom === "files"))
    return;
  terminal.say(
    "All workers that are alive read documents from the database (documents.from: store): an index waits until you start one that " +
      "has the files.",
  );
}

/** Prints the hint of `searchKeyHint`. */
export async function hintSearchKey(
  { config, terminal, invocation }: CommandContext,
  presets: Iterable<string | undefined>,
): Promise<void> {
  const hint = await searchKeyHint(config, invocation.env, presets);
  if (hint !== null) terminal.say(hint);
}

/** Prints that schedules run only while a worker does, if none is alive. */
export async function hintTicking(context: CommandContext, database: Database): Promise<void> {
  if ((await countAliveWorkers(database, null)) > 0) return;
  context.terminal.say(
    `No worker is alive, and schedules run while one is. Start it with: ${startOf(context)}`,
  );
}

/** The command that starts a worker, with this command's --ollama-base-url, because the worker calls the host. */
export function startOf({ config, invocation }: CommandContext): string {
  const { ollamaBaseUrl: url } = invocation.options;
  const start = config.database.url === "embedded" ? "nightdesk up" : "nightdesk worker";
  return typeof url === "string" && hostOf(config) !== undefined
    ? `${start} --ollama-base-url ${url.trim()}`
    : start;
}

/** A host in the local network accepts a connection within this time, or not at all. */
const ANSWER_WITHIN_MS = 2_000;

/**
 * Prints why the host of `--ollama-base-url` will not be called: the configuration needs no host, the host accepts no
 * connection, or a live worker calls another host. Prints nothing without the option.
 */
export async function hintHost(context: CommandContext, database: Database): Promise<void> {
  const { config, terminal, invocation } = context;
  if (invocation.options["ollamaBaseUrl"] === undefined) return;
  if (config.model.provider === FROM_HOSTS) {
    terminal.say(
      "model.provider is hosts: those of the list are asked, and --ollama-base-url changes nothing.",
    );
    return;
  }
  const url = hostOf(config);
  if (url === undefined) {
    terminal.say(
      `The configured model is ${config.model.provider} and asks no host: --ollama-base-url changes nothing. To use one: model.provider`,
    );
    return;
  }
  const fault = await findFault(url);
  if (fault !== undefined) {
    terminal.say(
      `${url} does not answer (${fault}); what is queued waits until it does. Start the host there, or give another --ollama-base-url`,
    );
  }
  const other = await findOtherHost(config, database, url);
  if (other !== undefined) {
    terminal.say(
      `A worker that runs asks ${other}, not ${url}: stop it, and start it again with: nightdesk worker --ollama-base-url ${url}`,
    );
  }
}

/** The host that jobs of this configuration call, if any. */
const hostOf = (config: Config): string | undefined =>
  [...modelHostsOf(config), ...embedderHostsOf(config)][0]?.host;

/** A host of a live worker that does not call `url`. A worker may call several, such as the auditor's. */
async function findOtherHost(
  config: Config,
  database: Database,
  url: string,
): Promise<string | undefined> {
  const workers = await selectAliveWorkers(database);
  return workers
    .map(({ modelHosts, embedderHosts }) =>
      modelHostsOf(config).length === 0 ? embedderHosts : modelHosts,
    )
    .find((hosts) => hosts.length > 0 && !hosts.includes(url))?.[0];
}

/** Why the host of a base URL accepts no connection; undefined if it does. */
async function findFault(url: string): Promise<string | undefined> {
  const { hostname, port, protocol } = new URL(url);
  const socket = connect({
    // A URL has brackets around an IPv6 address.
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
  });
  try {
    return await new Promise((resolve) => {
      socket.once("connect", () => {
        resolve(undefined);
      });
      socket.once("error", ({ code, message }: NodeJS.ErrnoException) => {
        resolve(code ?? message);
      });
      socket.setTimeout(ANSWER_WITHIN_MS, () => {
        resolve(`nothing within ${ANSWER_WITHIN_MS / 1_000} s`);
      });
    });
  } finally {
    socket.destroy();
  }
}
