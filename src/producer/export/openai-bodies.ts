import type { JobResult } from "../../shared/db/jobs/read-results.ts";
import type { JobVectors } from "./export-form.ts";

/** An answer as a chat completion; for a job without words, such as extract, its content is the JSON of what it gave. */
export const chatCompletion = (result: JobResult): object => ({
  id: `chatcmpl-${(result.run_id ?? result.job_id).replaceAll("-", "")}`,
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
      // A reply that used up the window was cut as much as one that reached max_tokens.
      finish_reason: (result.done_reason ?? "stop") === "stop" ? "stop" : "length",
    },
  ],
  usage: {
    prompt_tokens: result.prompt_tokens ?? 0,
    completion_tokens: result.completion_tokens ?? 0,
    total_tokens: (result.prompt_tokens ?? 0) + (result.completion_tokens ?? 0),
  },
  system_fingerprint: null,
});

/** Vectors in the encoding that the line asked for. Embedders do not count tokens: usage is 0. */
export const embeddingList = (result: JobResult, { model, vectors }: JobVectors): object => ({
  object: "list",
  data: vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: result.input["encoding_format"] === "base64" ? toBase64(vector) : vector,
  })),
  model,
  usage: { prompt_tokens: 0, total_tokens: 0 },
});

/** Little-endian 32-bit floats, whatever the machine. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  for (const [index, value] of vector.entries()) bytes.writeFloatLE(value, index * 4);
  return bytes.toString("base64");
}

const createdOf = ({ finished_at, created_at }: JobResult): number =>
  Math.floor((finished_at ?? created_at).getTime() / 1_000);
