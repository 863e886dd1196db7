import type { HostPlace } from "../../shared/config/hosts.ts";
import { HostFailure } from "../../shared/failure.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { chooseHost } from "../../shared/store/hosts/choose-host.ts";
import {
  claimProbe,
  countHostFailure,
  enterHost,
  LONGEST_PAUSE_MS,
  postponeProbe,
  wakeHost,
} from "../../shared/store/hosts/hosts.ts";
import type { DueProbe } from "../../shared/store/hosts/hosts.ts";
import { selectHostModels, upsertHostModel } from "../../shared/store/hosts/host-models.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { listModels } from "../models/ask-route.ts";
import { askHost, HostError, readText } from "../models/host-request.ts";
import { withDeadline } from "../models/deadline.ts";
import type { HostFeatures } from "../models/create-model.ts";
import type { AccessOf } from "../models/host-access.ts";
import { LONG_PAUSE_MS } from "../models/limiter.ts";
import type { HostChoice, NextHost } from "../models/host-models.ts";
import { hostsOf } from "./pacing-settings.ts";
import type { PacingSettings } from "./pacing-settings.ts";

type Parts = { readonly db: Queryable; readonly settings: PacingSettings; readonly logger: Logger };

/**
 * Runs a job, and counts its failure if the host was down or busy. Failures caused by the document do not count: refusals,
 * prompts that do not fit, missing models.
 */
export async function countHostFailures<T>(
  job: Pick<ClaimedJob, "batchId">,
  parts: Parts,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof HostFailure) await countSafely(error, job.batchId, parts);
    throw error;
  }
}

/** The job is parked, or goes to another host, even if the count fails. */
async function countSafely(failure: HostFailure, batchId: string | null, parts: Parts) {
  // A host that only asks for a pause is not down.
  if (failure.retryAfterMs !== null) return;
  await countFailure(failure, batchId, parts).catch((err: unknown) => {
    parts.logger.warn({ err }, "a failure of a model host could not be counted");
  });
}

/** The most consecutive failures, even if model.breaker_failures is higher: fewer than the tries of a job that breaks hosts. */
const MOST_BROKEN_CALLS = 3;

async function countFailure(
  { host, code, message, brokeOff, trial }: HostFailure,
  batchId: string | null,
  { db, settings, logger }: Parts,
): Promise<void> {
  const { breakerFailures } = settings;
  const place = hostsOf(settings).find((known) => known.host === host);
  if (place === undefined) return;
  await enterHost(db, place);
  const most = brokeOff ? Math.min(breakerFailures, MOST_BROKEN_CALLS) : breakerFailures;
  const trouble = { host, code, message, batchId, most, pauseMs: FIRST_PROBE_MS, trial };
  if ((await countHostFailure(db, trouble)) === "opened") {
    logger.warn(
      { host, failures: most },
      "the model host is down: its jobs are held until it is back",
    );
  }
}

/**
 * Chooses by the rows of hosts, which all workers share.
 * @param runId the run that makes the calls; null: no run, and the choice is not stored
 */
export const choiceAmong = (parts: Parts, runId: string | null): HostChoice => ({
  choose: (among, tried) => chooseByRows({ runId, among, tried }, parts.db),
  failed: (failure) => countSafely(failure, null, parts),
});

type ChoiceRequest = {
  readonly runId: string | null;
  readonly among: readonly HostPlace[];
  readonly tried: readonly string[];
};

async function chooseByRows(asked: ChoiceRequest, db: Queryable): Promise<NextHost> {
  const { outcome, detail } = await chooseHost(db, { ...asked, longestWaitMs: LONG_PAUSE_MS });
  switch (outcome) {
    case "chosen":
      return { outcome, host: detail };
    case "closed":
      return { outcome, hosts: detail };
    case "unknown":
      for (const place of asked.among) if (detail.includes(place.host)) await enterHost(db, place);
      return chooseByRows(asked, db);
  }
}

/** Stores findings about models at hosts in rows. */
export const featuresIn = (db: Queryable): HostFeatures => ({
  recall: (host, model) => ({
    async recall({ serverVersion }) {
      const known = (await selectHostModels(db, host)).find((each) => each.model === model);
      if (known?.serverVersion !== serverVersion || serverVersion === null) return null;
      const counting = known.features["counts_tokens"];
      return COUNTINGS.find((each) => each === counting) ?? null;
    },
  }),
  async note(host, { name, facts, counting }) {
    const { digest, serverVersion, windowTokens, toolProtocol, ignoresSchemas } = facts;
    const features = {
      tools: toolProtocol,
      ignores_schemas: ignoresSchemas,
      ...(counting === undefined ? {} : { counts_tokens: counting }),
    };
    const found = { host, model: name, digest, serverVersion, windowTokens, features };
    // The model can answer even if this is not stored.
    await upsertHostModel(db, found).catch(() => undefined);
  },
});

const COUNTINGS = ["chat", "tokenize", "none"] as const;

/** The time until a host that is down is probed; it doubles with each further probe. */
const FIRST_PROBE_MS = 5_000;
/** Time limits; the claim of a probe lasts longer than both together. */
const PROBE_TIMEOUT_MS = 10_000;
const TRIAL_TIMEOUT_MS = 25_000;

type ProbeParts = {
  readonly db: Queryable;
  /** Identifies this worker among all workers. */
  readonly prober: string;
  /** Base URLs that this worker is configured for. */
  readonly hosts: readonly string[];
  readonly accessOf: AccessOf;
  readonly logger: Logger;
};

/** Probes each host that is down and due; one worker does it for all. If the host is back, the jobs parked for it continue. */
export async function probeHosts(parts: ProbeParts, signal: AbortSignal): Promise<void> {
  const { db, prober, hosts, accessOf, logger } = parts;
  while (!signal.aborted) {
    const due = await claimProbe(db, prober, hosts);
    if (due === undefined) return;
    if (await isBack(due, accessOf, signal)) {
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

/** Whether a host lists its models, and no longer fails at the call that it failed at. */
async function isBack(
  { host, provider, trial }: DueProbe,
  accessOf: AccessOf,
  signal: AbortSignal,
): Promise<boolean> {
  const access = accessOf(host);
  const list = { signal, timeoutMs: PROBE_TIMEOUT_MS, late: () => new Error("silent") };
  const listed = await withDeadline(list, (until) =>
    listModels(host, provider, until, access),
  ).catch(() => null);
  if (listed === null || trial === null) return listed !== null;
  const slow = new Error("no answer yet");
  const limits = { signal, timeoutMs: TRIAL_TIMEOUT_MS, late: () => slow };
  try {
    await withDeadline(limits, async (until) =>
      readText(await askHost(`${host}${trial.route}`, JSON.stringify(trial.body), until, access)),
    );
    return true;
  } catch (error) {
    // A host without an answer may be loading a model for minutes; a refusal, such as for an unknown call, shows that it works.
    return error === slow || (error instanceof HostError && error.status < 500);
  }
}
