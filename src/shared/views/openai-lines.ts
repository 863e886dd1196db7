import { jsonForTerminal } from "../terminal/styled-text.ts";
import type { Queryable } from "../store/connection/database.ts";
import { claimsJson } from "./claims.ts";
import { selectVectors } from "./results.ts";
import type { JobResult } from "./results.ts";

/** Vectors of an embedding job over free text; empty for any other job. */
export type JobVectors = {
  readonly model: string | null;
  readonly vectors: readonly (readonly number[])[];
};

const NO_VECTORS: JobVectors = { model: null, vectors: [] };

export const vectorsOf = async (db: Queryable, result: JobResult): Promise<JobVectors> =>
  result.vectors === 0 ? NO_VECTORS : selectVectors(db, result.job_id);

/** One job in an export format, without the final line feed. */
export type Written = { readonly to: "output" | "errors"; readonly text: string };

/**
 * A job as a line of OpenAI's Batch API: of the output file if it succeeded, else of the error file. A refused or failed
 * job has a response with an HTTP status. A job without any answer, because the batch was cancelled or its deadline passed,
 * has an error and no response.
 */
export function openAiLine(result: JobResult, vectors: JobVectors): Written | undefined {
  switch (result.state) {
    case "succeeded":
      return openAiOutput(responseLine(result, 200, bodyOf(result, vectors)));
    case "refused":
    case "failed":
      return openAiError(responseLine(result, errorStatus(result), errorBody(result)));
    case "cancelled":
      return openAiError(errorLine(result, "batch_cancelled"));
    case "expired":
      return openAiError(errorLine(result, "batch_expired"));
    case "queued":
    case "running":
    case "parked":
      return undefined;
  }
}

const bodyOf = (result: JobResult, vectors: JobVectors): object =>
  vectors.vectors.length > 0 ? embeddingList(result, vectors) : chatCompletion(result);

const errorBody = (result: JobResult): object => ({
  error: {
    message: result.error_message,
    type: result.state === "refused" ? "invalid_request_error" : "server_error",
    param: null,
    code: result.error_code,
  },
  ...(result.evidence.length === 0 ? {} : { nightdesk: provenanceOf(result) }),
});

/** The fields that OpenAI's format lacks: grade, statements with their places, and evidence. */
export const provenanceOf = (result: JobResult): object => ({
  ...{ run_id: result.run_id, kind: result.kind, scope: result.scope },
  ...{ grade: result.grade, claims: result.claims, ...claimsJson(result) },
  ...(result.bindings.length === 0 ? {} : { fields: result.bindings }),
  evidence: result.evidence,
});

const responseLine = (result: JobResult, status: number, body: object): object => ({
  id: lineId(result),
  custom_id: result.custom_id,
  response: { status_code: status, request_id: result.run_id ?? result.job_id, body },
  error: null,
});

const errorLine = (result: JobResult, code: "batch_cancelled" | "batch_expired"): object => ({
  id: lineId(result),
  custom_id: result.custom_id,
  response: null,
  error: { code, message: result.error_message },
});

const lineId = ({ job_id: id }: JobResult): string => publicId("batch_req_", id);

/** A UUID without hyphens behind a prefix, as OpenAI's clients expect it. */
export const publicId = (prefix: string, uuid: string): string =>
  `${prefix}${uuid.replaceAll("-", "")}`;

/** Whole seconds, as OpenAI writes times. */
export const secondsOf = (time: Date): number => Math.floor(time.getTime() / 1_000);

const openAiOutput = (line: object): Written => ({ to: "output", text: jsonForTerminal(line) });
const openAiError = (line: object): Written => ({ to: "errors", text: jsonForTerminal(line) });

export const completionId = ({ run_id: runId, job_id: jobId }: JobResult): string =>
  publicId("chatcmpl-", runId ?? jobId);

export const createdOf = ({ finished_at, created_at }: JobResult): number =>
  secondsOf(finished_at ?? created_at);

/** An answer as a chat completion. For a job without an answer text, such as extract, the content is its output as JSON. */
const chatCompletion = (result: JobResult): object => ({
  id: completionId(result),
  object: "chat.completion",
  created: createdOf(result),
  model: result.model_second ?? result.model_first,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: result.answer ?? JSON.stringify(result.summary ?? {}),
        refusal: null,
      },
      logprobs: null,
      // A reply that filled the context window was cut, just as one that reached max_tokens.
      finish_reason: (result.done_reason ?? "stop") === "stop" ? "stop" : "length",
    },
  ],
  usage: completionUsage(result),
  system_fingerprint: null,
  nightdesk: provenanceOf(result),
});

/** Tokens of all calls of a job; 0 if it called no model. */
export function completionUsage({
  prompt_tokens: prompt,
  completion_tokens: completion,
}: JobResult): Readonly<Record<"prompt_tokens" | "completion_tokens" | "total_tokens", number>> {
  const [read, written] = [prompt ?? 0, completion ?? 0];
  return { prompt_tokens: read, completion_tokens: written, total_tokens: read + written };
}

/** Vectors in the requested encoding. Embedders do not count tokens: usage is 0. */
const embeddingList = (result: JobResult, { model, vectors }: JobVectors): object => ({
  object: "list",
  data: vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: result.input["encoding_format"] === "base64" ? toBase64(vector) : vector,
  })),
  model,
  usage: { prompt_tokens: 0, total_tokens: 0 },
});

/** Little-endian 32-bit floats on every machine. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}

/** HTTP statuses that OpenAI uses for similar errors. */
const STATUSES: Readonly<Record<string, number>> = {
  MODEL_NOT_FOUND: 404,
  EMBED_MODEL_MISSING: 404,
  FILE_NOT_FOUND: 404,
  PATH_DENIED: 403,
  FILE_TOO_LARGE: 413,
  MODEL_TIMEOUT: 504,
  MODEL_OUTPUT_INVALID: 502,
  MODEL_UNREACHABLE: 503,
  MODEL_OVERLOADED: 503,
  DATABASE_UNREACHABLE: 503,
};

/** The status of a refused or failed job. A code that is not listed is an error of the request if refused, else of the service. */
const errorStatus = ({ error_code: code, state }: JobResult): number =>
  STATUSES[code ?? ""] ?? (state === "refused" ? 400 : 500);
