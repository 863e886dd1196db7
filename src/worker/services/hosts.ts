import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { chargeLostCalls } from "../../shared/store/hosts/calls.ts";
import { clampFutureTimes, wakeForgottenHosts } from "../../shared/store/hosts/hosts.ts";
import { probeHosts } from "../hosts/host-state.ts";
import type { PacingSettings } from "../hosts/pacing.ts";
import { repeat } from "../loop.ts";
import type { FaultLog, Repeating } from "../loop.ts";

const LOOK_MS = 1_000;
const AFTER_ERROR_MS = 2_000;

/** Between looks at what calls of dead workers hold. */
const UPKEEP_MS = 5_000;

/** Longer than a host waits for its next probe at most. */
const FORGOTTEN_MS = 10 * 60_000;
const UNKEPT = "model hosts could not be looked after";

type SuperviseHostsParts = {
  readonly database: Database;
  readonly settings: PacingSettings;
  /** Names this worker among all. */
  readonly workerId: string;
  readonly logger: Logger;
  readonly faults: FaultLog;
};

/** Asks hosts that are down, and gives back what dead workers hold. */
export function superviseHosts(parts: SuperviseHostsParts): Repeating {
  const { database: db, settings, workerId, logger, faults } = parts;
  const hosts = [settings.model, settings.embedder].filter((host) => host !== null);
  const stopping = new AbortController();
  const probes = { db, prober: workerId, hosts: hosts.map(({ host }) => host), logger };
  let nextUpkeep = 0;
  const keeping = repeat(
    async () => {
      if (hosts.length > 0) await probeHosts(probes, stopping.signal);
      if (performance.now() >= nextUpkeep) {
        const clamped = await clampFutureTimes(db);
        if (clamped > 0)
          logger.warn({ rows: clamped }, "times lay in the future: was the clock set back?");
        await chargeLostCalls(db);
        await wakeForgottenHosts(db, FORGOTTEN_MS);
        nextUpkeep = performance.now() + UPKEEP_MS;
      }
      faults.works(UNKEPT);
      return hosts.length > 0 ? LOOK_MS : UPKEEP_MS;
    },
    (error) => {
      faults.broke(UNKEPT, error);
      return AFTER_ERROR_MS;
    },
  );
  return {
    wake() {
      keeping.wake();
    },
    stop() {
      // A host that says nothing is not waited for.
      stopping.abort();
      return keeping.stop();
    },
  };
}
