import { z } from "zod";
import { grantRowSchema } from "../store/investigations/grants.ts";
import { STEP_KINDS, STEP_STATES } from "../store/investigations/steps.ts";
import { callRowSchema } from "../store/jobs/model-calls.ts";
import { reviewRowSchema } from "../store/jobs/draft-reviews.ts";
import { checkRowSchema, coverageRowSchema } from "../store/jobs/verification.ts";
import { EFFECTS } from "../config/mcp-servers.ts";
import { runDetailSchema } from "./runs.ts";

/** Version of the format of trace.jsonl. */
export const TRACE_VERSION = 1;

const { shape } = runDetailSchema;
const json = z.record(z.string(), z.unknown());
const number = z.coerce.number();

/** Fields that each line begins with. */
const head = {
  /** From 1, without a gap. */
  seq: z.int().min(1),
  at: z.iso.datetime(),
  /** Null for lines of the job that belong to no run. */
  run_id: z.string().nullable(),
  /** `job`, or `check 0.1`: the job of the check of round 0, ordinal 1. */
  scope: z.string(),
};

const OF_RUN = { ...head, run_id: z.string() };

const jobLine = z.object({
  ...head,
  type: z.literal("job"),
  schema_version: z.literal(TRACE_VERSION),
  job_id: z.string(),
  batch_id: z.string(),
  batch: z.string(),
  custom_id: z.string(),
  kind: shape.kind,
  input: json,
  priority: z.number(),
  job_state: z.string(),
  max_attempts: z.number(),
});

const grantLine = grantRowSchema.extend({ ...head, type: z.literal("grant") });

const runLine = z.object({
  ...OF_RUN,
  type: z.literal("run"),
  kind: shape.kind,
  /** The input of a check job; null for the job itself. */
  input: json.nullable(),
  attempt: shape.attempt,
  worker_id: shape.worker_id,
  version: shape.version,
  cached_from: shape.cached_from,
  config_sha256: shape.config_sha256,
  config_file: shape.config_file,
  roots: shape.roots,
  models: shape.models,
  memory_ids: shape.memory_ids,
  notes: shape.notes,
});

const stepLine = shape.events.element.extend({ ...OF_RUN, type: z.literal("step") });

const callLine = callRowSchema.extend({
  ...OF_RUN,
  type: z.literal("call"),
  call_id: z.number(),
  model_digest: z.string().nullable(),
  /** The step of an investigation that made the call. */
  ordinal: z.number().nullable(),
});

/** Columns of the row of a step. */
const ofInvestigation = {
  ordinal: z.number(),
  state: z.enum(STEP_STATES),
  detail: json,
};

const toolLine = shape.tool_calls.element.extend({
  ...OF_RUN,
  type: z.literal("tool"),
  /** Null if the run is no investigation. */
  investigation: z
    .object({ ...ofInvestigation, effect: z.enum(EFFECTS).nullable(), args_sha256: z.string() })
    .nullable(),
  /** The output of a step, as `runs show --output` prints it; null if it was removed. */
  output: z.string().nullable(),
});

const policyLine = z.object({
  ...OF_RUN,
  type: z.literal("policy"),
  ...ofInvestigation,
  kind: z.enum(STEP_KINDS),
});

const evidenceLine = shape.evidence.element.extend({
  ...OF_RUN,
  type: z.literal("evidence"),
  /** Numbered as in `runs show`: E1 and so on. */
  number: z.int().min(1),
});

const claimLine = shape.claims.element.extend({ ...OF_RUN, type: z.literal("claim") });
const quoteLine = shape.quotes.element.extend({ ...OF_RUN, type: z.literal("quote") });
const figureLine = shape.figures.element.extend({ ...OF_RUN, type: z.literal("figure") });
const fieldLine = shape.field_bindings.element.extend({ ...OF_RUN, type: z.literal("field") });
const partLine = shape.summary_parts.element.extend({ ...OF_RUN, type: z.literal("part") });

const checkLine = checkRowSchema.extend({ ...head, type: z.literal("check") });
const coverageLine = coverageRowSchema.extend({ ...head, type: z.literal("coverage") });

const auditLine = shape.audits.element.extend({
  ...head,
  type: z.literal("audit"),
  readable: z.boolean(),
});

const constraintLine = shape.constraints.element.extend({
  ...head,
  type: z.literal("constraint"),
});

/** The review of the draft by a person. */
const reviewLine = reviewRowSchema.extend({
  ...head,
  type: z.literal("review"),
  draft: z.string(),
  why: z.string(),
});

const answerLine = z.object({
  ...OF_RUN,
  type: z.literal("answer"),
  state: shape.state,
  grade: shape.grade,
  verification: shape.verification,
  answer: shape.answer,
  answer_scope: shape.scope,
  citations: shape.citations,
  summary: shape.summary,
  error_code: shape.error_code,
  error_message: shape.error_message,
  claims_dropped: shape.claims_dropped,
  model_first: shape.model_first,
  model_second: shape.model_second,
  prompt_tokens: shape.prompt_tokens,
  completion_tokens: shape.completion_tokens,
  queued_ms: number,
  model_ms: number,
  run_ms: number.nullable(),
  /** The calls behind the answer, in order. */
  calls: z.array(
    z.object({
      call_id: z.number(),
      pass: z.string(),
      origin: z.enum(["asked", "reused", "cached"]),
    }),
  ),
});

/** The last line. A file without it was cut short. */
const endLine = z.object({ ...head, type: z.literal("end"), lines: z.int() });

/** One line of trace.jsonl. Its fields are those of the rows, as in `runs show --json`. */
export const traceLineSchema = z.discriminatedUnion("type", [
  ...([
    jobLine,
    grantLine,
    runLine,
    stepLine,
    callLine,
    toolLine,
    policyLine,
    evidenceLine,
  ] as const),
  ...([claimLine, quoteLine, figureLine, fieldLine, partLine] as const),
  ...([checkLine, coverageLine, auditLine, constraintLine] as const),
  ...([reviewLine, answerLine, endLine] as const),
]);
export type TraceLine = z.infer<typeof traceLineSchema>;

export type TraceLineOf<Type extends TraceLine["type"]> = Extract<TraceLine, { type: Type }>;
