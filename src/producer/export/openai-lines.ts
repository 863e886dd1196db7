import type { JobResult } from "../../shared/db/jobs/read-results.ts";
import type { JobVectors, Written } from "./export-form.ts";
import { jsonForTerminal } from "../../shared/terminal-text.ts";
import { chatCompletion, embeddingList } from "./openai-bodies.ts";
import { errorStatus } from "./openai-status.ts";

/**
 * A job as a line of OpenAI's Batch: of the output file where it succeeded, of the error file where it did not. A fault
 * of the request is a response with its status; what never was answered, because the batch was cancelled or its
 * deadline passed, is an error without a response.
 */
export function openAiLine(result: JobResult, vectors: JobVectors): Written | undefined {
  switch (result.state) {
    case "succeeded":
      return output(responseLine(result, 200, bodyOf(result, vectors)));
    case "refused":
    case "failed":
      return errors(responseLine(result, errorStatus(result.error_code), errorBody(result)));
    case "cancelled":
      return errors(errorLine(result, "batch_cancelled"));
    case "expired":
      return errors(errorLine(result, "batch_expired"));
    case "queued":
    case "running":
    case "parked":
      return undefined;
  }
}

const bodyOf = (result: JobResult, vectors: JobVectors): object =>
  vectors.vectors.length > 0 ? embeddingList(result, vectors) : chatCompletion(result);

const errorBody = ({ error_code, error_message, state }: JobResult): object => ({
  error: {
    message: error_message,
    type: state === "refused" ? "invalid_request_error" : "server_error",
    param: null,
    code: error_code,
  },
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

const lineId = ({ job_id }: JobResult): string => `batch_req_${job_id.replaceAll("-", "")}`;

const output = (line: object): Written => ({ to: "output", text: jsonForTerminal(line) });
const errors = (line: object): Written => ({ to: "errors", text: jsonForTerminal(line) });
