import { z } from "zod";
import type { NotifyInput } from "../job.ts";
import type { Queryable } from "../store/connection/database.ts";
import { selectGrades } from "./claims.ts";
import { findBatch, selectProblems } from "./batches.ts";

const workSchema = z.array(
  z.object({
    started_at: z.date().nullable(),
    prompt_tokens: z.coerce.number(),
    completion_tokens: z.coerce.number(),
  }),
);

/** What is told of the end of a batch: `{event, batch_id, batch, …}`, ready to be JSON. `event_id` stays the same over repeats. */
export type BatchEnd = Readonly<Record<string, unknown>> & { readonly event_id: string };

/** @returns undefined when the batch is gone, or was opened again since that end */
export async function readBatchEnd(
  db: Queryable,
  { batch_id: batchId, finished_at: finishedAt }: Pick<NotifyInput, "batch_id" | "finished_at">,
): Promise<BatchEnd | undefined> {
  const batch = await findBatch(db, batchId);
  const { rows } = await db.query(
    `select min(j.started_at) as started_at, coalesce(sum(r.prompt_tokens), 0) as prompt_tokens,
            coalesce(sum(r.completion_tokens), 0) as completion_tokens
       from nightdesk_data.batches b left join nightdesk_data.jobs j using (batch_id) left join nightdesk_data.runs r using (job_id)
      where b.batch_id = $1 and b.finished_at = $2::timestamptz group by b.batch_id`,
    [batchId, finishedAt],
  );
  const [work] = workSchema.parse(rows);
  if (work === undefined || batch === undefined) return undefined;
  const grades = await selectGrades(db, batchId);
  const problems = await selectProblems(db, batchId);
  return {
    event: "batch_end",
    batch_id: batch.batchId,
    batch: batch.name,
    origin: batch.origin,
    state: batch.state,
    total: batch.total,
    counts: batch.counts,
    created_at: batch.createdAt,
    started_at: work.started_at,
    finished_at: batch.finishedAt,
    grades: { supported: grades.supported, partly: grades.partly, unsupported: grades.unsupported },
    claims_dropped: grades.dropped,
    usage: { prompt_tokens: work.prompt_tokens, completion_tokens: work.completion_tokens },
    problems: problems.map(({ state, code, jobs }) => ({ state, error_code: code, jobs })),
    report: `nightdesk batch report ${quoteForShell(batch.name)}`,
    event_id: `${batch.batchId}-${new Date(finishedAt).toISOString()}`,
  };
}

/** The name as one word of a shell. */
const quoteForShell = (name: string): string =>
  /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
