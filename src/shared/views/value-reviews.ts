import { z } from "zod";
import { Failure } from "../failure.ts";
import { formatLocator, locatorSchema } from "../job/locator.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf, valueOf } from "../store/connection/rows.ts";
import { decideValue } from "../store/index/write-backs.ts";
import type { ValueDecision } from "../store/index/write-backs.ts";
import { VALUE_DECISIONS } from "../store/jobs/field-reviews.ts";
import { valueText } from "./field-blocks.ts";
import { NAME, WORDS, code, fact, sectionOf, state, tableOf, time } from "./section.ts";
import type { Page, Table } from "./section.ts";
import { quoteForShell } from "../terminal/styled-text.ts";

const valueReviewSchema = z.object({
  write_id: z.string(),
  /** `w` and write_id. */
  review: z.string(),
  state: z.enum(["waiting", ...VALUE_DECISIONS]),
  job_id: z.string(),
  custom_id: z.string(),
  batch_id: z.string(),
  batch: z.string(),
  source: z.string(),
  remote_id: z.string(),
  path: z.string().nullable(),
  kind: z.string(),
  name: z.string(),
  pointer: z.string(),
  value: z.unknown(),
  /** Why it was withheld; null once it is written. */
  why: z.string().nullable(),
  /** The state after the last write-back: withheld, written, … */
  written_state: z.string(),
  quote: z.string().nullable(),
  locator: locatorSchema.nullable(),
  line_start: z.number().nullable(),
  correction: z.string().nullable(),
  reason: z.string().nullable(),
  asked_at: z.date(),
  decided_by: z.string().nullable(),
  decided_at: z.date().nullable(),
  /** Whether the document or its metadata has changed since the value was read. */
  is_changed: z.boolean(),
});
/** An extracted value that a person decides on before the write-back writes it. */
export type ValueReview = z.infer<typeof valueReviewSchema>;

type ValueFilter = {
  readonly batchId: string | null;
  readonly which: "waiting" | "all";
  /** The id of one row. */
  readonly writeId?: string;
  readonly limit: number;
};

/** Values for review, the oldest batch first, those of a document together. */
export const selectValueReviews = (
  db: Queryable,
  { batchId, which, writeId, limit }: ValueFilter,
): Promise<readonly ValueReview[]> =>
  rowsOf(db, valueReviewSchema, [batchId, which, writeId ?? null, limit])`
     select w.write_id::text, 'w' || w.write_id as review, case when w.is_waiting then 'waiting' else w.decision end as state, w.job_id, j.custom_id,
            w.batch_id, b.name as batch, w.source, w.remote_id, f.path, w.kind, w.name, w.pointer, w.value, w.reason as why,
            w.state as written_state, v.quote, v.locator, v.line_start, w.correction, w.decision_reason as reason, w.asked_at,
            w.decided_by, w.decided_at,
            (f.sha256 = w.sha256 and f.described_at <= greatest(r.started_at, (
              select max(greatest(o.written_at, o.undone_at)) from nightdesk_data.write_backs o
               where o.source = w.source and o.remote_id = w.remote_id))) is not true as is_changed
       from nightdesk_data.write_backs w
       join nightdesk_data.batches b using (batch_id)
       join nightdesk_data.jobs j on j.job_id = w.job_id
       join nightdesk_data.jobs o on o.job_id = coalesce(j.duplicate_of, j.job_id)
       left join nightdesk_data.runs r on r.run_id = o.run_id
       left join nightdesk_data.remote_files f on f.source = w.source and f.remote_id = w.remote_id
       left join lateral (
         select quote, locator, line_start from nightdesk_data.field_bindings v
          where v.run_id = o.run_id and v.pointer = w.pointer order by v.ordinal limit 1) v on true
      where ($1::uuid is null or w.batch_id = $1) and ($3::bigint is null or w.write_id = $3)
        and (w.is_waiting or $2 = 'all' and w.decision is not null)
      order by b.created_at, w.batch_id, w.source, w.remote_id, w.write_id limit $4`;

/** The write_id in the name of a review: `w17`. */
export const writeIdOf = (given: string): string | undefined => /^w(\d{1,18})$/i.exec(given)?.[1];

/** @returns undefined if the value has neither a pending review nor a decision */
export async function findValueReview(
  db: Queryable,
  writeId: string,
): Promise<ValueReview | undefined> {
  const filter = { batchId: null, which: "all", writeId, limit: 1 } as const;
  const [review] = await selectValueReviews(db, filter);
  return review;
}

/** How many values of a batch wait for a review. */
export const countValuesWaiting = (db: Queryable, batchId: string): Promise<number> =>
  valueOf(db, z.coerce.number(), [batchId])`
     select count(*) as values from nightdesk_data.write_backs where batch_id = $1 and is_waiting`;

export const CHANGED =
  "The document has changed since the value was read: sync its source, and extract it again. It can only be rejected.";

/**
 * Stores a person's decision on a value. It does not write the value. The first decision wins.
 * @returns a sentence on what follows from it
 * @throws Failure INPUT_INVALID if the decision is rejected
 */
export async function takeDecision(
  db: Queryable,
  row: ValueReview,
  { decision, decidedBy, ...words }: ValueDecision,
): Promise<string> {
  const wordsOf = (text: string | null): string | null => text?.trim() || null;
  const [correction, reason] = [wordsOf(words.correction), wordsOf(words.reason)];
  const decided = { decision, decidedBy, correction, reason };
  const problem = whyNotDecided(row, decided);
  if (problem !== undefined) throw unchanged(problem);
  if (!(await decideValue(db, row, decided)))
    throw unchanged(`${row.review} was decided or withheld anew meanwhile: look at it again.`);
  return decision === "rejected"
    ? `${row.review} is rejected: it is never written.`
    : `${row.review} is ${decision}: the next nightdesk write-back ${quoteForShell(row.batch)} writes it.`;
}

export const unchanged = (why: string): Failure =>
  new Failure("INPUT_INVALID", `Nothing was changed. ${why}`);

function whyNotDecided(
  { review, state: of, value, is_changed: isChanged, decided_by: by }: ValueReview,
  { decision, correction }: ValueDecision,
): string | undefined {
  if (of !== "waiting") return `${review} was ${of}${by === null ? "" : ` by ${by}`} before.`;
  if (isChanged && decision !== "rejected") return CHANGED;
  if (decision === "accepted" && value === null)
    return "There is no value to accept: correct it, or reject it.";
  return decision === "corrected" && correction === null
    ? "A correction needs the value in your own words."
    : undefined;
}

/** `letters 12.pdf, Amount`. */
export const valueTitle = ({ source, remote_id, kind, name }: ValueReview): string =>
  `${source} ${remote_id}, ${NOUNS[kind] ?? name}${kind === "tag" ? ` ${name}` : ""}`;

const NOUNS: Readonly<Record<string, string>> = {
  correspondent: "correspondent",
  document_type: "document type",
  tag: "tag",
};

/** `page 3, line 12 of its text`; null without a place. */
export function valuePlace({ locator, line_start: line }: ValueReview): string | null {
  const parts = [
    ...(locator === null ? [] : [formatLocator(locator)]),
    ...(line === null ? [] : [`line ${line} of its text`]),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}

/** Values for review, one a row. */
export const valueTable = (rows: readonly ValueReview[]): Table =>
  tableOf(rows, [
    ["review", (row) => code(row.review), NAME],
    ["state", (row) => state(row.state), { leftOut: 3 }],
    ["batch", (row) => row.batch, { cut: "middle", least: 12, leftOut: 4 }],
    ["to", valueTitle, { cut: "middle", least: 12 }],
    ["value", (row) => valueText(row.value), { least: 10 }],
    ["why", (row) => row.why, { ...WORDS, least: 20 }],
    ["words", (row) => row.quote, { ...WORDS, least: 12, leftOut: 2 }],
    ["since", (row) => time(row.asked_at, "minutes"), { leftOut: 1 }],
  ]);

/** A value with all that a reviewer needs to decide. */
export const valuePage = (row: ValueReview): Page => ({
  title: `Value ${row.review}`,
  facts: [
    fact("Batch", `${row.batch}, ${row.custom_id}`),
    fact("File", row.path ?? "in no mirror any more"),
    fact("To be written to", valueTitle(row)),
    fact("Value", `${valueText(row.value)} (${row.pointer})`),
    ...(row.correction === null ? [] : [fact("Corrected to", row.correction)]),
    fact("State", stateText(row)),
    ...(row.reason === null ? [] : [fact("Reason", row.reason)]),
    ...(row.why === null ? [] : [fact("Why it was withheld", row.why)]),
    ...(row.is_changed ? [fact("Changed", CHANGED)] : []),
    fact("Place", valuePlace(row) ?? "no words of the document carry it"),
    fact("Checks and evidence", `nightdesk runs show ${row.job_id}`),
  ],
  sections: sectionOf(
    "words",
    "Words that carry it",
    row.quote === null ? [] : [{ kind: "quote", text: row.quote }],
  ),
});

const stateText = ({ state: of, decided_by: by, written_state: written }: ValueReview): string =>
  of === "waiting" || by === null ? of : `${of} by ${by}, ${written}`;
