import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseGone } from "../../shared/db/database.ts";
import type { ClaimedJob } from "../../shared/db/jobs/claim-job.ts";
import type { RunRecord, Settled } from "../../shared/db/jobs/settle-run.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Outcome } from "../../shared/run-result.ts";
import { startTrace } from "../../shared/run-trace.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { settleError, settleOutcome } from "../../shared/settlement.ts";
import type { Settlement } from "../../shared/settlement.ts";
import type { RunsInHand } from "./runs-in-hand.ts";

export type DeliveryParts = {
  readonly runs: RunsInHand;
  readonly logger: Logger;
  readonly claim: (delivery: Delivery) => Promise<ClaimedJob | undefined>;
  readonly run: (job: ClaimedJob, trace: RunTrace, signal: AbortSignal) => Promise<Outcome>;
  readonly settle: (run: FinishedRun) => Promise<Settled | undefined>;
};

type Delivery = { readonly jobId: string; readonly dispatch: number };
export type FinishedRun = {
  readonly job: ClaimedJob;
  readonly runMs: number;
  readonly settlement: Settlement;
  readonly record: RunRecord;
};

/**
 * One delivery: claim, run, settle. A delivery that is not the row's current one ends without effect, and a
 * result that comes after the lease was lost is dropped.
 */
export async function processDelivery(delivery: Delivery, parts: DeliveryParts): Promise<void> {
  const job = await parts.claim(delivery);
  if (job === undefined) return;
  const log = parts.logger.child({
    job_id: job.jobId,
    run_id: job.runId,
    batch_id: job.batchId,
    kind: job.input.kind,
  });
  log.debug({ attempt: job.attempt }, "job running");
  // The lease is renewed until the result is written, however long the database takes.
  const signal = parts.runs.start(job.runId);
  try {
    const finished = await runJob(job, { run: parts.run, signal, log });
    if (finished === undefined) log.warn("the run lost its lease; its result is dropped");
    else report(finished, await settleSafely(finished, parts.settle, log), log);
  } finally {
    parts.runs.end(job.runId);
  }
}

type RunParts = Pick<DeliveryParts, "run"> & { readonly signal: AbortSignal; readonly log: Logger };

async function runJob(
  job: ClaimedJob,
  { run, signal, log }: RunParts,
): Promise<FinishedRun | undefined> {
  const startedAt = performance.now();
  const trace = startTrace();
  const settlement = await run(job, trace, signal).then(settleOutcome, (error: unknown) => {
    const settled = settleError(signal.aborted ? signal.reason : error, job);
    if (settled?.kind === "failed" || settled?.kind === "retry") {
      log.error({ err: error, code: settled.code }, "job broke");
    }
    return settled;
  });
  if (settlement === undefined) return undefined;
  return { job, runMs: performance.now() - startedAt, settlement, record: trace.record() };
}

/** A result that the database refuses is a fault of ours: it is settled as such, and never left to the lease. */
async function settleSafely(
  finished: FinishedRun,
  settle: DeliveryParts["settle"],
  log: Logger,
): Promise<Settled | undefined> {
  try {
    return await settleWhenReachable(() => settle(finished), log);
  } catch (error) {
    if (isDatabaseGone(error)) throw error;
    log.error({ err: error }, "the result could not be stored");
    const settlement = settleError(error, finished.job);
    if (settlement === undefined) return undefined;
    const record = startTrace().record();
    return settleWhenReachable(() => settle({ ...finished, settlement, record }), log);
  }
}

const SETTLE_RETRIES_MS = [100, 250, 500, 1_000, 2_000, 4_000, 8_000];

/** A result in hand is worth waiting for the database to come back; the fencing token keeps it harmless. */
async function settleWhenReachable<T>(settle: () => Promise<T>, log: Logger): Promise<T> {
  for (const delay of SETTLE_RETRIES_MS) {
    try {
      return await settle();
    } catch (error) {
      if (!isDatabaseGone(error)) throw error;
      log.warn({ err: error }, "the database is away; the result waits for it");
      await sleep(delay);
    }
  }
  return settle();
}

function report(
  { settlement, runMs }: FinishedRun,
  settled: Settled | undefined,
  log: Logger,
): void {
  if (settled === undefined) {
    log.warn("the run lost its lease; its result is dropped");
    return;
  }
  const code = "code" in settlement ? { code: settlement.code } : {};
  log.info({ state: settlement.kind, run_ms: Math.round(runMs), ...code }, "job settled");
}
