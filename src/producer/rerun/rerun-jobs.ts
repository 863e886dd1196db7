import type { Database } from "../../shared/db/database.ts";
import { changeBatch } from "../../shared/db/jobs/batch-settings.ts";
import type { BatchSettings } from "../../shared/db/jobs/batch-settings.ts";
import { deleteBatch, openBatch } from "../../shared/db/jobs/batches.ts";
import { insertJobs } from "../../shared/db/jobs/insert-jobs.ts";
import type { NewJob } from "../../shared/db/jobs/insert-jobs.ts";
import {
  copyBatchSettings,
  FIRST_JOB,
  insertDigestsAbove,
  linkDigests,
  selectRerunPage,
} from "../../shared/db/jobs/reruns.ts";
import type { RerunCandidate, RerunFilter } from "../../shared/db/jobs/reruns.ts";
import type { StaleReason } from "../../shared/db/jobs/stale.ts";

export type ChosenJobs = {
  readonly jobs: number;
  /** How many of them are stale for which reason; one may have several. */
  readonly reasons: ReadonlyMap<StaleReason, number>;
};

/** Jobs that are looked at, and at most inserted, by one statement. */
const PORTION_JOBS = 2_000;

/** Goes through a batch a portion at a time. @param take is given the chosen jobs of each */
export async function chooseJobs(
  database: Database,
  batchId: string,
  filter: RerunFilter,
  take: (chosen: readonly RerunCandidate[]) => Promise<void>,
): Promise<ChosenJobs> {
  const reasons = new Map<StaleReason, number>();
  let jobs = 0;
  let after: string | null = FIRST_JOB;
  while (after !== null) {
    const page = await selectRerunPage(database, batchId, filter, { after, limit: PORTION_JOBS });
    for (const reason of page.chosen.flatMap((job) => job.reasons)) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    jobs += page.chosen.length;
    if (page.chosen.length > 0) await take(page.chosen);
    after = page.last;
  }
  return { jobs, reasons };
}

/** A batch that loads, the one whose jobs it repeats, and what is decided otherwise than for that one. */
export type RerunBatch = {
  readonly batchId: string;
  readonly repeats: string;
  readonly settings: BatchSettings;
};

/**
 * Fills a new batch with the chosen jobs of another and with the digests above them, and opens it. Nothing is kept of the
 * jobs but one portion. A batch that could not be filled, or for which there is no job, is deleted.
 */
export async function rerunJobs(
  database: Database,
  { batchId, repeats, settings }: RerunBatch,
  filter: RerunFilter,
  toNewJob: (job: RerunCandidate) => NewJob,
): Promise<ChosenJobs & { readonly digests: number }> {
  try {
    await copyBatchSettings(database, repeats, batchId);
    await changeBatch(database, batchId, settings);
    const chosen = await chooseJobs(database, repeats, filter, async (jobs) => {
      await insertJobs(database, batchId, jobs.map(toNewJob));
    });
    if (chosen.jobs === 0) {
      await deleteBatch(database.within("build"), batchId);
      return { ...chosen, digests: 0 };
    }
    // Who names kinds or paths means those, and no digest above them.
    const isWhole = Object.values(filter.where).every((values) => values === null);
    const digests = isWhole ? await insertDigestsAbove(database, repeats, batchId) : 0;
    await linkDigests(database, batchId);
    await openBatch(database, batchId);
    return { ...chosen, digests };
  } catch (error) {
    await deleteBatch(database.within("build"), batchId);
    throw error;
  }
}
