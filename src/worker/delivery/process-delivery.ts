import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../shared/logger.ts";
import { REST_MS, startTrace } from "../run-trace.ts";
import type { RunTrace } from "../run-trace.ts";
import { inSpan } from "../../shared/metrics/traces.ts";
import type { OpenSpan } from "../../shared/metrics/traces.ts";
import { RunAborted, settleError, settleOutcome } from "../../shared/job/settlement.ts";
import type { RunEnd, Settlement } from "../../shared/job/settlement.ts";
import { isDatabaseGone } from "../../shared/store/connection/database.ts";
import type { Database, Queryable } from "../../shared/store/connection/database.ts";
import { takeBackLate } from "../../shared/store/hosts/exams.ts";
import { completeBatches } from "../../shared/store/jobs/batches.ts";
import type { CompletedBatch } from "../../shared/store/jobs/batches.ts";
import { claimJob, lockJob, isLeftToOthers } from "../../shared/store/jobs/claim-job.ts";
import type { ClaimedJob } from "../../shared/store/jobs/claim-job.ts";
import { requeueMissing } from "../../shared/store/jobs/dispatch.ts";
import { isSettled, settleRun } from "../../shared/store/jobs/settle-run.ts";
import type { RunRecord } from "../../shared/store/jobs/run-tables.ts";
import type { EndedRun } from "../../shared/store/jobs/settle-run.ts";
import { requestReview } from "../../shared/store/jobs/draft-reviews.ts";
import { queueChecks } from "../../shared/store/jobs/verification.ts";
import { retryOnDisconnect } from "../loop.ts";
import type { FaultLog } from "../loop.ts";
import type { InFlightRun, InFlightRuns } from "./in-flight.ts";

type DeliveryParts = {
  readonly runs: InFlightRuns;
  readonly logger: Logger;
  readonly faults: FaultLog;
  /** Claims the job. A repeated claim with the same run id returns the job that the first one claimed. */
  readonly claim: (delivery: Delivery, runId: string) => Promise<ClaimedJob | undefined>;
  readonly run: (job: ClaimedJob, trace: RunTrace, signal: AbortSignal) => Promise<RunEnd>;
  readonly settle: (run: FinishedRun) => Promise<"settled" | "lost">;
};

export type Delivery = { readonly jobId: string; readonly dispatch: number };
export type FinishedRun = {
  readonly job: ClaimedJob;
  readonly runMs: number;
  readonly settlement: Settlement;
  readonly record: RunRecord;
};

/**
 * Processes one delivery: claim, run, settle. A delivery that is not the row's current one has no effect, and a result after the
 * loss of the lease is dropped.
 */
export async function processDelivery(delivery: Delivery, parts: DeliveryParts): Promise<void> {
  const job = await claimSafely(delivery, parts);
  if (job === undefined) return;
  const log = parts.logger.child({
    job_id: job.jobId,
    run_id: job.runId,
    batch_id: job.batchId,
    kind: job.input.kind,
  });
  log.debug({ attempt: job.attempt }, "job running");
  // The lease is renewed until the result is stored, however long the database takes.
  const { signal, moved } = parts.runs.start(job.runId);
  try {
    await inSpan(`run ${job.input.kind}`, spanOf(job), async (span) => {
      const finished = await runJob(job, { run: parts.run, signal, moved, log });
      moved(REST_MS);
      const end = finished === undefined ? "lost" : await settleSafely(finished, parts, log);
      logResult(finished, end, log);
      setSpan(span, finished, end);
    });
  } finally {
    parts.runs.end(job.runId);
  }
}

/** The only job of a batch continues the trace of the command that queued it; each of many jobs has a trace that links to it. */
function spanOf({ jobId, runId, batchId, input, attempt, trace }: ClaimedJob) {
  const queuedBy = trace === null ? [] : [trace.context];
  return {
    kind: "consumer" as const,
    facts: {
      "nightdesk.job_id": jobId,
      "nightdesk.run_id": runId,
      "nightdesk.batch_id": batchId,
      "nightdesk.kind": input.kind,
      "nightdesk.attempt": attempt,
    },
    ...(trace?.origin === "ad_hoc" ? { parent: trace.context } : { links: queuedBy }),
  };
}

function setSpan(span: OpenSpan, finished: FinishedRun | undefined, end: "settled" | "lost"): void {
  if (finished === undefined || end === "lost") {
    span.fail("lost");
    return;
  }
  const { settlement, record } = finished;
  const code = "code" in settlement ? settlement.code : null;
  const { promptTokens, completionTokens } = record.usage;
  span.set({
    "nightdesk.outcome": settlement.kind,
    "nightdesk.error_code": code,
    "nightdesk.verification": record.verification.state,
    "gen_ai.usage.input_tokens": promptTokens,
    "gen_ai.usage.output_tokens": completionTokens,
  });
  // A refusal is a valid result, so the span does not fail.
  if (settlement.kind === "failed" || settlement.kind === "retry") span.fail(settlement.code);
}

/** A claim may be stored though its reply was lost: without a retry nobody would run the job until its lease expires. */
const CLAIM_RETRIES_MS = [100, 250, 500, 1_000, 2_000];

function claimSafely(
  delivery: Delivery,
  { claim, faults }: Pick<DeliveryParts, "claim" | "faults">,
): Promise<ClaimedJob | undefined> {
  const runId = randomUUID();
  return retryOnDisconnect(
    () => claim(delivery, runId),
    CLAIM_RETRIES_MS,
    (error) => {
      faults.broke("jobs could not be claimed", error);
    },
  );
}

type RunParts = Pick<DeliveryParts, "run"> & InFlightRun & { readonly log: Logger };

/** Time for an aborted run that nobody waits for to notice the abort; shorter than the rest of its lease. */
const ABANDON_MS = 5_000;

/** Rejects some time after the abort of a run that is stuck or has lost its job, so that it does not keep its slot for ever. */
function rejectAbandoned(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener(
      "abort",
      () => {
        const { reason } = signal as { readonly reason: unknown };
        const isAwaited = reason instanceof RunAborted && reason.why !== "lease_lost";
        if (!isAwaited) setTimeout(reject, ABANDON_MS, reason).unref();
      },
      { once: true },
    );
  });
}

async function runJob(
  job: ClaimedJob,
  { run, signal, moved, log }: RunParts,
): Promise<FinishedRun | undefined> {
  const startedAt = performance.now();
  const trace = startTrace(moved);
  const ended = Promise.race([run(job, trace, signal), rejectAbandoned(signal)]);
  const settlement = await ended.then(settleUnaborted(signal)).catch((error: unknown) => {
    const settled = settleError(signal.aborted ? signal.reason : error, job);
    if (settled?.kind === "failed" || settled?.kind === "retry") {
      log.error({ err: error, code: settled.code }, "job broke");
    }
    return settled;
  });
  if (settlement === undefined) return undefined;
  return { job, runMs: performance.now() - startedAt, settlement, record: trace.record() };
}

/** Keeps a result that arrived before its run noticed an abort; but an answer that is still pending is dropped. */
const settleUnaborted =
  (signal: AbortSignal) =>
  (end: RunEnd): Settlement => {
    if (end.kind !== "succeeded" && end.kind !== "refused") signal.throwIfAborted();
    return settleOutcome(end);
  };

const SETTLE_RETRIES_MS = [100, 250, 500, 1_000, 2_000, 4_000, 8_000];

/**
 * Waits with a finished result for the database to come back; the fencing token makes that safe. A result that the database
 * rejects is settled as a fault, with only its cost, and never left until its lease expires.
 */
async function settleSafely(
  finished: FinishedRun,
  { settle, faults }: Pick<DeliveryParts, "settle" | "faults">,
  log: Logger,
): Promise<"settled" | "lost"> {
  const settleSoon = (run: FinishedRun) =>
    retryOnDisconnect(
      () => settle(run),
      SETTLE_RETRIES_MS,
      (error) => {
        faults.broke("results wait for the database", error);
      },
    );
  try {
    return await settleSoon(finished);
  } catch (error) {
    if (isDatabaseGone(error)) throw error;
    log.error({ err: error }, "the result could not be stored");
    const settlement = settleError(error, finished.job);
    if (settlement === undefined) return "lost";
    const { usage, modelMs } = finished.record;
    const record = { ...startTrace().record(), usage, modelMs };
    return settleSoon({ ...finished, settlement, record });
  }
}

function logResult(finished: FinishedRun | undefined, end: "settled" | "lost", log: Logger): void {
  if (finished === undefined || end === "lost") {
    log.warn("the job was taken from this run or deleted with its batch; the result is dropped");
    return;
  }
  const { settlement, runMs } = finished;
  const code = "code" in settlement ? { code: settlement.code } : {};
  log.info({ state: settlement.kind, run_ms: Math.round(runMs), ...code }, "job settled");
}

/** During this pause other workers take deliveries, and this slot takes none. */
const RELEASED_REST_MS = 1_000;

/**
 * Claims the job of a delivery. A job that this worker can't run, because its host is down, is returned for a worker with
 * another host, and the slot pauses.
 */
export async function claimDelivery(
  database: Database,
  delivery: Delivery,
  workerId: string,
  runId: string,
): Promise<ClaimedJob | undefined> {
  const job = await claimJob(database, delivery, workerId, runId);
  if (job === undefined && (await isLeftToOthers(database, delivery, workerId))) {
    await requeueMissing(database, [delivery]);
    await sleep(RELEASED_REST_MS);
  }
  return job;
}

/** The most other open jobs with which it is still worth checking whether the batch has ended. */
const NEARLY_DONE = 64;

/** The facts of a worker that are stored with its runs. */
export type MadeWith = Omit<EndedRun, "runId" | "runMs">;

type DraftParts = { readonly database: Database; readonly job: ClaimedJob; readonly run: EndedRun };

const needsMore = (settlement: Settlement): boolean =>
  settlement.kind === "drafted" ||
  (settlement.kind === "parked" && settlement.review !== undefined);

/** Settles and queues checks or a review in one transaction, so that no job waits for something that was not requested. */
const settleWithMore = (
  { database, job, run }: DraftParts,
  settlement: Settlement,
  record: RunRecord,
): ReturnType<typeof settleRun> =>
  database.transaction(async (db) => {
    if (!(await lockJob(db, run.runId))) return undefined;
    if (settlement.kind === "drafted") await queueChecks(db, job, settlement);
    if (settlement.kind === "parked" && settlement.review !== undefined)
      await requestReview(db, job, settlement.review);
    return settleJudged(db, run, settlement, record);
  });

/** Takes confirmations back at once if their judge has lost its approval meanwhile. */
async function settleJudged(
  db: Queryable,
  ...[run, settlement, record]: Settling
): ReturnType<typeof settleRun> {
  const settled = await settleRun(db, run, settlement, record);
  if (settled !== undefined && isJudged(record)) await takeBackLate(db, run.runId);
  return settled;
}

type Settling = [run: EndedRun, settlement: Settlement, record: RunRecord];

const isJudged = ({ claims }: RunRecord): boolean =>
  claims.some(({ reason }) => reason === "confirmed");

type SettleParts = { readonly database: Database; readonly madeWith: MadeWith };

/**
 * Stores the result of a run, and completes its batch after the last one. May be called again after the connection broke.
 * @returns `lost` if the run no longer held the job; nothing was stored then
 */
export async function settleFinished(
  { database, madeWith }: SettleParts,
  { job, runMs, settlement, record }: FinishedRun,
  onCompleted: (batches: readonly CompletedBatch[]) => void,
): Promise<"settled" | "lost"> {
  const run = { runId: job.runId, runMs, ...madeWith };
  const settled = needsMore(settlement)
    ? await settleWithMore({ database, job, run }, settlement, record)
    : isJudged(record)
      ? await database.transaction((db) => settleJudged(db, run, settlement, record))
      : await settleRun(database, run, settlement, record);
  if (settled === undefined) return (await isSettled(database, job.runId)) ? "settled" : "lost";
  if (settled.remaining < NEARLY_DONE) {
    // The result is stored. If this fails, the upkeep of any worker completes the batch a moment later.
    await completeBatches(database, job.batchId).then(onCompleted, () => undefined);
  }
  return "settled";
}
