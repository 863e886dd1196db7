import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";

/** Texts with which Ollama, its runners and llama.cpp say that a prompt does not fit. */
const OVERFLOW = [
  "longer than the context length",
  "exceeds the available context size",
  "exceeds the context length",
  "exceed_context_size",
];

/**
 * Turns what the npm client threw into one of ours. Refusals come back as values (CONTEXT_OVERFLOW,
 * MODEL_UNSUPPORTED); everything else is thrown as Failure.
 */
export function ollamaFailure(error: unknown, name: string, baseUrl: string): Refusal {
  if (error instanceof Failure) throw error;
  const failed = { text: shortText(error), name, baseUrl };
  if (OVERFLOW.some((part) => failed.text.includes(part))) return overflow(name);
  const status = statusOf(error);
  if (status !== null) return answeredWith(status, failed);
  if (failed.text.startsWith("Did not receive done")) {
    throw new Failure(
      "MODEL_OUTPUT_INVALID",
      `"${name}" at ${baseUrl} ended its reply without saying that it was done.`,
    );
  }
  const code = networkCode(error);
  if (code !== null) throw unreachable(failed, code);
  throw new Failure("INTERNAL_ERROR", `"${name}" at ${baseUrl} failed: ${failed.text}`, {
    cause: error,
  });
}

type Failed = { readonly text: string; readonly name: string; readonly baseUrl: string };

function answeredWith(status: number, failed: Failed): Refusal {
  const { text, name, baseUrl } = failed;
  if (text.includes("does not support")) {
    return refuse("MODEL_UNSUPPORTED", `"${name}" can't do this: ${text}`);
  }
  if (status === 404 && text.includes("not found") && !text.includes("page not found")) {
    throw new Failure(
      "MODEL_NOT_FOUND",
      `${baseUrl} has no model "${name}". Run: ollama pull ${name}`,
    );
  }
  if (status === 503 || status === 429) {
    throw new Failure("MODEL_OVERLOADED", `${baseUrl} is busy (HTTP ${status}): ${text}`);
  }
  if (NO_OLLAMA.has(status)) throw unreachable(failed, `HTTP ${status}`);
  throw new Failure(
    "INTERNAL_ERROR",
    `"${name}" at ${baseUrl} failed with HTTP ${status}: ${text}`,
  );
}

/** What a proxy, a locked door or another server answers. */
const NO_OLLAMA = new Set([401, 403, 404, 405, 502, 504]);

const overflow = (name: string): Refusal =>
  refuse(
    "CONTEXT_OVERFLOW",
    `The prompt does not fit the window of "${name}". Raise model.num_ctx, or lower ask.top_n.`,
  );

const unreachable = ({ baseUrl }: Failed, why: string): Failure =>
  new Failure(
    "MODEL_UNREACHABLE",
    `No Ollama answers at ${baseUrl} (${why}). Start it with "ollama serve", or set model.base_url.`,
  );

function statusOf(error: unknown): number | null {
  const status = isRecord(error) ? error["status_code"] : undefined;
  return typeof status === "number" ? status : null;
}

/** The system's code of a broken connection, wherever in the chain of causes it stands. */
function networkCode(error: unknown): string | null {
  for (let cause = error; isRecord(cause); cause = cause["cause"]) {
    const { code } = cause;
    if (typeof code === "string" && /^(?:E[A-Z]+$|UND_ERR_)/.test(code)) return code;
  }
  return null;
}

function shortText(error: unknown): string {
  const text = isRecord(error) ? error["message"] : error;
  return typeof text === "string" ? text.slice(0, 300) : "no reason given";
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
