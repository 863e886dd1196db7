import { z } from "zod";
import { locatorSchema } from "../../job/locator.ts";
import type { Queryable } from "../connection/database.ts";
import { anyRow, camelRow, execute, rowsOf } from "../connection/rows.ts";
import { VALUE_DECISIONS, decidedColumns } from "../jobs/field-reviews.ts";
import type { FieldDecision } from "../jobs/field-reviews.ts";

const bindingSchema = z.object({
  pointer: z.string(),
  value: z.union([z.string(), z.number(), z.boolean(), z.null()]),
  reason: z.string().nullable(),
  grade: z.string().nullable(),
  quote: z.string().nullable(),
  locator: locatorSchema.nullable(),
  line_start: z.number().nullable(),
  ...decidedColumns,
});
/** A value of an extraction, with the words that support it and a person's decision about it. */
export type BoundValue = z.infer<typeof bindingSchema>;

const extractedSchema = camelRow({
  seq: z.string(),
  job_id: z.string(),
  state: z.string(),
  path: z.string(),
  /** Hash of the file that its result comes from; null without a result. */
  read_sha256: z.string().nullable(),
  /** The file in a mirror of paperless; null for other files. */
  source: z.string().nullable(),
  remote_id: z.string().nullable(),
  sha256: z.string().nullable(),
  description: z.record(z.string(), z.unknown()).nullable(),
  /** Whether its metadata changed in the place after the run began, other than by a write-back. */
  is_changed: z.boolean(),
  bindings: z.array(bindingSchema),
});
/** An extraction of a batch, with facts about its file. */
export type ExtractedFile = z.infer<typeof extractedSchema>;

/** The next extractions of a batch after a seq, by seq. A duplicate has the result of the job that ran in its place. */
export const selectExtracted = (
  db: Queryable,
  batchId: string,
  after: string,
): Promise<readonly ExtractedFile[]> =>
  rowsOf(db, extractedSchema, [batchId, after])`
     select j.seq::text, j.job_id, o.state, coalesce(e.path, j.input->>'path') as path, e.sha256 as read_sha256, f.source, f.remote_id,
            f.sha256, f.description,
            coalesce(f.described_at > greatest(r.started_at, (
              select max(greatest(w.written_at, w.undone_at)) from nightdesk_data.write_backs w
               where w.source = f.source and w.remote_id = f.remote_id)), false) as is_changed,
            (select coalesce(jsonb_agg(to_jsonb(b) order by b.ordinal), '[]')
               from nightdesk_data.field_bindings b where b.run_id = r.run_id) as bindings
       from nightdesk_data.jobs j
       join nightdesk_data.jobs o on o.job_id = coalesce(j.duplicate_of, j.job_id)
       left join nightdesk_data.runs r on r.run_id = o.run_id and o.state = 'succeeded'
       left join lateral (
         select case when j.duplicate_of is null then e.path end as path, e.sha256 from nightdesk_data.evidence e
          where e.run_id = r.run_id and e.kind = 'file' and e.admitted order by e.ordinal limit 1) e on true
       left join (nightdesk_data.remote_files f join nightdesk_data.remote_sources s on s.source = f.source and s.kind = 'paperless')
         on f.path = coalesce(e.path, j.input->>'path') and f.path_key is not null
      where j.batch_id = $1 and j.kind = 'extract' and j.seq > $2::bigint order by j.seq limit 200`;

const COLUMNS =
  "write_id::text, job_id, source, remote_id, kind, name, pointer, value, state, reason, before, after, sha256, decision, correction, decision_reason, decided_by, decided_at, is_waiting";

const writeSchema = camelRow({
  write_id: z.string(),
  job_id: z.string(),
  source: z.string(),
  remote_id: z.string(),
  kind: z.enum(["correspondent", "document_type", "tag", "custom_field"]),
  name: z.string(),
  pointer: z.string(),
  value: z.unknown(),
  state: z.enum(["withheld", "intended", "written", "undone", "kept"]),
  reason: z.string().nullable(),
  before: z.unknown(),
  after: z.unknown(),
  sha256: z.string().nullable(),
  /** A person's decision about a withheld value. */
  decision: z.enum(VALUE_DECISIONS).nullable(),
  correction: z.string().nullable(),
  decision_reason: z.string().nullable(),
  decided_by: z.string().nullable(),
  decided_at: z.date().nullable(),
  /** Whether it waits for a person's decision, the first or another. */
  is_waiting: z.boolean(),
});
export type WriteBack = z.infer<typeof writeSchema>;
export type WriteKind = WriteBack["kind"];

/** The writes of a batch, by file. */
export const selectWriteBacks = (db: Queryable, batchId: string): Promise<readonly WriteBack[]> =>
  rowsOf(db, writeSchema, [batchId])`
     select ${COLUMNS}
       from nightdesk_data.write_backs where batch_id = $1 order by source, remote_id, write_backs.write_id`;

/** The writes of a batch to one document. */
export const selectWritesTo = (
  db: Queryable,
  batchId: string,
  { source, remoteId }: DocumentId,
): Promise<readonly WriteBack[]> =>
  rowsOf(db, writeSchema, [batchId, source, remoteId])`
     select ${COLUMNS} from nightdesk_data.write_backs
      where batch_id = $1 and source = $2 and remote_id = $3 order by write_backs.write_id`;

/** The documents that a value of an extraction was written to, with the batch of each write. */
export const selectWrittenTo = (
  db: Queryable,
  { job_id: jobId, pointer }: { readonly job_id: string; readonly pointer: string },
): Promise<readonly { readonly document: string; readonly batch: string }[]> =>
  rowsOf(db, z.object({ document: z.string(), batch: z.string() }), [jobId, pointer])`
     select distinct w.source || ' ' || w.remote_id as document, b.name as batch
       from nightdesk_data.write_backs w join nightdesk_data.batches b using (batch_id) join nightdesk_data.jobs j on j.job_id = w.job_id
      where coalesce(j.duplicate_of, j.job_id) = $1 and w.pointer = $2 and w.state = 'written' order by 1, 2`;

export type DocumentId = Pick<WriteBack, "source" | "remoteId">;

const CLAIMED_UNTIL = "clock_timestamp() + interval '5 minutes'";

/**
 * Claims a document for 5 minutes, so that no other write-back changes it between a read and a write.
 * @param claim a UUID, the same for all calls of one write-back
 * @returns false while another write-back has the claim
 */
export const claimDocument = (
  db: Queryable,
  { source, remoteId }: DocumentId,
  claim: string,
): Promise<boolean> =>
  anyRow(db, [source, remoteId, claim])`
     insert into nightdesk_data.write_claims as c (source, remote_id, claim, expires_at)
     values ($1, $2, $3, ${CLAIMED_UNTIL})
     on conflict (source, remote_id) do update set claim = excluded.claim, expires_at = excluded.expires_at
      where c.claim = excluded.claim or c.expires_at < clock_timestamp()`;

/** Extends a claim to 5 minutes from now. */
export const renewDocument = (
  db: Queryable,
  { source, remoteId }: DocumentId,
  claim: string,
): Promise<void> =>
  execute(db, [source, remoteId, claim])`
     update nightdesk_data.write_claims set expires_at = ${CLAIMED_UNTIL}
      where source = $1 and remote_id = $2 and claim = $3`;

/** Ends a claim. */
export const releaseDocument = (
  db: Queryable,
  { source, remoteId }: DocumentId,
  claim: string,
): Promise<void> =>
  execute(db, [source, remoteId, claim])`
     delete from nightdesk_data.write_claims where source = $1 and remote_id = $2 and claim = $3`;

/** A write that is not stored yet. */
export type NewWrite = Omit<
  WriteBack,
  | "writeId"
  | "state"
  | "decision"
  | "correction"
  | "decisionReason"
  | "decidedBy"
  | "decidedAt"
  | "isWaiting"
> & {
  readonly state: "withheld" | "intended";
  /** Whether to ask a person about the value. */
  readonly asks: boolean;
};

/**
 * Records writes that are intended or withheld. Writes that were made, undone or rejected stay unchanged. A person's decision
 * applies only to the value that it was about; if its value still can't be written, the person is asked again.
 */
export const recordWrites = (
  db: Queryable,
  batchId: string,
  writes: readonly NewWrite[],
): Promise<readonly WriteBack[]> =>
  rowsOf(db, writeSchema, [batchId, JSON.stringify(writes.map(toRow))])`
     insert into nightdesk_data.write_backs as w
            (batch_id, job_id, source, remote_id, kind, name, pointer, value, state, reason, before, after, sha256, asked_at)
     select $1, job_id, source, remote_id, kind, name, pointer, coalesce(value, 'null'), state, reason, before, after, sha256,
            case when asks then clock_timestamp() end
       from jsonb_to_recordset($2::jsonb) as c
            (job_id uuid, source text, remote_id text, kind text, name text, pointer text, value jsonb, state text, reason text,
             before jsonb, after jsonb, sha256 text, asks boolean)
     on conflict (batch_id, source, remote_id, kind, name) do update
        set job_id = excluded.job_id, pointer = excluded.pointer, value = excluded.value, state = excluded.state,
            reason = excluded.reason, before = excluded.before, after = excluded.after, sha256 = excluded.sha256,
            noted_at = clock_timestamp(),
            (decision, correction, decision_reason, decided_by, decided_at) = (
              select w.decision, w.correction, w.decision_reason, w.decided_by, w.decided_at where w.value = excluded.value),
            asked_at = case when w.value <> excluded.value then excluded.asked_at
                            when w.decided_at is not null and not w.is_waiting
                            then coalesce(excluded.asked_at, w.asked_at)
                            else coalesce(w.asked_at, excluded.asked_at) end
      where w.state in ('withheld', 'intended') and (w.decision is distinct from 'rejected' or w.value <> excluded.value)
     returning ${COLUMNS}`;

/** Records that a write-back of a batch has ended, even if it had nothing to write. */
export const recordWriteBackEnd = (db: Queryable, batchId: string): Promise<void> =>
  execute(db, [batchId])`
     update nightdesk_data.write_backs set noted_at = clock_timestamp() where batch_id = $1`;

const toRow = ({ jobId, remoteId, ...write }: NewWrite) => ({
  ...write,
  job_id: jobId,
  remote_id: remoteId,
});

/** A person's decision about a withheld value. */
export type ValueDecision = Omit<FieldDecision, "correction"> & {
  /** The value to write instead; null unless corrected. */
  readonly correction: string | null;
};

/**
 * Stores a decision; the first one wins.
 * @param seen the write as the person saw it
 * @returns false when the write no longer waits for a decision, or has another value or reason by now
 */
export const decideValue = (
  db: Queryable,
  seen: { readonly write_id: string; readonly value?: unknown; readonly why: string | null },
  { decision, correction, reason, decidedBy }: ValueDecision,
): Promise<boolean> =>
  anyRow(db, [
    ...[seen.write_id, decision, correction, reason, decidedBy],
    ...[JSON.stringify(seen.value), seen.why],
  ])`
     update nightdesk_data.write_backs
        set decision = $2, correction = $3, decision_reason = $4, decided_by = $5, decided_at = clock_timestamp()
      where write_id = $1 and is_waiting and value = $6 and reason = $7`;

/** The state of a write after a check of the place. */
export type WriteEnd = {
  readonly writeId: string;
  readonly state: "withheld" | "written" | "undone" | "kept";
  readonly reason: string | null;
};

/**
 * Records the ends of writes to a file, together with its metadata in the place, so that their change does not count as another
 * user's.
 */
export const endWrites = (
  db: Queryable,
  { source, remoteId }: Pick<WriteBack, "source" | "remoteId">,
  ends: readonly WriteEnd[],
  description: Readonly<Record<string, unknown>>,
): Promise<void> =>
  execute(db, [source, remoteId, JSON.stringify(ends), JSON.stringify(description)])`
     with ended as (
       update nightdesk_data.write_backs w
          set state = c.state, reason = c.reason,
              written_at = case when c.state = 'written' then now() else w.written_at end,
              undone_at = case when c.state in ('undone', 'kept') then now() else w.undone_at end
         from jsonb_to_recordset($3::jsonb) as c ("writeId" bigint, state text, reason text)
        where w.write_id = c."writeId")
     update nightdesk_data.remote_files set description = $4, described_at = now()
      where source = $1 and remote_id = $2 and description is distinct from $4`;
