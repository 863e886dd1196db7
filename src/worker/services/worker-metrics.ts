import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { CommandContext } from "../../shared/command-context.ts";
import type { Config } from "../../shared/config/schema.ts";
import { endsInTime } from "../../shared/ends-in-time.ts";
import { deskGauges } from "../../shared/metrics/desk-metrics.ts";
import { openMetrics } from "../../shared/metrics/metrics.ts";
import type { Definitions, GaugeGroup, Sample } from "../../shared/metrics/metrics.ts";
import { serveMetrics } from "../../shared/metrics/serve-metrics.ts";
import type { MetricsPlace, MetricsServer } from "../../shared/metrics/serve-metrics.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectDeskGauges } from "../../shared/views/desk-gauges.ts";
import { RUN_METRICS, runMetrics } from "./run-metrics.ts";
import type { RunMetrics } from "./run-metrics.ts";

export type WorkerMetrics = RunMetrics & { stop(): Promise<void> };

const OFF: WorkerMetrics = { ended: () => undefined, stop: () => Promise.resolve() };

/** Of the machine of a worker. */
export const MACHINE_METRICS: Definitions = {
  nightdesk_disk_free_bytes: {
    kind: "gauge",
    help: "Free bytes of the file system that holds the work root.",
    labels: [],
  },
  nightdesk_disk_size_bytes: {
    kind: "gauge",
    help: "Bytes of the file system that holds the work root.",
    labels: [],
  },
};

/** Of the embedded database, which writes dumps; another database has backups of its own. */
export const BACKUP_METRICS: Definitions = {
  nightdesk_backup_age_seconds: {
    kind: "gauge",
    help: "Since the newest dump of the embedded database was written.",
    labels: [],
  },
};

/**
 * Serves the metrics of a worker where the configuration says so. One that can't, because no port is free, works without
 * and says so.
 */
export async function startWorkerMetrics(
  { config, logger }: CommandContext,
  database: Database,
): Promise<WorkerMetrics> {
  const place = placeOf(config);
  if (place === undefined) return OFF;
  const metrics = openMetrics(RUN_METRICS);
  metrics.addGauges(deskGauges(() => selectDeskGauges(database)));
  metrics.addGauges(machineGauges(config.roots.workroot));
  if (config.database.url === "embedded") metrics.addGauges(backupGauges(config));
  const isReady = () => answersSoon(database);
  let server: MetricsServer | undefined;
  try {
    server = await serveMetrics(place, { metrics, isReady });
    logger.info({ address: server.address }, "metrics served");
  } catch (err) {
    logger.warn({ err, listen: config.metrics.listen }, "metrics can't be served; working without");
  }
  return {
    ...runMetrics(metrics),
    async stop() {
      await server?.close();
    },
  };
}

function placeOf({ metrics: { listen } }: Config): MetricsPlace | undefined {
  if (listen === null) return undefined;
  const at = listen.lastIndexOf(":");
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(listen.slice(at + 1)) };
}

const READY_MS = 2_000;

const answersSoon = (database: Database): Promise<boolean> => {
  const asked = database.query("select 1").then(
    () => true,
    () => false,
  );
  return Promise.all([asked, endsInTime(asked, READY_MS)]).then(([ready]) => ready);
};

const machineGauges = (workroot: string): GaugeGroup => ({
  name: "machine",
  definitions: MACHINE_METRICS,
  async read(): Promise<readonly Sample[]> {
    const { bavail, blocks, bsize } = await statfs(workroot);
    return [
      { name: "nightdesk_disk_free_bytes", value: bavail * bsize },
      { name: "nightdesk_disk_size_bytes", value: blocks * bsize },
    ];
  },
});

const backupGauges = (config: Config): GaugeGroup => ({
  name: "backup",
  definitions: BACKUP_METRICS,
  async read(): Promise<readonly Sample[]> {
    const folder = join(config.roots.databaseDirectory, "backups");
    const names = await readdir(folder);
    const written = await Promise.all(
      names.map(async (name) => (await stat(join(folder, name))).mtimeMs),
    );
    if (written.length === 0) return [];
    return [
      {
        name: "nightdesk_backup_age_seconds",
        value: Math.max(0, (Date.now() - Math.max(...written)) / 1_000),
      },
    ];
  },
});
