import type { Queryable } from "../../shared/store/connection/database.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { countHostFailure, enterHost } from "../../shared/store/hosts/hosts.ts";
import { HostFailure } from "../../shared/failure.ts";
import type { Logger } from "../../shared/logger.ts";
import type { PacingSettings } from "./pacing-settings.ts";
import { FIRST_PROBE_MS } from "./probe-hosts.ts";

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
