import { readdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Definitions, GaugeGroup, Sample } from "../../shared/metrics/metrics.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { RunMetrics } from "./run-metrics.ts";

export type WorkerMetrics = RunMetrics & { stop(): Promise<void> };

const OFF: WorkerMetrics = { ended: () => undefined, stop: () => Promise.resolve() };

/** Metrics of the machine of a worker. */
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

/** Metrics of the embedded database, which writes dumps; other databases have their own backups. */
export const BACKUP_METRICS: Definitions = {
  nightdesk_backup_age_seconds: {
    kind: "gauge",
    help: "Since the newest dump of the embedded database was written.",
    labels: [],
  },
};

/** Serves the metrics of a worker if the configuration enables them. */
export async function startWorkerMetrics(
  context: CommandContext,
  database: Database,
): Promise<WorkerMetrics> {
  const { config } = context;
  if (config.metrics.listen === null) return OFF;
  const { startMetrics } = await import("../../shared/metrics/process-metrics.ts");
  const { RUN_METRICS, runMetrics } = await import("./run-metrics.ts");
  const backups = config.database.url === "embedded" ? [backupGauges(config)] : [];
  const served = await startMetrics(context, database, {
    definitions: RUN_METRICS,
    gauges: [machineGauges(config.roots.workroot), ...backups],
  });
  return served === undefined ? OFF : { ...runMetrics(served.metrics), stop: served.stop };
}

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
    const names = (await readdir(folder)).filter((name) => !name.startsWith("."));
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
