import type { JobResult, StoredCitation } from "../../shared/db/jobs/read-results.ts";

/** A success of a single job, as DESIGN.md section 5 fixes it. */
export const successJson = (result: JobResult): Record<string, unknown> => ({
  ok: true,
  ...identityJson(result),
  kind: result.kind,
  state: result.state,
  answer: result.answer,
  scope: result.scope,
  citations: (result.citations ?? []).map(citationJson),
  evidence: result.evidence,
  ...(result.summary === null ? {} : { summary: result.summary }),
  models: { first: result.model_first, second: result.model_second },
  usage: usageJson(result),
  timing_ms: timingJson(result),
});

/** A single job that did not succeed: the typed failure, and where to look. */
export const failureJson = (result: JobResult): Record<string, unknown> => ({
  ok: false,
  error_code: result.error_code,
  error_message: result.error_message,
  ...identityJson(result),
  kind: result.kind,
  state: result.state,
});

/** A job as `batch export` writes it. */
export const exportJson = (result: JobResult): Record<string, unknown> => ({
  custom_id: result.custom_id,
  job_id: result.job_id,
  kind: result.kind,
  state: result.state,
  error_code: result.error_code,
  error_message: result.error_message,
  input: result.input,
  answer: result.answer,
  scope: result.scope,
  citations: (result.citations ?? []).map(citationJson),
  evidence: result.evidence,
  ...(result.summary === null ? {} : { summary: result.summary }),
  model: result.model_second ?? result.model_first,
  usage: usageJson(result),
  timing_ms: timingJson(result),
});

const identityJson = (result: JobResult) => ({
  job_id: result.job_id,
  run_id: result.run_id,
  batch_id: result.batch_id,
});

const citationJson = (citation: StoredCitation) => ({
  ...(typeof citation.jobId === "string" ? { job_id: citation.jobId } : {}),
  path: citation.path,
  heading: citation.heading ?? null,
  chunk_key: citation.chunkKey ?? null,
  line_start: citation.lineStart ?? null,
  line_end: citation.lineEnd ?? null,
  ...(typeof citation.quote === "string" ? { quote: citation.quote } : {}),
  ...(typeof citation.number === "number" ? { number: citation.number } : {}),
  ...(citation.resolved === false ? { resolved: false } : {}),
});

const usageJson = (result: JobResult) => ({
  prompt_tokens: result.prompt_tokens ?? 0,
  completion_tokens: result.completion_tokens ?? 0,
});

/** Whole milliseconds: until the last run began, inside the model, and from queueing to the end. */
const timingJson = (result: JobResult) => ({
  queued: rounded(result.queued_ms),
  model: rounded(result.model_ms),
  total: rounded(result.total_ms),
});

const rounded = (milliseconds: number | null): number | null =>
  milliseconds === null ? null : Math.round(milliseconds);
