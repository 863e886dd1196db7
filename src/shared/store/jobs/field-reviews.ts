import { z } from "zod";
import type { Queryable } from "../connection/database.ts";
import { anyRow, camelRow, rowsOf } from "../connection/rows.ts";

export const VALUE_DECISIONS = ["accepted", "corrected", "rejected"] as const;
const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** Columns of a person's decision about a value of an extraction; null before a decision. */
export const decidedColumns = {
  decision: z.enum(VALUE_DECISIONS).nullable(),
  /** The value that replaces the model's; null unless corrected. */
  correction: scalar,
  decision_reason: z.string().nullable(),
  decided_by: z.string().nullable(),
  /** Time in JSON format. */
  decided_at: z.string().nullable(),
};
export type DecidedField = {
  readonly [Name in keyof typeof decidedColumns]: z.infer<(typeof decidedColumns)[Name]>;
};

/** A person's decision about a value of an extraction. */
export type FieldDecision = Pick<DecidedField, "correction"> & {
  readonly decision: (typeof VALUE_DECISIONS)[number];
  readonly reason: string | null;
  readonly decidedBy: string;
};

/**
 * Stores a person's decision beside the model's value. The same person may decide again.
 * @returns false when there is no such value, or another person has decided
 */
export const decideField = (
  db: Queryable,
  { run_id: runId, ordinal }: { readonly run_id: string; readonly ordinal: number },
  { decision, correction, reason, decidedBy }: FieldDecision,
): Promise<boolean> =>
  anyRow(db, [
    ...[runId, ordinal, decision, correction === null ? null : JSON.stringify(correction)],
    ...[reason, decidedBy],
  ])`
     update nightdesk_data.field_bindings
        set decision = $3, correction = $4, decision_reason = $5, decided_by = $6, decided_at = clock_timestamp()
      where run_id = $1 and ordinal = $2 and coalesce(decided_by, $6) = $6`;

const decidedFieldSchema = camelRow({
  pointer: z.string(),
  value: scalar,
  is_wrong: z.boolean(),
  quote: z.string(),
  path: z.string(),
  text: z.string(),
  /** Input of the job, and the extracted fields. */
  input: z.record(z.string(), z.unknown()),
  fields: z.record(z.string(), z.unknown()),
});
/** A value with a person's decision, and the passage that supports it. */
export type DecidedValue = z.infer<typeof decidedFieldSchema>;

/**
 * Values with a person's decision, the newest first: an accepted value is right, a corrected or rejected one is wrong, and a
 * correction is right when its passage contains it.
 */
export const selectDecidedValues = (
  db: Queryable,
  most: number,
): Promise<readonly DecidedValue[]> =>
  rowsOf(db, decidedFieldSchema, [most])`
     select f.pointer, v.value, v.is_wrong, f.quote, f.path, p.text, j.input, r.summary as fields
       from nightdesk_data.field_bindings f
       join nightdesk_data.runs r using (run_id)
       join nightdesk_data.jobs j using (job_id)
      cross join lateral (
        select coalesce((
          select k.text from nightdesk_data.documents d join nightdesk_data.chunks k using (doc_id)
           where d.path = f.path and position(f.quote in k.text) > 0 order by k.ordinal limit 1), f.quote) as text) p
      cross join lateral (
        select f.value, f.decision <> 'accepted' as is_wrong
         union all
        select f.correction, false where f.decision = 'corrected' and position(f.correction #>> '{}' in p.text) > 0) v
      where f.decision is not null and f.quote is not null
      order by f.decided_at desc, f.run_id, f.ordinal, v.is_wrong limit $1`;
