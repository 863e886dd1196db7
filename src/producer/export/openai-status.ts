/** HTTP statuses that OpenAI gives for the like; a refusal is a fault of the request, all else one of the service. */
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
  EMBED_DRIFT: 500,
  MEMORY_ERROR: 500,
  TOOL_ERROR: 500,
  INTERNAL_ERROR: 500,
  RESULT_UNSTORABLE: 500,
  WORKER_LOST: 500,
};

/** The status of a job that was refused or failed with a code; 400 for any other code. */
export const errorStatus = (code: string | null): number => STATUSES[code ?? ""] ?? 400;
