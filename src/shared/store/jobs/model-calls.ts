import { z } from "zod";
import { PASSES } from "../../job/run-result.ts";
import type { PromptRecord, ReplyRecord } from "../../job/run-result.ts";
import type { Queryable } from "../connection/database.ts";
import { rowOf, rowsOf } from "../connection/rows.ts";
import { endValues } from "../hosts/calls.ts";
import type { CallEnd } from "../hosts/calls.ts";
import { storeResult } from "./store-result.ts";

/** A model call to store, with either `reply` or `refusal`. */
export type ModelCallRow = {
  readonly pass: ReplyRecord["pass"];
  readonly requestSha256: string;
  readonly model: string;
  readonly modelDigest: string | null;
  readonly prompt: PromptRecord;
  readonly reply: StoredReply | null;
  readonly refusal: { readonly code: string; readonly message: string } | null;
  readonly durationMs: number;
  /** Stored separately, if at all. */
  readonly reasoning?: CallReasoning;
};

/** The thinking of a model before its reply. */
type CallReasoning = {
  readonly text: string;
  /** Characters of the whole thinking; the text may be only a part of it. */
  readonly chars: number;
  /** Null: keep it as long as the job. */
  readonly keepDays: number | null;
};

type StoredReply = {
  readonly text: string;
  readonly toolCalls: readonly { readonly name: string; readonly args: unknown }[];
  readonly doneReason: "stop" | "length" | "window" | "thought";
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly loadMs: number;
};

/**
 * Stores a model call, if the job still names the run that made it. Locks the job's row meanwhile, so that no other run can claim
 * the job and look for calls before this one is stored. May be repeated after a lost connection. Throws Failure RESULT_UNSTORABLE
 * as storeResult does.
 * @param charge for the slot at the host: ends the call in the same transaction, even when the run has lost its job
 */
export async function insertModelCall(
  db: Queryable,
  { jobId, runId }: { readonly jobId: string; readonly runId: string },
  call: ModelCallRow,
  charge?: CallEnd & { readonly ticket: string },
): Promise<void> {
  const { reasoning } = call;
  const callValues = () => [jobId, runId, JSON.stringify(callRowOf(call))];
  const allValues = () =>
    charge === undefined ? callValues() : [...callValues(), charge.ticket, ...endValues(charge)];
  const statement = charge === undefined ? INSERT_CALL : INSERT_AND_END;
  if (reasoning === undefined) {
    await storeResult(db, { ...statement.plain, values: allValues });
  } else {
    const thought = [reasoning.text, reasoning.chars, reasoning.keepDays];
    await storeResult(db, { ...statement.reasoned, values: () => [...allValues(), ...thought] });
  }
}

export const CALL_COLUMNS = `pass, request_sha256, model, model_digest, prompt_template, prompt_sha256, prompt, reply, tool_calls,
       done_reason, error_code, error_message, prompt_tokens, completion_tokens, load_ms, duration_ms`;

export const CALL_TYPES = `pass text, request_sha256 text, model text, model_digest text, prompt_template text,
       prompt_sha256 text, prompt jsonb, reply text, tool_calls jsonb, done_reason text, error_code text,
       error_message text, prompt_tokens int, completion_tokens int, load_ms double precision,
       duration_ms double precision`;

// On a conflict, the same request was made twice: a run may store a call just before it loses its job, too late for the next run
// to see. The reply of the run that owns the job counts.
const INSERT = `
insert into nightdesk_data.model_calls as kept (job_id, run_id, ${CALL_COLUMNS})
select $1, $2, c.*
  from (select from nightdesk_data.jobs where job_id = $1 and run_id = $2 for share) held,
       jsonb_to_record($3::jsonb) as c (${CALL_TYPES})
on conflict (job_id, request_sha256) do update
   set (run_id, ${CALL_COLUMNS}) = row (excluded.run_id, ${CALL_COLUMNS.replace(/\w+/g, "excluded.$&")})
 where kept.run_id <> excluded.run_id`;

/** @param from number of the first of its three parameters */
const insertReasoning = (from: number): string => `
  insert into nightdesk_data.call_reasoning (call_id, run_id, reasoning, chars, expires_at)
  select call_id, $2, $${from}, $${from + 1}, clock_timestamp() + make_interval(days => $${from + 2})
    from inserted
  on conflict (call_id) do update
     set run_id = excluded.run_id, reasoning = excluded.reasoning, chars = excluded.chars, expires_at = excluded.expires_at`;

const INSERT_CALL = {
  plain: { name: "insert_model_call", text: INSERT },
  reasoned: {
    name: "insert_reasoned_call",
    text: `with inserted as (${INSERT} returning call_id) ${insertReasoning(4)}`,
  },
};

// The call is ended last, since others that charge the same budgets then wait until this commit is on disk.
const END = `
select nightdesk_data.end_kept_call($2, kept.calls > 0, $4, $5, $6, $7, $8, $9, $10) from (select count(*) as calls from inserted) kept`;
const INSERT_AND_END = {
  plain: {
    name: "insert_and_end_call",
    text: `with inserted as (${INSERT} returning 1) ${END}`,
  },
  reasoned: {
    name: "insert_and_end_reasoned_call",
    text: `with inserted as (${INSERT} returning call_id), reasoned as (${insertReasoning(11)}) ${END}`,
  },
};

/** A call as a record for jsonb_to_record with CALL_TYPES. */
export const callRowOf = ({ prompt, reply, refusal, ...call }: ModelCallRow): object => ({
  pass: call.pass,
  request_sha256: call.requestSha256,
  model: call.model,
  model_digest: call.modelDigest,
  prompt_template: prompt.template,
  prompt_sha256: prompt.sha256,
  prompt: { values: prompt.values, evidence: prompt.evidence, violations: prompt.violations },
  reply: reply?.text ?? null,
  tool_calls: reply?.toolCalls ?? [],
  done_reason: reply?.doneReason ?? null,
  error_code: refusal?.code ?? null,
  error_message: refusal?.message ?? null,
  prompt_tokens: reply?.promptTokens ?? 0,
  completion_tokens: reply?.completionTokens ?? 0,
  load_ms: reply?.loadMs ?? 0,
  duration_ms: call.durationMs,
});

/** The values in the template of a call. */
const storedPrompt = z.object({
  values: z.record(z.string(), z.string()),
  evidence: z.array(
    z.object({
      number: z.number(),
      path: z.string(),
      sha256: z.string(),
      startChar: z.number(),
      endChar: z.number(),
      chunkKey: z.string().nullable(),
      summaryLevel: z.number().nullable(),
    }),
  ),
  violations: z.array(z.string()),
});

/** The row of a call, without what only the host received. */
export const callRowSchema = z.object({
  pass: z.enum(PASSES),
  model: z.string(),
  cached_from: z.string().nullable(),
  request_sha256: z.string(),
  prompt_template: z.string(),
  prompt_sha256: z.string(),
  prompt: storedPrompt,
  reply: z.string().nullable(),
  tool_calls: z.array(z.object({ name: z.string(), args: z.unknown() })),
  done_reason: z.enum(["stop", "length", "window", "thought"]).nullable(),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  load_ms: z.number(),
  duration_ms: z.number(),
});

export type StoredCall = Omit<ModelCallRow, "modelDigest"> & {
  /** For a copy: the run of another job that made the call. */
  readonly cachedFrom: string | null;
};

const STORED_COLUMNS = `cached_from, ${CALL_COLUMNS}`;

/** All calls of a job, by all attempts, in order. */
export async function selectModelCalls(
  db: Queryable,
  jobId: string,
): Promise<readonly StoredCall[]> {
  const rows = await rowsOf(db, callRowSchema, [jobId])`
     select ${STORED_COLUMNS} from nightdesk_data.model_calls where job_id = $1 order by call_id`;
  return rows.map(storedCall);
}

/**
 * Copies the newest reply of another job to the same request into this job, so that its record stays complete when the other job
 * is deleted. Ignores jobs that were refused or failed. A run that lost its job copies nothing.
 * @returns the reply, or undefined when no job has made the request
 */
export async function copyCall(
  db: Queryable,
  { jobId, runId }: { readonly jobId: string; readonly runId: string },
  requestSha256: string,
): Promise<StoredCall | undefined> {
  const call = await rowOf(
    db,
    callRowSchema,
    [jobId, runId, requestSha256],
    "take_over_call",
  )`${TAKE_OVER}`;
  return call === undefined ? undefined : storedCall(call);
}

// The conditions match the index model_calls_to_take_over.
const TAKE_OVER = `
with found as materialized (
  select ${CALL_COLUMNS}, coalesce(cached_from, run_id) as cached_from
    from nightdesk_data.model_calls m
   where request_sha256 = $3 and reply is not null and model <> 'extractive' and job_id <> $1
     -- What a job was refused for would be refused again.
     and not exists (select from nightdesk_data.jobs j where j.job_id = m.job_id and j.state in ('refused', 'failed'))
   order by call_id desc limit 1),
copied as (
  insert into nightdesk_data.model_calls (job_id, run_id, cached_from, ${CALL_COLUMNS})
  select $1, $2, found.cached_from, ${CALL_COLUMNS}
    from (select from nightdesk_data.jobs where job_id = $1 and run_id = $2 for share) held, found
  on conflict (job_id, request_sha256) do nothing)
select ${STORED_COLUMNS} from found`;

const storedCall = (row: z.infer<typeof callRowSchema>): StoredCall => ({
  pass: row.pass,
  model: row.model,
  cachedFrom: row.cached_from,
  requestSha256: row.request_sha256,
  prompt: { template: row.prompt_template, sha256: row.prompt_sha256, ...row.prompt },
  reply:
    row.reply === null || row.done_reason === null
      ? null
      : {
          text: row.reply,
          toolCalls: row.tool_calls,
          doneReason: row.done_reason,
          promptTokens: row.prompt_tokens,
          completionTokens: row.completion_tokens,
          loadMs: row.load_ms,
        },
  refusal:
    row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? "" },
  durationMs: row.duration_ms,
});
