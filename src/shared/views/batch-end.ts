import { z } from "zod";
import type { NotifyInput } from "../job/job.ts";
import { RUN_GRADES } from "../job/run-result.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowOf } from "../store/connection/rows.ts";
import { quoteOnce } from "../terminal/styled-text.ts";
import { selectBatchWaiting } from "./inbox.ts";
import { selectGrades } from "./claims.ts";
import { readBatchDigest } from "./batch-digest.ts";
import { findBatch, selectProblems } from "./batches.ts";
import type { BatchProgress } from "./batches.ts";

const workSchema = z.object({
  started_at: z.date().nullable(),
  prompt_tokens: z.coerce.number(),
  completion_tokens: z.coerce.number(),
});

/** The JSON payload of a webhook about a batch: `{event, batch_id, batch, …}`. `event_id` is the same in every repeat. */
export type BatchEvent = Readonly<Record<string, unknown>> & { readonly event_id: string };

/**
 * @param dashboard dashboard.public_url
 * @returns undefined when there is nothing left to report
 */
export async function readBatchEvent(
  db: Queryable,
  event: Pick<NotifyInput, "event" | "batch_id" | "at">,
  dashboard: string | null,
): Promise<BatchEvent | undefined> {
  const batch = await findBatch(db, event.batch_id);
  if (batch === undefined) return undefined;
  const payload = await (event.event === "batch_end"
    ? readBatchEnd(db, batch, event.at)
    : readApprovalNeeded(db, batch));
  return payload && { ...payload, text: await readBatchDigest(db, batch, dashboard) };
}

/** @returns undefined when the batch was opened again since that end */
async function readBatchEnd(
  db: Queryable,
  batch: BatchProgress,
  finishedAt: NotifyInput["at"],
): Promise<BatchEvent | undefined> {
  const { batchId } = batch;
  const work = await rowOf(db, workSchema, [batchId, finishedAt])`
     select min(j.started_at) as started_at, coalesce(sum(r.prompt_tokens), 0) as prompt_tokens,
            coalesce(sum(r.completion_tokens), 0) as completion_tokens
       from nightdesk_data.batches b left join nightdesk_data.jobs j using (batch_id) left join nightdesk_data.runs r using (job_id)
      where b.batch_id = $1 and b.finished_at = $2::timestamptz group by b.batch_id`;
  if (work === undefined) return undefined;
  const grades = await selectGrades(db, batchId);
  const problems = await selectProblems(db, batchId);
  return {
    ...factsOf("batch_end", batch),
    started_at: work.started_at,
    finished_at: batch.finishedAt,
    grades: Object.fromEntries(RUN_GRADES.map((grade) => [grade, grades[grade]])),
    claims_dropped: grades.dropped,
    usage: { prompt_tokens: work.prompt_tokens, completion_tokens: work.completion_tokens },
    problems: problems.map(({ state, code, jobs }) => ({ state, error_code: code, jobs })),
    report: `nightdesk batch report ${shortQuote(batch.name)}`,
    event_id: `${batch.batchId}-${new Date(finishedAt).toISOString()}`,
  };
}

/** The fields that every event has. */
const factsOf = (event: NotifyInput["event"], batch: BatchProgress) => ({
  event,
  batch_id: batch.batchId,
  batch: batch.name,
  origin: batch.origin,
  state: batch.state,
  total: batch.total,
  counts: batch.counts,
  created_at: batch.createdAt,
});

/** Waiting calls that one event lists. */
const MOST_CALLS = 20;

/** Only tools and risks, nothing that a model wrote. @returns undefined when no decision is pending any more */
async function readApprovalNeeded(
  db: Queryable,
  batch: BatchProgress,
): Promise<BatchEvent | undefined> {
  const { batchId } = batch;
  const { groups, answers, uncertain } = await selectBatchWaiting(db, batchId, MOST_CALLS);
  if (groups.length + answers + uncertain === 0) return undefined;
  return {
    ...factsOf("approval_needed", batch),
    waiting: groups.map((group) => ({
      approval_id: group.approval_id,
      tool: group.tool,
      risks: group.risks,
      runs: group.requests,
      expires_at: group.expires_at,
    })),
    answers,
    uncertain,
    review: `nightdesk approvals review --batch ${shortQuote(batch.name)}`,
    event_id: `${batch.batchId}-approval_needed`,
  };
}

/** Quotes a name as one word of a shell. */
const shortQuote = (name: string): string => (/^[\w.-]+$/.test(name) ? name : quoteOnce(name));
