import { parallelKeyOf, writesAtBatchEnd } from "../../shared/config/config-fingerprint.ts";
import type { SharedConfig, SharedKey } from "../../shared/config/config-fingerprint.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { HookTarget } from "../../shared/job/job.ts";
import type { Logger } from "../../shared/logger.ts";
import { configuredSchedules } from "../../shared/schedules/schedule.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { isStorageFault } from "../../shared/store/connection/errors.ts";
import { applyConfiguredBudgets } from "../../shared/store/hosts/budgets.ts";
import { enterHost } from "../../shared/store/hosts/hosts.ts";
import { setDefaultWindows } from "../../shared/store/jobs/holds.ts";
import {
  heartbeat,
  recordAppliedConfig,
  selectAppliedConfig,
  selectConfiguredWorkers,
} from "../../shared/store/jobs/workers.ts";
import type { ConfiguredWorker, WorkerFacts } from "../../shared/store/jobs/workers.ts";
import { registerHook } from "../../shared/store/schedules/hook-calls.ts";
import { replaceFileSchedules } from "../../shared/store/schedules/schedules.ts";
import { currentNight } from "../hosts/pacing.ts";
import type { NightClock } from "../hosts/pacing.ts";
import { hostsOf } from "../hosts/pacing-settings.ts";
import type { PacingSettings } from "../hosts/pacing-settings.ts";
import type { FaultLog } from "../loop.ts";
import type { Service } from "./supervisor.ts";

type SharedConfigParts = {
  readonly database: Database;
  readonly worker: WorkerFacts;
  readonly config: Config;
  readonly pacing: PacingSettings;
  /** Determines which night it is. */
  readonly clock: NightClock;
  readonly logger: Logger;
};

/** Applies settings that must be the same for all workers. */
export type SharedConfigKeeper = {
  /** Compares the workers once, applies the settings of which this worker decides, and warns of differences. */
  reconcile(): Promise<void>;
  /** Whether this worker's setting was in force at the last comparison. */
  agrees(key: SharedKey): boolean;
};

/**
 * If workers have different values for a key, the worker that has been running longest decides, and the others get a warning.
 * When it stops, the value of the next one applies. Starting last never wins.
 */
export function sharedConfigKeeper(parts: SharedConfigParts): SharedConfigKeeper {
  const { database, worker, logger } = parts;
  const warned = new Set<string>();
  let applied: SharedConfig = new Map();
  return {
    async reconcile() {
      // Writes its own row first: of two workers that start at once, at least one sees the other.
      if (applied.size === 0) await heartbeat(database, worker);
      const [workers, inForce] = await Promise.all([
        selectConfiguredWorkers(database),
        selectAppliedConfig(database),
      ]);
      const place = workers.findIndex(({ workerId }) => workerId === worker.workerId);
      // Its own heartbeat is too old after the database was unreachable: it decides nothing until the next heartbeat.
      if (place === -1) return;
      const elders = workers.slice(0, place);
      const changed = [...worker.sharedConfig].filter(
        ([key, mine]) => inForce.get(key) !== mine && !hasOtherValue(elders, key, mine),
      );
      const keys = changed.map(([key]) => key);
      for (const key of keys) await applySetting(parts, key);
      if (keys.length > 0) await recordAppliedConfig(database, worker, keys);
      for (const key of keys.filter((each) => inForce.has(each)))
        logger.info({ key }, "this worker's configuration is in force now");
      applied = new Map([...inForce, ...changed]);
      warnOfDifferences(parts, workers, warned);
    },
    agrees: (key) => applied.get(key) === worker.sharedConfig.get(key),
  };
}

/** The hook targets of a configuration. */
export const hookTargetsOf = ({
  on_batch_end: { command, webhook },
  index,
}: Pick<Config, "on_batch_end" | "index">): readonly HookTarget[] => [
  ...(command === null ? [] : (["command"] as const)),
  ...(webhook === null ? [] : (["webhook"] as const)),
  ...(writesAtBatchEnd({ index }) ? (["write_back"] as const) : []),
];

const hasOtherValue = (
  workers: readonly ConfiguredWorker[],
  key: SharedKey,
  mine: string,
): boolean => workers.some((other) => (other.sharedConfig.get(key) ?? mine) !== mine);

/** Writes a setting to where all workers read it; a setting that is only compared is not written. */
async function applySetting(parts: SharedConfigParts, key: SharedKey): Promise<void> {
  const { database, config, pacing, clock } = parts;
  if (key === "windows") await publishWindows(parts);
  else if (key === "schedules") await publishSchedules(parts);
  else if (key === "on_batch_end") {
    await registerHook(database, hookTargetsOf(config), config.on_batch_end.origins);
  } else if (key === "budgets") {
    await applyConfiguredBudgets(database, pacing, currentNight(clock, pacing.windows));
  } else {
    const host = hostsOf(pacing).find((candidate) => key === parallelKeyOf(candidate.host));
    if (host !== undefined) await enterHost(database, host);
  }
}

async function publishWindows({ database, config, logger }: SharedConfigParts): Promise<void> {
  const { windows } = config;
  const before = await setDefaultWindows(database, windows);
  if (before.join("\n") === windows.join("\n")) return;
  logger.info({ windows, before }, "the windows of the configuration changed");
}

async function publishSchedules({ database, config, logger }: SharedConfigParts): Promise<void> {
  const entries = configuredSchedules(config);
  for (const schedule of await replaceFileSchedules(database, entries)) {
    logger.warn({ schedule }, "left out of the configuration: one of this name was set by hand");
  }
  const schedules = entries.map(({ name }) => name);
  if (schedules.length > 0) logger.info({ schedules }, "schedules taken from the configuration");
}

function warnOfDifferences(
  { worker, logger }: Pick<SharedConfigParts, "worker" | "logger">,
  workers: readonly ConfiguredWorker[],
  warned: Set<string>,
): void {
  for (const other of workers) {
    const keys = [...worker.sharedConfig]
      .filter(([key, mine]) => hasOtherValue([other], key, mine))
      .map(([key]) => key);
    if (keys.length === 0 || warned.has(other.workerId)) continue;
    warned.add(other.workerId);
    logger.warn(
      { keys, worker_host: other.host, worker_pid: other.pid, config_file: other.configFile },
      "another worker has another configuration",
    );
  }
}

const LOOK_MS = 5_000;
const UNCOMPARED = "the configurations of the workers could not be compared";

/** The first comparison of a starting worker. If the database is read-only, later steps report that. */
export async function reconcileAtStart(
  keeper: SharedConfigKeeper,
  faults: FaultLog,
): Promise<void> {
  try {
    await keeper.reconcile();
  } catch (error) {
    if (!isStorageFault(error)) throw error;
    faults.broke(UNCOMPARED, error);
  }
}

/** Checks every 5 s which settings are in force. */
export const sharedConfigService = (keeper: SharedConfigKeeper): Service => ({
  name: "shared configuration",
  trouble: UNCOMPARED,
  async run() {
    await keeper.reconcile();
    return LOOK_MS;
  },
});
