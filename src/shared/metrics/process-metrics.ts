import type { CommandContext } from "../commands/command-context.ts";
import type { Config } from "../config/schema.ts";
import { endsInTime } from "../ends-in-time.ts";
import type { Database } from "../store/connection/database.ts";
import { selectDatabaseGauges } from "../views/database-gauges.ts";
import { databaseGauges } from "./database-metrics.ts";
import { openMetrics } from "./metrics.ts";
import type { Definitions, GaugeGroup, Metrics } from "./metrics.ts";
import { serveMetrics } from "./serve-metrics.ts";
import type { MetricsPlace, MetricsServer } from "./serve-metrics.ts";

export type ServedMetrics = { readonly metrics: Metrics; readonly stop: () => Promise<void> };

type Own = {
  /** Metrics that this process records. */
  readonly definitions: Definitions;
  /** Gauges of this process beside those of the database. */
  readonly gauges?: readonly GaugeGroup[];
};

/**
 * Serves the metrics of a process and of the database if `metrics.listen` is set; undefined if not. If they can't be served, for
 * example because the port is taken, it logs a warning and the process works without them.
 */
export async function startMetrics(
  { config, logger }: Pick<CommandContext, "config" | "logger">,
  database: Database,
  { definitions, gauges = [] }: Own,
): Promise<ServedMetrics | undefined> {
  const place = placeOf(config);
  if (place === undefined) return undefined;
  const metrics = openMetrics(definitions);
  metrics.addGauges(databaseGauges(() => selectDatabaseGauges(database)));
  for (const group of gauges) metrics.addGauges(group);
  let server: MetricsServer | undefined;
  try {
    server = await serveMetrics(place, { metrics, isReady: () => answersSoon(database) });
    logger.info({ address: server.address }, "metrics served");
  } catch (err) {
    logger.warn({ err, listen: config.metrics.listen }, "metrics can't be served; working without");
  }
  return {
    metrics,
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

const answersSoon = (database: Database): Promise<boolean> =>
  endsInTime(database.query("select 1"), READY_MS).catch(() => false);
