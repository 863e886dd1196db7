import { existsSync } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join, posix } from "node:path";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { sharedConfigOf } from "../../shared/config/config-fingerprint.ts";
import type { SharedConfig } from "../../shared/config/config-fingerprint.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { assertQueueSchema } from "../../shared/store/queue-tables.ts";
import { probeQueue } from "../../shared/queue/probe-queue.ts";
import type { QueueStorage } from "../../shared/queue/storage.ts";
import { connectQueueDatabase, connectUnchecked } from "../../shared/store/connection/connect.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { probeWrites, selectServerFacts } from "../../shared/store/connection/health.ts";
import {
  countAliveWorkers,
  selectAppliedConfig,
  selectConfiguredWorkers,
} from "../../shared/store/jobs/workers.ts";
import { formatPending, schemaStatus } from "../../shared/store/migrate.ts";
import { openSandbox } from "../sandbox/open-sandbox.ts";
import { policyOf, textExtractionOf } from "../settings.ts";
import { fail, ok, warn, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

type DatabaseChecks = {
  readonly checks: readonly Check[];
  /** An open and writable database with this version's schema, which the caller closes; undefined otherwise. */
  readonly database: Database | undefined;
};

/** Connects, without creating an embedded database, compares the version of the schema, and tests whether writes work. */
export async function checkDatabase({
  config,
  invocation,
}: CommandContext): Promise<DatabaseChecks> {
  const isEmbedded = config.database.url === "embedded";
  if (isBeforeFirstIndex(config)) {
    const missing = `There is no database yet in ${config.roots.databaseDirectory}.`;
    const check = warn("DOCTOR_INDEX_DB_MISSING", missing, "Run: nightdesk index");
    return { checks: [check], database: undefined };
  }
  const database = connectUnchecked({
    config,
    packageRoot: invocation.packageRoot,
    create: "must-exist",
    onError: () => undefined,
  });
  const checks: Check[] = [];
  // None of these queries takes long, unless it waits for a lock.
  const prompt = database.within("lease");
  try {
    const facts = await selectServerFacts(prompt);
    checks.push(ok("DOCTOR_DATABASE_OK", formatServer(facts, isEmbedded)));
    if (isEmbedded) checks.push(await measureDirectory(config.roots.databaseDirectory));
    const schema = await checkSchema(prompt, join(invocation.packageRoot, "migrations"));
    checks.push(schema);
    const refused = schema.level === "ok" ? await probeWrites(prompt) : undefined;
    if (refused !== undefined) checks.push(databaseFault(refused, facts.is_replica));
    if (schema.level === "ok" && refused === undefined) return { checks, database };
  } catch (error) {
    checks.push(databaseFault(error, false));
  }
  await database.end();
  return { checks, database: undefined };
}

/** A fault that prevents the other checks: their results would be wrong, or never arrive. */
function databaseFault(error: unknown, isReplica: boolean): Check {
  const words = wordsOf(error);
  const code = error instanceof Failure ? error.code : "INTERNAL_ERROR";
  if (code === "DISK_FULL") return fail("DOCTOR_DISK_FULL", words, "Free some space there.");
  if (code !== "DATABASE_READ_ONLY") {
    return fail(
      "DOCTOR_DATABASE_UNREACHABLE",
      words,
      "Follow the message, then run: nightdesk doctor",
    );
  }
  return isReplica
    ? fail(
        DATABASE_READ_ONLY,
        "The server is a replica that follows another one: it takes no writes, and workers wait.",
        "Promote it (select pg_promote()), or set database.url or DATABASE_URL to the primary.",
      )
    : fail(DATABASE_READ_ONLY, words, "Workers wait until it takes writes: nothing else is wrong.");
}

const DATABASE_READ_ONLY = "DOCTOR_DATABASE_READ_ONLY";

const formatServer = (
  { version, vector }: { version: string; vector: string | null },
  isEmbedded: boolean,
): string =>
  `PostgreSQL ${version}, pgvector ${vector ?? "not installed"}` +
  (isEmbedded
    ? ", embedded: it never calls fsync, so that a power cut may cost what was written since the last dump."
    : ".");

/** The name in the report for each kind of entry in the database's directory; the first match counts. */
const PARTS = [
  { name: "the database", pattern: /^pgdata$/ },
  { name: "the last dumps (backups)", pattern: /^backups$/ },
  { name: "replaced databases (pgdata.*), which you may delete", pattern: /^pgdata\./ },
  { name: "logs", pattern: /\.log/ },
  { name: "the rest", pattern: /./ },
];

/** The disk space of the embedded database by purpose. */
async function measureDirectory(directory: string): Promise<Check> {
  const sizes = new Map<string, number>();
  for (const entry of await readdir(directory)) {
    const name = PARTS.find(({ pattern }) => pattern.test(entry))?.name ?? entry;
    sizes.set(name, (sizes.get(name) ?? 0) + (await bytesBelow(join(directory, entry))));
  }
  const parts = PARTS.flatMap(({ name }) => {
    const megabytes = inMegabytes(sizes.get(name) ?? 0);
    return megabytes === "0.0" ? [] : [`${megabytes} MB ${name}`];
  });
  const total = inMegabytes([...sizes.values()].reduce((sum, bytes) => sum + bytes, 0));
  return ok("DOCTOR_DATABASE_SIZE_OK", `${directory} takes ${total} MB: ${parts.join(", ")}.`);
}

const inMegabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);

/** The size of all files below a path; links are not followed, and files that disappear meanwhile count 0. */
async function bytesBelow(path: string): Promise<number> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return 0;
  if (!found.isDirectory()) return found.size;
  const names = await readdir(path).catch(() => []);
  const sizes = await Promise.all(names.map((name) => bytesBelow(join(path, name))));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function checkSchema(database: Database, directory: string): Promise<Check> {
  try {
    const status = await schemaStatus(database, directory);
    const last = status.applied.findLast((name) => name.endsWith(".sql")) ?? "empty";
    if (status.pending.length === 0) {
      return ok("DOCTOR_INDEX_SCHEMA_OK", `The schema is this version's (${last}).`);
    }
    const alive = status.applied.length === 0 ? 0 : await countAliveWorkers(database, null);
    return alive === 0
      ? fail("DOCTOR_INDEX_SCHEMA_VERSION", formatPending(status), "Run: nightdesk migrate")
      : fail(
          "DOCTOR_INDEX_SCHEMA_IN_USE",
          `${formatPending(status)} Workers of another build are at work on it: ${alive}.`,
          "Stop them, then run: nightdesk migrate",
        );
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "SCHEMA_OUTDATED") throw error;
    return fail("DOCTOR_INDEX_SCHEMA_FOREIGN", wordsOf(error), "Use the build that made it.");
  }
}

/** Checks whether the queue answers, moves a job, and has workers. */
export async function checkQueue(
  { config, invocation }: CommandContext,
  database: Database,
): Promise<readonly Check[]> {
  const { backend: kind, redis_url: url, prefix } = config.queue;
  const backend =
    kind === "postgres"
      ? await checkTables({ config, packageRoot: invocation.packageRoot }, database)
      : await checkMoves({ backend: "redis", url, prefix });
  return [
    backend,
    await checkWorkers(config, database),
    ...(await checkWorkerConfigs(config, database)),
  ];
}

/** Checks the tables of the queue: they are missing if the queue was in Redis when `nightdesk migrate` last ran. */
async function checkTables(
  place: { readonly config: Config; readonly packageRoot: string },
  database: Database,
): Promise<Check> {
  try {
    await assertQueueSchema(database);
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "SCHEMA_OUTDATED") throw error;
    return fail(QUEUE_SCHEMA_OUTDATED, `${error.code}: ${error.message}`, "Run: nightdesk migrate");
  }
  const own = connectQueueDatabase({ ...place, create: "must-exist", onError: () => undefined });
  try {
    return await checkMoves({ backend: "postgres", database: own });
  } finally {
    await own.end();
  }
}

/** A fault that stops every worker with SCHEMA_OUTDATED. */
export const QUEUE_SCHEMA_OUTDATED = "DOCTOR_QUEUE_SCHEMA_VERSION";

async function checkMoves(storage: QueueStorage): Promise<Check> {
  try {
    const { evictionPolicy } = await probeQueue(storage);
    if (evictionPolicy !== "noeviction" && evictionPolicy !== null) {
      return warn(
        "DOCTOR_QUEUE_EVICTS",
        `Redis has maxmemory-policy ${evictionPolicy}: it may drop deliveries, which costs time and no job.`,
        "Set maxmemory-policy noeviction.",
      );
    }
    const where = storage.backend === "redis" ? "Redis answers" : "The queue is in Postgres";
    return ok("DOCTOR_QUEUE_OK", `${where}, and a job was moved through it.`);
  } catch (error) {
    return error instanceof Failure && error.code === "CONFIG_ERROR"
      ? fail("DOCTOR_QUEUE_UNUSABLE", error.message, "Change what it names.")
      : fail(
          "DOCTOR_QUEUE_UNREACHABLE",
          wordsOf(error),
          "Start Redis, or change queue.redis_url or REDIS_URL.",
        );
  }
}

async function checkWorkers(config: Config, database: Database): Promise<Check> {
  const alive = await countAliveWorkers(database, null);
  if (alive > 0) return ok("DOCTOR_WORKERS_OK", `Workers alive: ${alive}.`);
  return config.database.url === "embedded"
    ? ok("DOCTOR_WORKERS_OK", "No worker is alive; a command that waits starts one.")
    : warn("DOCTOR_NO_WORKER", "No worker is alive: jobs wait.", "Run: nightdesk worker");
}

/** Checks whether the living workers and this configuration agree about settings that apply to all of them. */
async function checkWorkerConfigs(config: Config, database: Database): Promise<readonly Check[]> {
  const workers = await selectConfiguredWorkers(database);
  if (workers.length === 0) return [];
  const inForce = await selectAppliedConfig(database);
  const differing = workers.flatMap(({ host, pid, configFile, sharedConfig }) => {
    const keys = keysThatDiffer(sharedConfig, inForce);
    return keys === "" ? [] : [{ keys, place: `the worker ${pid} on ${host} (${configFile})` }];
  });
  const here = keysThatDiffer(sharedConfigOf(config, []), inForce);
  return [
    ...differing.map(({ keys, place }) =>
      warn(
        CONFIG_DIFFERS,
        `Workers differ: ${place} has other values of ${keys} than those in force, which are of the worker that has been there longest.`,
        "Give all workers the same configuration, and start those again that have an old one.",
      ),
    ),
    ...(here === "" || differing.length > 0
      ? []
      : [
          warn(
            CONFIG_DIFFERS,
            `The workers go by other values of ${here} than ${config.file} has.`,
            "Start the workers again after a change, or name their file with --config.",
          ),
        ]),
  ];
}

const CONFIG_DIFFERS = "DOCTOR_WORKER_CONFIG_DIFFERS";

/** Keys that both configurations have, with different values; empty if there are none. */
const keysThatDiffer = (one: SharedConfig, inForce: SharedConfig): string =>
  [...one]
    .filter(([key, value]) => (inForce.get(key) ?? value) !== value)
    .map(([key]) => key)
    .join(", ");

/** Opens the sandbox as a worker does, without creating anything, and checks the root of every source. */
export async function checkRoots(config: Config): Promise<readonly Check[]> {
  if (config.documents.from === "store") {
    const message = "Documents come from the database (documents.from: store): no folder is read.";
    return [ok("DOCTOR_SECURITY_POLICY_OK", message)];
  }
  return [
    await checkPolicy(config),
    ...(await Promise.all(config.index.sources.map((source) => checkSource(config, source)))),
  ];
}

const isBeforeFirstIndex = ({ database, roots }: Config): boolean =>
  database.url === "embedded" && !existsSync(join(roots.databaseDirectory, "pgdata"));

/** Whether the first index run will create missing folders. */
const isMadeByIndex = (config: Config): boolean =>
  config.security.auto_create_allowed_roots && isBeforeFirstIndex(config);

async function checkPolicy(config: Config): Promise<Check> {
  if (isMadeByIndex(config)) {
    const folders = config.security.allowed_roots.join(", ");
    return ok(
      "DOCTOR_SECURITY_POLICY_OK",
      `Allowed: ${folders}, which the first index makes where it is not there.`,
    );
  }
  try {
    const sandbox = await openSandbox(
      { ...policyOf(config), autoCreateAllowedRoots: false },
      textExtractionOf(config),
    );
    const { roots, skipped } = sandbox;
    sandbox.close();
    const [missing] = skipped;
    return missing === undefined
      ? ok(
          "DOCTOR_SECURITY_POLICY_OK",
          `Allowed below ${config.roots.workroot}: ${roots.length === 1 ? "1 folder" : `${roots.length} folders`}.`,
        )
      : fail(
          "DOCTOR_ALLOWED_ROOT_MISSING",
          `The allowed root ${missing.path} is ${missing.reason}.`,
          `Create it, or change security.allowed_roots in ${config.file}.`,
        );
  } catch (error) {
    return fail("DOCTOR_SECURITY_POLICY", wordsOf(error), `Look at security.* in ${config.file}.`);
  }
}

async function checkSource(
  config: Config,
  { name, root, from }: Config["index"]["sources"][number],
): Promise<Check> {
  const { roots, file } = config;
  const folder = posix.resolve(roots.workroot, root);
  const found = await stat(folder).catch(() => undefined);
  const isMade = isMadeByIndex(config) || (from !== undefined && found === undefined);
  return found?.isDirectory() === true || isMade
    ? ok("DOCTOR_SOURCE_OK", `Source ${name} is the folder ${JSON.stringify(root)}.`)
    : fail(
        "DOCTOR_SOURCE_ROOT_MISSING",
        `The root ${root} of source ${name} is not a folder below ${roots.workroot}.`,
        `Create or mount it, or change index.sources in ${file}.`,
      );
}
