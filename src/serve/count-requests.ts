import type { CommandContext } from "../shared/commands/command-context.ts";
import type { Definitions } from "../shared/metrics/metrics.ts";
import type { Database } from "../shared/store/connection/database.ts";

/** Metrics of one serving process, since its start. */
export const API_METRICS: Definitions = {
  nightdesk_requests_total: {
    kind: "counter",
    help: "Requests of programs that were answered, by route and status of HTTP.",
    labels: ["route", "status"],
  },
};

export type RequestCounter = {
  /** @param route as it is listed, or `other` for an unknown URL, or `malformed` */
  readonly count: (route: string, status: number) => void;
  readonly stop: () => Promise<void>;
};

/** Serves the metrics of this process if the configuration enables them. */
export async function countRequests(
  context: Pick<CommandContext, "config" | "logger">,
  database: Database,
): Promise<RequestCounter> {
  const off = { count: () => undefined, stop: () => Promise.resolve() };
  if (context.config.metrics.listen === null) return off;
  const { startMetrics } = await import("../shared/metrics/process-metrics.ts");
  const served = await startMetrics(context, database, { definitions: API_METRICS });
  if (served === undefined) return off;
  return {
    count(route, status) {
      const labels = { route, status: String(status) };
      served.metrics.record({ name: "nightdesk_requests_total", labels, value: 1 });
    },
    stop: served.stop,
  };
}
