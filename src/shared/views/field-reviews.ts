import { z } from "zod";
import { parseJson } from "../schema/json-value.ts";
import { cleanForDatabase, quoteForShell } from "../terminal/styled-text.ts";
import type { Queryable } from "../store/connection/database.ts";
import { rowsOf } from "../store/connection/rows.ts";
import { selectWrittenTo } from "../store/index/write-backs.ts";
import { decidedColumns, decideField } from "../store/jobs/field-reviews.ts";
import type { FieldDecision } from "../store/jobs/field-reviews.ts";
import { fieldName, valueText } from "./field-blocks.ts";
import { unchanged } from "./value-reviews.ts";

const fieldSchema = z.object({
  ...{ job_id: z.string(), batch_id: z.string(), run_id: z.string(), ordinal: z.number() },
  ...{ pointer: z.string(), quote: z.string().nullable() },
  /** The path of the file in the input of the job. */
  path: z.string().nullable(),
  value: decidedColumns.correction,
  ...decidedColumns,
});
/** A value of a successful extraction, and the decision of a person on it. */
export type FieldReview = z.infer<typeof fieldSchema>;

type FieldFilter = {
  readonly batchId?: string | null;
  /** A duplicate has the values of the job that ran in its place. */
  readonly jobId?: string;
  readonly which: "decided" | "all";
  readonly limit: number;
};

/** Values of extractions; those of one job in their order. */
export const selectFieldReviews = (
  db: Queryable,
  { batchId = null, jobId, which, limit }: FieldFilter,
): Promise<readonly FieldReview[]> =>
  rowsOf(db, fieldSchema, [batchId, jobId ?? null, which, limit])`
     select v.job_id, v.batch_id, v.run_id, v.ordinal, v.pointer, v.quote, j.input->>'path' as path, v.value,
            v.review as decision, v.correction, v.decision_reason, v.decided_by, v.decided_at::text
       from nightdesk.field_bindings v join nightdesk_data.jobs j on j.job_id = v.job_id and j.run_id = v.run_id
      where j.state = 'succeeded' and ($1::uuid is null or v.batch_id = $1) and ($3 = 'all' or v.review is not null)
        and ($2::uuid is null or v.job_id = (select coalesce(duplicate_of, job_id) from nightdesk_data.jobs where job_id = $2))
      order by v.job_id, v.ordinal limit $4`;

const MOST_OF_JOB = 100_000;

/** All values of a job that a person can decide on. */
export const selectFieldsOf = (db: Queryable, jobId: string): Promise<readonly FieldReview[]> =>
  selectFieldReviews(db, { jobId, which: "all", limit: MOST_OF_JOB });

/**
 * Stores a person's decision on a value.
 * @param given the replacement for a correction, as the person typed it
 * @returns a sentence on the outcome
 * @throws Failure INPUT_INVALID if the decision is rejected
 */
export async function takeFieldDecision(
  db: Queryable,
  field: FieldReview,
  { given, reason, ...choice }: Omit<FieldDecision, "correction"> & { readonly given: string },
): Promise<string> {
  if (choice.decision === "accepted" && field.value === null)
    throw unchanged("There is no value to accept: correct it, or reject it.");
  const correction = choice.decision === "corrected" ? correctionOf(field, given.trim()) : null;
  const decided = { ...choice, correction, reason: reason?.trim() || null };
  const name = fieldName(field.pointer);
  if (!(await decideField(db, field, decided)))
    throw unchanged(`${field.decided_by ?? "Somebody else"} has decided on ${name} before.`);
  const sentence = `${name} is ${choice.decision}${correction === null ? "" : `: ${valueText(correction)}`}.`;
  const isNew = choice.decision !== "accepted" || field.decision !== null;
  const places = isNew ? await selectWrittenTo(db, field) : [];
  return [sentence, ...places.map(writtenText)].join(" ");
}

/** The write-back never writes a value twice. */
const writtenText = ({ document, batch }: { readonly document: string; readonly batch: string }) =>
  `It was written to ${document} before, and stays there as it is: change it there, or take back all of its batch ` +
  `with nightdesk write-back undo ${quoteForShell(batch)}.`;

/** Parses the typed text into the type of the model's value; if that is null, as JSON, else as a text. */
function correctionOf({ pointer, value }: FieldReview, given: string): FieldReview["value"] {
  // A double would change a number of 16 or more digits.
  const isText =
    typeof value === "string" || (value === null && (/^\d{16}/.test(given) || isRounded(given)));
  const read = isText
    ? given
    : (decidedColumns.correction.safeParse(parseJson(given)).data ?? given);
  const parsed = typeof read === "string" ? cleanForDatabase(read) : read;
  if (typeof parsed === "string" && parsed.trim() === "")
    throw unchanged("A correction needs the value in your own words.");
  if (typeof parsed === "number" && isRounded(given))
    throw unchanged(`${given} has more digits than a number keeps: give at most 15.`);
  if (value === null || typeof parsed === typeof value) return parsed;
  throw unchanged(
    `${fieldName(pointer)} takes a ${typeof value}, and ${JSON.stringify(given)} is none; expected one like ${String(value)}.`,
  );
}

/** Whether a double has other digits than the number that was typed. */
const isRounded = (given: string): boolean =>
  typeof parseJson(given) === "number" && digitsOf(String(Number(given))) !== digitsOf(given);

const digitsOf = (number: string): string =>
  number.replace(/e.*$|[-.]/gi, "").replace(/^0+|0+$/g, "");

/** `total: bills/a.pdf?` with the value that a right answer contains; null if the spelling in the document is unknown. */
export function questionOfField(field: FieldReview): object | null {
  const { job_id: id, pointer, path, value, quote, correction, decision } = field;
  const spelled = String(correction ?? value);
  const isSpelled =
    decision === "corrected" || (decision === "accepted" && quote?.includes(spelled) === true);
  if (!isSpelled || path === null) return null;
  const question = `${fieldName(pointer)}: ${path}?`;
  return { id: `${id} ${pointer}`, question, expected: [[spelled]], files: [path] };
}
