import { z } from "zod";
import type { SharedConfig, SharedKey } from "../../config/config-fingerprint.ts";
import type { Queryable } from "../connection/database.ts";
import { camelRow, execute, rowsOf, valueOf } from "../connection/rows.ts";

/** A worker is alive if its heartbeat is younger than this. */
const ALIVE_SECONDS = 15;
/**
 * SQL condition on a row of `workers`: the worker is alive. A heartbeat in the future was written before the clock was set back
 * and does not count: a living worker will write a new one.
 */
export const IS_ALIVE = `heartbeat_at between clock_timestamp() - interval '${ALIVE_SECONDS} s'
                               and clock_timestamp() + interval '${ALIVE_SECONDS} s'`;

export type WorkerFacts = {
  readonly workerId: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  readonly concurrency: number;
  /** Base URLs of its configured hosts; empty when its model, or its embedder, needs no host. */
  readonly modelHosts: readonly string[];
  readonly embedderHosts: readonly string[];
  readonly documentsFrom: "files" | "store";
  /** Absolute path on its machine. */
  readonly configFile: string;
  readonly sharedConfig: SharedConfig;
};

/** Records that the worker is alive now. */
export const heartbeat = (db: Queryable, worker: WorkerFacts): Promise<void> =>
  execute(db, [
    worker.workerId,
    worker.host,
    worker.pid,
    worker.version,
    worker.concurrency,
    worker.modelHosts,
    worker.embedderHosts,
    worker.configFile,
    JSON.stringify(Object.fromEntries(worker.sharedConfig)),
    worker.documentsFrom,
  ])`
     insert into nightdesk_data.workers (worker_id, host, pid, version, concurrency, model_hosts, embedder_hosts,
                                          config_file, shared_config, documents_from)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (worker_id) do update set heartbeat_at = clock_timestamp()`;

/**
 * Removes a worker that has stopped, and workers that have been dead for a day. Jobs that it still owns, because their results
 * could not be written, are handed back: they become due at once and use up no attempt.
 */
export async function removeWorker(db: Queryable, workerId: string): Promise<void> {
  await execute(db, [workerId])`
     with held as materialized (
       select job_id, run_id from nightdesk_data.jobs
        where state = 'running' and worker_id = $1 and not cancel_requested order by seq for no key update),
     runs as (
       update nightdesk_data.runs r
          set state = 'handed_back', finished_at = clock_timestamp(),
              run_ms = greatest(0, extract(epoch from clock_timestamp() - started_at) * 1000)
         from held where r.run_id = held.run_id and r.state = 'running')
     update nightdesk_data.jobs j
        set state = 'queued', attempt = attempt - 1, due_at = clock_timestamp(), lease_until = null, worker_id = null
       from held where j.job_id = held.job_id`;
  await execute(db, [workerId])`
     delete from nightdesk_data.workers
      where worker_id = $1 or heartbeat_at < clock_timestamp() - interval '1 day'`;
}

/** @param host null for workers of any host */
export const countAliveWorkers = (db: Queryable, host: string | null): Promise<number> =>
  valueOf(db, z.coerce.number(), [host])`
     select count(*) as alive from nightdesk_data.workers
      where ${IS_ALIVE}
        and ($1::text is null or host = $1)`;

const aliveWorkers = camelRow({
  host: z.string(),
  pid: z.number(),
  model_hosts: z.array(z.string()),
  embedder_hosts: z.array(z.string()),
  documents_from: z.enum(["files", "store"]),
});

/** The living workers: their processes and the hosts that they call. */
export const selectAliveWorkers = (
  db: Queryable,
): Promise<
  readonly Pick<WorkerFacts, "host" | "pid" | "modelHosts" | "embedderHosts" | "documentsFrom">[]
> =>
  rowsOf(db, aliveWorkers)`
     select host, pid, model_hosts, embedder_hosts, documents_from from nightdesk_data.workers
      where ${IS_ALIVE} order by worker_id`;

const sharedConfigSchema = z
  .record(z.string(), z.string())
  .transform((parts): SharedConfig => new Map(Object.entries(parts) as [SharedKey, string][]));

const configuredSchema = camelRow({
  worker_id: z.string(),
  host: z.string(),
  pid: z.number(),
  config_file: z.string(),
  shared_config: sharedConfigSchema,
});
/** A living worker, and the parts of its configuration that all workers share. */
export type ConfiguredWorker = z.infer<typeof configuredSchema>;

/** The living workers, the oldest first. */
export const selectConfiguredWorkers = (db: Queryable): Promise<readonly ConfiguredWorker[]> =>
  rowsOf(db, configuredSchema)`
     select worker_id, host, pid, config_file, shared_config from nightdesk_data.workers
      where ${IS_ALIVE} order by started_at, worker_id`;

const appliedSchema = z.object({ key: z.string(), sha256: z.string() });

/** The applied configuration, by key; a missing key was never applied. */
export async function selectAppliedConfig(db: Queryable): Promise<SharedConfig> {
  const rows = await rowsOf(
    db,
    appliedSchema,
  )`select key, sha256 from nightdesk_data.applied_config`;
  return new Map(rows.map(({ key, sha256 }) => [key as SharedKey, sha256]));
}

/** Records that these parts of a worker's configuration are applied now. */
export const recordAppliedConfig = (
  db: Queryable,
  { host, sharedConfig }: Pick<WorkerFacts, "host" | "sharedConfig">,
  keys: readonly SharedKey[],
): Promise<void> =>
  execute(db, [keys, keys.map((key) => sharedConfig.get(key)), host])`
     insert into nightdesk_data.applied_config as a (key, sha256, host)
     select key, sha256, $3 from unnest($1::text[], $2::text[]) as new (key, sha256)
      order by key
     on conflict (key) do update
       set sha256 = excluded.sha256, host = excluded.host, applied_at = clock_timestamp()
     where a.sha256 <> excluded.sha256`;
