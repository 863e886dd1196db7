import { z } from "zod";
import { KINDS } from "../job.ts";
import { formatTask } from "../kinds.ts";
import type { Queryable } from "../store/connection/database.ts";
import { oneLine } from "./run-evidence.ts";
import { fact, ids, state, tableOf, time } from "./section.ts";
import type { Page, Table } from "./section.ts";

const json = z.record(z.string(), z.unknown());

const reviewSchema = z.array(
  z.object({
    job_id: z.string(),
    batch: z.string(),
    custom_id: z.string(),
    kind: z.enum(KINDS),
    run_id: z.string(),
    input: json,
    state: z.string(),
    why: z.string(),
    draft: z.string(),
    correction: z.string().nullable(),
    facts: z.array(z.string()),
    reason: z.string().nullable(),
    requested_at: z.date(),
    decided_by: z.string().nullable(),
    decided_at: z.date().nullable(),
  }),
);
export type ReviewRow = z.infer<typeof reviewSchema>[number];

type ReviewFilter = {
  readonly batchId: string | null;
  readonly which: "waiting" | "decided" | "all";
  readonly jobId?: string;
  readonly limit: number;
};

/** Answers that a person is asked about, oldest first. One whose job has ended otherwise does not wait. */
export async function selectReviews(
  db: Queryable,
  { batchId, which, jobId, limit }: ReviewFilter,
): Promise<readonly ReviewRow[]> {
  const { rows } = await db.query(
    `select v.job_id, v.batch, v.custom_id, v.kind, v.run_id, j.input, v.state, v.why, v.draft, v.correction, v.facts, v.reason,
            v.requested_at, v.decided_by, v.decided_at
       from nightdesk.reviews v join nightdesk_data.jobs j using (job_id)
      where ($1::uuid is null or v.batch_id = $1) and ($3::uuid is null or v.job_id = $3)
        and case $2 when 'waiting' then v.state = 'waiting' and j.waiting_for is not distinct from 'review'
                    when 'decided' then v.state <> 'waiting' else true end
      order by v.requested_at, v.job_id limit $4`,
    [batchId, which, jobId ?? null, limit],
  );
  return reviewSchema.parse(rows);
}

export const reviewTable = (rows: readonly ReviewRow[]): Table =>
  tableOf(rows, [
    ids("job", (row) => row.job_id),
    ["state", (row) => state(row.state), { leftOut: 2 }],
    ["batch", ({ batch }) => batch, { cut: "middle", least: 12, leftOut: 3 }],
    ["asked", ({ kind, input }) => oneLine(formatTask(kind, input), "brief"), { least: 20 }],
    ["answer", ({ draft }) => oneLine(draft, "brief"), { least: 20 }],
    ["since", (row) => time(row.requested_at, "minutes"), { leftOut: 1 }],
  ]);

/** An answer with all that a decision rests on. */
export const reviewPage = (row: ReviewRow): Page => ({
  title: `Answer of job ${row.job_id}`,
  facts: [
    fact("Batch", `${row.batch}, ${row.custom_id}`),
    fact("Asked", oneLine(formatTask(row.kind, row.input), "full")),
    fact("State", row.decided_by === null ? row.state : `${row.state} by ${row.decided_by}`),
    fact("Why", row.why),
    fact("Checks and evidence", `nightdesk runs show ${row.run_id}`),
  ],
  sections: [
    {
      kind: "section",
      id: "draft",
      title: "Answer",
      blocks: [{ kind: "quote", text: row.draft }],
    },
    ...(row.correction === null
      ? []
      : [
          {
            kind: "section" as const,
            id: "correction",
            title: "Corrected",
            blocks: [{ kind: "quote" as const, text: row.correction }],
          },
        ]),
  ],
});
