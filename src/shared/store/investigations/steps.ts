import { z } from "zod";
import { EFFECTS } from "../../config/mcp-servers.ts";
import type { ToolEffect } from "../../config/mcp-servers.ts";
import type { Queryable } from "../connection/database.ts";
import { anyRow, rowOf, rowsOf, valueOf, valuesOf } from "../connection/rows.ts";

/** The run that writes, and its job. Each write checks it: a run that lost its job or its lease writes nothing. */
export type StepWriter = { readonly jobId: string; readonly runId: string };

export const STEP_KINDS = ["model", "tool", "compaction", "policy", "end"] as const;
export const STEP_STATES = [
  "started",
  "waiting",
  "uncertain",
  "done",
  "failed",
  "denied",
  "skipped",
] as const;
export type StepState = (typeof STEP_STATES)[number];

/** Facts of a step; never document text or prompts. */
export type StepDetail = Readonly<Record<string, unknown>>;

/** Common table expression `held`: a row if run $2 owns job $1, which is running with a live lease. */
export const HELD = `held as materialized (
  select job_id, batch_id from nightdesk_data.jobs
   where job_id = $1 and run_id = $2 and state = 'running' and lease_until > clock_timestamp() for share)`;

/**
 * Writes a step that ends at once: the action of a rule, or the end of the investigation.
 * @returns false when the run no longer owns the job
 */
export const insertStep = (
  db: Queryable,
  writer: StepWriter,
  step: {
    readonly ordinal: number;
    readonly kind: "compaction" | "policy" | "end";
    readonly detail: StepDetail;
  },
): Promise<boolean> =>
  anyRow(
    db,
    [writer.jobId, writer.runId, step.ordinal, step.kind, JSON.stringify(step.detail)],
    "insert_step",
  )`
     with ${HELD}
     insert into nightdesk_data.steps (job_id, ordinal, run_id, kind, state, detail, ended_at)
     select job_id, $3, $2, $4, 'done', $5, clock_timestamp() from held`;

/**
 * Writes the step of a model call, before the call.
 * @returns false when the run no longer owns the job
 */
export const beginModelStep = (
  db: Queryable,
  writer: StepWriter,
  ordinal: number,
  requestSha256: string,
): Promise<boolean> =>
  anyRow(db, [writer.jobId, writer.runId, ordinal, requestSha256], "begin_model_step")`
     with ${HELD}
     insert into nightdesk_data.steps (job_id, ordinal, run_id, kind, request_sha256)
     select job_id, $3, $2, 'model', $4 from held`;

/** Ends the step of a model call. @returns false when the run no longer owns the job */
export const endModelStep = (
  db: Queryable,
  writer: StepWriter,
  ordinal: number,
  end: {
    readonly state: "done" | "failed";
    readonly detail: StepDetail;
  },
): Promise<boolean> =>
  anyRow(
    db,
    [writer.jobId, writer.runId, ordinal, end.state, JSON.stringify(end.detail)],
    "end_model_step",
  )`
     with ${HELD}
     update nightdesk_data.steps s
        set state = $4, detail = detail || $5, ended_at = clock_timestamp()
       from held where s.job_id = held.job_id and s.ordinal = $3 and s.state = 'started'`;

export type NewToolStep = {
  readonly ordinal: number;
  readonly name: string;
  readonly effect: ToolEffect;
  /** waiting: a person must approve the call first, and nothing has been done. */
  readonly state: "started" | "waiting";
  readonly args: Readonly<Record<string, unknown>>;
  /** SHA-256 of the arguments as canonical JSON, 64 hex. */
  readonly argsSha256: string;
  /** Facts that are known before the call. */
  readonly detail: StepDetail;
};

const begunSchema = z.enum(["begun", "lost", "no_grant", "ended", "not_granted"]);
/** lost: the run no longer owns the job. The others tell why the grant does not allow the call. */
export type ToolStepBegun = z.infer<typeof begunSchema>;

/**
 * Writes the step of a tool call before the call, if the job's grant allows the tool: the check and the insert are one statement.
 * For a refused call nothing is written.
 */
export const beginToolStep = (
  db: Queryable,
  writer: StepWriter,
  step: NewToolStep,
): Promise<ToolStepBegun> =>
  valueOf(
    db,
    begunSchema,
    [
      writer.jobId,
      writer.runId,
      step.ordinal,
      step.name,
      step.effect,
      JSON.stringify(step.args),
      step.argsSha256,
      JSON.stringify(step.detail),
      step.state,
    ],
    "begin_tool_step",
  )`
     with ${HELD},
     granted as materialized (
       select g.grant_id, g.ended_at, $4 = any(g.tools) as is_granted
         from held join nightdesk_data.grants g using (job_id)),
     begun as (
       insert into nightdesk_data.steps (job_id, ordinal, run_id, kind, effect, detail, state)
       select $1, $3, $2, 'tool', $5, $8, $9 from granted where ended_at is null and is_granted
       returning job_id, ordinal),
     called as (
       insert into nightdesk_data.tool_calls (run_id, ordinal, name, args, duration_ms, job_id, step, grant_id, args_sha256)
       select $2, begun.ordinal, $4, $6, 0, begun.job_id, begun.ordinal, granted.grant_id, $7 from begun, granted)
     select case when not exists (select from held) then 'lost'
                 when not exists (select from granted) then 'no_grant'
                 when exists (select from granted where ended_at is not null) then 'ended'
                 when exists (select from granted where not is_granted) then 'not_granted'
                 else 'begun' end as verdict
       from (select count(*) from begun) written`;

/** An output to store. */
export type NewArtifact = {
  readonly stream: "result" | "stdout" | "stderr" | "state";
  /** SHA-256 of `content`, 64 hex. */
  readonly sha256: string;
  readonly content: Buffer;
  readonly class: "evidence" | "output" | "state";
};

/** How a tool call ended. */
export type ToolStepEnd = {
  readonly state: "done" | "failed" | "denied";
  /** Facts, without the text. Null after an error. */
  readonly result: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly durationMs: number;
  readonly detail: StepDetail;
  readonly artifacts: readonly NewArtifact[];
  /** The number of artifacts with only head and tail of an output, because the batch has no room for more. */
  readonly cut: number;
};

/**
 * Ends the step of a tool call and stores its outputs. The call of a waiting step was not made, so it can only be denied.
 * @param end `keepOutputsDays`: how long to keep outputs that no answer rests on; null: as long as their job
 * @returns false when the run no longer owns the job
 */
export async function endToolStep(
  db: Queryable,
  writer: StepWriter,
  ordinal: number,
  end: ToolStepEnd & { readonly keepOutputsDays: number | null },
): Promise<boolean> {
  const { artifacts } = end;
  return anyRow(
    db,
    [
      writer.jobId,
      writer.runId,
      ordinal,
      end.state,
      JSON.stringify(end.detail),
      end.result === null ? null : JSON.stringify(end.result),
      end.error?.code ?? null,
      end.error?.message.slice(0, 4000) ?? null,
      end.durationMs,
      artifacts.map(({ stream }) => stream),
      artifacts.map(({ sha256 }) => sha256),
      artifacts.map((artifact) => artifact.class),
      artifacts.map(({ content }) => content),
      end.keepOutputsDays,
      end.cut,
    ],
    "end_tool_step",
  )`
     with ${HELD},
     ended as (
       update nightdesk_data.steps s set state = $4, detail = detail || $5, ended_at = clock_timestamp()
         from held where s.job_id = held.job_id and s.ordinal = $3
          and (s.state = 'started' or s.state = 'waiting' and $4 = 'denied')
       returning s.job_id, s.ordinal, held.batch_id),
     called as (
       update nightdesk_data.tool_calls t
          set result = $6, error_code = $7, error_message = $8, duration_ms = $9
         from ended where t.job_id = ended.job_id and t.step = ended.ordinal),
     given as (
       select * from unnest($10::text[], $11::text[], $12::text[], $13::bytea[]) as g (stream, sha256, class, content)),
     kept as (
       -- Written again where it is there, so that nobody removes it meanwhile.
       insert into nightdesk_data.artifacts (sha256, bytes, content)
       select distinct on (sha256) sha256, length(content), content from given, ended order by sha256
       on conflict (sha256) do update set used_at = clock_timestamp()
       returning sha256, bytes),
     used as (
       insert into nightdesk_data.artifact_uses (job_id, step, stream, sha256, bytes, class, expires_at)
       select ended.job_id, ended.ordinal, given.stream, given.sha256, kept.bytes, given.class,
              case when given.class = 'output' then clock_timestamp() + make_interval(days => $14) end
         from ended, given join kept using (sha256)
       returning bytes),
     counted as (
       insert into nightdesk_data.batch_outputs as o (batch_id, bytes, cut)
       select ended.batch_id, sums.bytes, $15
         from ended, (select sum(bytes) as bytes from used) sums where sums.bytes is not null
       on conflict (batch_id) do update set bytes = o.bytes + excluded.bytes, cut = o.cut + excluded.cut)
     select from ended`;
}

/**
 * Settles an open step, which a lost run left or which can't continue: a step without effects is skipped and may be done again;
 * of any other it is uncertain whether it was done.
 * @returns false when the run no longer owns the job
 */
export const settleOpenStep = (
  db: Queryable,
  writer: StepWriter,
  ordinal: number,
  state: "skipped" | "uncertain",
): Promise<boolean> =>
  anyRow(db, [writer.jobId, writer.runId, ordinal, state])`
     with ${HELD}
     update nightdesk_data.steps s
        set state = $4, ended_at = case $4 when 'skipped' then clock_timestamp() end
       from held where s.job_id = held.job_id and s.ordinal = $3
        and s.state in ('started', 'waiting')`;

const stepSchema = z
  .object({
    ordinal: z.number(),
    run_id: z.string(),
    kind: z.enum(STEP_KINDS),
    effect: z.enum(EFFECTS).nullable(),
    state: z.enum(STEP_STATES),
    detail: z.record(z.string(), z.unknown()),
    request_sha256: z.string().nullable(),
    name: z.string().nullable(),
    args: z.record(z.string(), z.unknown()).nullable(),
    args_sha256: z.string().nullable(),
    error_code: z.string().nullable(),
    error_message: z.string().nullable(),
    result: z.record(z.string(), z.unknown()).nullable(),
    output: z.instanceof(Buffer).nullable(),
    active_ms: z.coerce.number(),
    tokens: z.number(),
  })
  .transform((row) => ({
    ordinal: row.ordinal,
    runId: row.run_id,
    kind: row.kind,
    effect: row.effect,
    state: row.state,
    detail: row.detail,
    requestSha256: row.request_sha256,
    tool:
      row.name === null
        ? null
        : {
            name: row.name,
            args: row.args ?? {},
            argsSha256: row.args_sha256 ?? "",
            result: row.result,
            error:
              row.error_code === null
                ? null
                : { code: row.error_code, message: row.error_message ?? "" },
            /** The stored output; null after an error, or when it was removed. */
            output: row.output,
          },
    /** Working time, without waiting for a person or a host. */
    activeMs: row.active_ms,
    /** Tokens of prompt and reply of a model call. */
    tokens: row.tokens,
  }));
export type StoredStep = z.infer<typeof stepSchema>;

/** The steps of an investigation in order, with the outputs of tools. */
export const selectSteps = (db: Queryable, jobId: string): Promise<readonly StoredStep[]> =>
  rowsOf(db, stepSchema, [jobId])`
     select s.ordinal, s.run_id, s.kind, s.effect, s.state, s.detail, s.request_sha256,
            t.name, t.args, t.args_sha256, t.error_code, t.error_message, t.result, a.content as output,
            coalesce(case when s.kind = 'tool' then t.duration_ms
                          else extract(epoch from s.ended_at - s.started_at) * 1000
                               - coalesce((s.detail->>'waited_ms')::float8, 0) end, 0) as active_ms,
            coalesce(c.prompt_tokens + c.completion_tokens, 0) as tokens
       from nightdesk_data.steps s
       left join nightdesk_data.tool_calls t on t.job_id = s.job_id and t.step = s.ordinal
       left join nightdesk_data.artifact_uses u
              on u.job_id = s.job_id and u.step = s.ordinal and u.stream = 'result'
       left join nightdesk_data.artifacts a on a.sha256 = u.kept_sha256
       left join nightdesk_data.model_calls c on c.job_id = s.job_id and c.request_sha256 = s.request_sha256
      where s.job_id = $1 order by s.ordinal`;

const stateSchema = z.object({
  step: z.number(),
  sha256: z.string(),
  content: z.instanceof(Buffer).nullable(),
});

/** The state that a tool stored for its next call; `content` is null when it was removed since. */
export type StoredState = z.infer<typeof stateSchema>;

/** The newest stored state of a job, as its step's result names it; undefined when no step stored one. */
export const selectLastState = (db: Queryable, jobId: string): Promise<StoredState | undefined> =>
  rowOf(db, stateSchema, [jobId])`
     select t.step, t.result ->> 'state_sha256' as sha256, a.content
       from nightdesk_data.tool_calls t
       left join nightdesk_data.artifact_uses u on u.job_id = t.job_id and u.step = t.step and u.stream = 'state'
       left join nightdesk_data.artifacts a using (sha256)
      where t.job_id = $1 and t.result ? 'state_sha256' order by t.step desc limit 1`;

/** The stored output of a step; undefined when there is none, or it was removed. */
export async function selectOutput(
  db: Queryable,
  jobId: string,
  step: number,
  stream: "result" | "stdout" | "stderr",
): Promise<Buffer | undefined> {
  const [output] = await valuesOf(db, z.instanceof(Buffer), [jobId, step, stream])`
     select a.content from nightdesk_data.artifact_uses u join nightdesk_data.artifacts a on a.sha256 = u.kept_sha256
      where u.job_id = $1 and u.step = $2 and u.stream = $3`;
  return output;
}
