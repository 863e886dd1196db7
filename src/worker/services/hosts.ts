import type { Logger } from "../../shared/logger.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { chargeLostCalls } from "../../shared/store/hosts/calls.ts";
import { clampFutureTimes, wakeForgottenHosts } from "../../shared/store/hosts/hosts.ts";
import { probeHosts } from "../hosts/host-state.ts";
import { hostsOf } from "../hosts/pacing-settings.ts";
import type { PacingSettings } from "../hosts/pacing-settings.ts";
import type { AccessOf } from "../models/host-access.ts";
import type { Service } from "./supervisor.ts";

const LOOK_MS = 1_000;

/** Time between checks for calls of dead workers. */
const UPKEEP_MS = 5_000;

/** Longer than the longest wait between two probes of a host. */
const FORGOTTEN_MS = 10 * 60_000;

type HostParts = {
  readonly database: Database;
  readonly settings: PacingSettings;
  readonly accessOf: AccessOf;
  /** Identifies this worker among all workers. */
  readonly workerId: string;
  readonly logger: Logger;
};

/** Probes hosts that are down, and releases slots of dead workers. */
export function hostService(parts: HostParts): Service {
  const { database: db, settings, accessOf, workerId, logger } = parts;
  const hosts = hostsOf(settings);
  const probes = { db, prober: workerId, hosts: hosts.map(({ host }) => host), accessOf, logger };
  let nextUpkeep = 0;
  return {
    name: "hosts",
    trouble: "model hosts could not be looked after",
    // A worker that stops does not wait for a silent host.
    async run({ stopping }) {
      if (hosts.length > 0) await probeHosts(probes, stopping);
      if (performance.now() >= nextUpkeep) {
        const clamped = await clampFutureTimes(db);
        if (clamped > 0)
          logger.warn({ rows: clamped }, "times lay in the future: was the clock set back?");
        await chargeLostCalls(db);
        await wakeForgottenHosts(db, FORGOTTEN_MS);
        nextUpkeep = performance.now() + UPKEEP_MS;
      }
      return hosts.length > 0 ? LOOK_MS : UPKEEP_MS;
    },
  };
}
