import type { Queryable } from "../../shared/store/connection/database.ts";
import {
  claimProbe,
  LONGEST_PAUSE_MS,
  postponeProbe,
  wakeHost,
} from "../../shared/store/hosts/hosts.ts";
import type { DueProbe } from "../../shared/store/hosts/hosts.ts";
import type { Logger } from "../../shared/logger.ts";
import { askRoute } from "../model/ask-route.ts";
import { withDeadline } from "../model/call-deadline.ts";

/** A host that is down is asked after this, then after twice as long each time. */
export const FIRST_PROBE_MS = 5_000;
/** A claim of a probe lasts longer. */
const PROBE_TIMEOUT_MS = 10_000;

/** Routes that no model is loaded for. */
const ROUTES = { ollama: "/api/version", "openai-compatible": "/v1/models" } as const;

export type ProbeParts = {
  readonly db: Queryable;
  /** Names who asks, among all workers. */
  readonly prober: string;
  /** Base URLs that this worker is configured for. */
  readonly hosts: readonly string[];
  readonly logger: Logger;
};

/** Asks each host that is down, and due, whether it is back; of all workers one does. What is parked for it then wakes up. */
export async function probeHosts(parts: ProbeParts, signal: AbortSignal): Promise<void> {
  const { db, prober, hosts, logger } = parts;
  while (!signal.aborted) {
    const due = await claimProbe(db, prober, hosts);
    if (due === undefined) return;
    if (await answers(due, signal)) {
      await wakeHost(db, due.host);
      logger.info({ host: due.host }, "the model host is back");
    } else {
      await postponeProbe(
        db,
        { prober, host: due.host },
        { firstMs: FIRST_PROBE_MS, mostMs: LONGEST_PAUSE_MS },
      );
    }
  }
}

const answers = ({ host, provider }: DueProbe, signal: AbortSignal): Promise<boolean> =>
  withDeadline({ signal, timeoutMs: PROBE_TIMEOUT_MS, late: () => new Error("silent") }, (until) =>
    askRoute(`${host}${ROUTES[provider]}`, null, until),
  ).then(
    (answer) => answer !== null,
    () => false,
  );
