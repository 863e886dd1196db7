import { HostFailure } from "../../shared/failure.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import {
  claimProbe,
  countHostFailure,
  enterHost,
  LONGEST_PAUSE_MS,
  postponeProbe,
  wakeHost,
} from "../../shared/store/hosts/hosts.ts";
import type { DueProbe } from "../../shared/store/hosts/hosts.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { listModels } from "../models/ask-route.ts";
import { withDeadline } from "../models/deadline.ts";
import type { PacingSettings } from "./pacing.ts";

type Parts = {
  readonly db: Queryable;
  readonly settings: PacingSettings;
  readonly logger: Logger;
};

/**
 * Runs a job, and counts it when its host was down or busy. What a document does to a model is none of that: refusals,
 * prompts that do not fit and models that are missing are not counted.
 */
export async function countHostFailures<T>(
  job: Pick<ClaimedJob, "batchId">,
  { db, settings, logger }: Parts,
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof HostFailure) {
      // The job is parked whether this is counted or not.
      await count(error, job.batchId, { db, settings, logger }).catch((err: unknown) => {
        logger.warn({ err }, "a failure of a model host could not be counted");
      });
    }
    throw error;
  }
}

async function count(
  { host, code, message }: HostFailure,
  batchId: string,
  { db, settings, logger }: Parts,
): Promise<void> {
  const { model, embedder, breakerFailures } = settings;
  const place = [model, embedder].find((known) => known?.host === host);
  if (place === undefined || place === null) return;
  await enterHost(db, place);
  const trouble = { host, code, message, batchId, most: breakerFailures, pauseMs: FIRST_PROBE_MS };
  if ((await countHostFailure(db, trouble)) === "opened") {
    logger.warn(
      { host, failures: breakerFailures },
      "the model host is down: its jobs are held until it is back",
    );
  }
}

/** A host that is down is asked after this, then after twice as long each time. */
const FIRST_PROBE_MS = 5_000;
/** A claim of a probe lasts longer. */
const PROBE_TIMEOUT_MS = 10_000;

type ProbeParts = {
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
    listModels(host, provider, until),
  ).then(
    (answer) => answer !== null,
    () => false,
  );
