import { Failure, HostFailure, refuse } from "../../shared/failure.ts";
import type { HostTrial, Refusal } from "../../shared/failure.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import type { ClosedHost } from "../../shared/store/hosts/choose-host.ts";
import type { HostAccess } from "./host-access.ts";
import { BrokenReply, HostError, textAt } from "./host-request.ts";
import { ReplyUnreadable, ToolCallUnreadable } from "./model.ts";
import { ProxyRefused } from "./open-request.ts";
import { tlsFailure } from "./tls-failure.ts";

/** A model, and the place where it is served. */
export type ModelPlace = {
  readonly name: string;
  /** `scheme://host[:port][/path]` */
  readonly baseUrl: string;
  /** For a host that `hosts` lists: its name there, and its access. */
  readonly entry?: string;
  readonly access?: HostAccess;
  readonly api?: "chat" | "responses";
  /** The setting that names the model; undefined if a job names it. */
  readonly setting?: string | undefined;
};

/** The setting to change, for messages; empty if a job names the model. */
export const inSetting = ({ setting }: ModelPlace): string =>
  setting === undefined ? "" : ` in ${setting}`;

/** A model of a host, and the parts of messages about its faults. */
export type ModelHost = ModelPlace & {
  /** The kind of server, which follows "No" in messages. */
  readonly server: string;
  /** How to start it. `toInstall`: how it gets this model. */
  readonly toStart: string;
  readonly toInstall: string;
  /** The kind of the call; missing for a mere question about the host. */
  readonly trial?: HostTrial;
};

/**
 * Converts an error of a call to a host into one of ours. It returns refusals (CONTEXT_OVERFLOW, MODEL_UNSUPPORTED) and throws
 * everything else: ToolCallUnreadable, ReplyUnreadable, or Failure MODEL_NOT_FOUND, MODEL_OVERLOADED, MODEL_UNREACHABLE, and
 * INTERNAL_ERROR when a host rejects a request of ours.
 */
export function hostFailure(error: unknown, host: ModelHost): Refusal {
  if (error instanceof Failure) throw error;
  if (error instanceof HostError) return failureOfAnswer(error, host);
  if (error instanceof BrokenReply) throw brokeOff(host, error);
  if (error instanceof ProxyRefused) throw proxyFailure(host, error);
  const code = networkCode(error);
  if (code !== null) throw unreachableFailure(host, code, error);
  const text = (isRecord(error) ? textAt(error, "message") : null) ?? "no reason given";
  throw new Failure(
    "INTERNAL_ERROR",
    `"${host.name}" at ${host.baseUrl} failed: ${text.slice(0, 300)}`,
    { cause: error },
  );
}

function failureOfAnswer(error: HostError, host: ModelHost): Refusal {
  const { status, message } = error;
  const { name, baseUrl } = host;
  const text = message.toLowerCase();
  // These messages contain text of the model: they are matched before all others, and only the model is shown them.
  const gaveUp = new HostError(status, "the host's parser gave up");
  if (TOOL_TROUBLE.some((part) => text.includes(part))) {
    throw new ToolCallUnreadable(name, message, gaveUp);
  }
  if (text.includes(FORM_TROUBLE)) throw new ReplyUnreadable(name, message, gaveUp);
  if (POOL_FULL.every((part) => text.includes(part))) {
    throw busyHost(host, error, `${message} Its slots share one window: give each its own (-np).`);
  }
  if (OVERFLOW.some((part) => text.includes(part))) return promptOverflow(name);
  if (UNSUPPORTED.some((part) => text.includes(part))) {
    return refuse("MODEL_UNSUPPORTED", `"${name}" can't do this: ${message}`);
  }
  if (NO_ROOM.some((part) => text.includes(part))) throw noRoomFailure(host, error);
  if ((status === 404 || status === 400) && saysModelMissing(message)) throw modelMissing(host);
  if (status === 503 || status === 429) throw busyHost(host, error, message);
  if (isLocked({ status })) throw lockedFailure(host, status);
  if (NO_MODEL_HOST.has(status) || status < 400) throw unreachableFailure(host, `HTTP ${status}`);
  const words = `"${name}" at ${baseUrl} failed with HTTP ${status}: ${message}`;
  if (status >= 500) throw failedAtHost(host, words, error);
  throw new Failure("INTERNAL_ERROR", words);
}

/** Errors of hosts that could not read a tool call of the model, or that do not take tools after all; lower case. */
const TOOL_TROUBLE = [
  "error parsing tool call",
  "parse tool call",
  "xml syntax error",
  "failed to parse xml",
  "expected element type",
  "failed to parse input at pos",
  "does not support tools",
  "tool choice requires",
  "param requires --jinja",
];

/** Error of llama.cpp for a reply that does not have the form of tools or of a schema; lower case. */
const FORM_TROUBLE = "produced output that does not match the expected";

/**
 * Error of llama.cpp whose slots share one window, when several prompts together fill it; lower case. A single prompt that
 * is too long gets another error; LM Studio uses the first text for that, but without the type.
 */
const POOL_FULL = ["context size has been exceeded", "server_error"];

/** Errors of Ollama, llama.cpp, vLLM and LM Studio for a prompt that does not fit; lower case. */
const OVERFLOW = [
  "longer than the context length",
  "exceeds the available context size",
  "exceeds the context length",
  "exceed_context_size",
  "context size has been exceeded",
  "context_length_exceeded",
  "maximum context length",
  "maximum model length",
  "context length of only",
  "greater than the context length",
  // llama-cpp-python: "Requested tokens (9437) exceed context window of 8192".
  "exceed context window",
  // llama.cpp for an input of embeddings: "input (700 tokens) is too large to process", "larger than the max context size".
  "is too large to process",
  "larger than the max context size",
];

/** Errors of hosts whose model has another purpose, or that can't enforce this schema; lower case. */
const UNSUPPORTED = [
  "does not support",
  "is not an llm",
  "is not llm",
  "required for format",
  "invalid json schema",
  "parse grammar",
  "unable to generate parser",
  "response_format",
];

/** Errors of hosts that have no memory for the model, or have unloaded it meanwhile; lower case. */
const NO_ROOM = [
  "out of memory",
  "insufficient memory",
  "not enough memory",
  "more system memory",
  "insufficient system resources",
  "failed to allocate",
  "unable to allocate",
  "unloaded",
  "not loaded",
  "no models loaded",
  "failed to load model",
  "error loading model",
];

/** Codes of a connection that broke after the call was sent; with all others no connection was made. */
const BREAKS = new Set(["ECONNRESET", "EPIPE", "HPE_INVALID_EOF_STATE"]);

/** Statuses of a proxy or another server. */
const NO_MODEL_HOST = new Set([404, 405, 502, 504]);

/** Whether a host requires a key. */
export const isLocked = ({ status }: Pick<HostError, "status">): boolean =>
  status === 401 || status === 403;

/** Whether an error says that the model is missing, and not the route. */
export function saysModelMissing(message: string): boolean {
  const text = message.toLowerCase();
  if (text.includes("model_not_found") || text.includes("invalid model identifier")) return true;
  return text.includes("model") && (text.includes("not found") || text.includes("does not exist"));
}

const MOST_MODELS = 20;

/** @param has the models that the host lists */
export function modelMissing(
  { name, baseUrl, toInstall }: ModelHost,
  has: readonly string[] = [],
): Failure {
  const more = has.length > MOST_MODELS ? ` and ${has.length - MOST_MODELS} more` : "";
  const listed = has.length === 0 ? "" : ` It has ${has.slice(0, MOST_MODELS).join(", ")}${more}.`;
  return new Failure("MODEL_NOT_FOUND", `${baseUrl} has no model "${name}".${listed} ${toInstall}`);
}

const promptOverflow = (name: string): Refusal =>
  refuse(
    "CONTEXT_OVERFLOW",
    `The prompt does not fit the window of "${name}". Raise model.num_ctx, or lower ask.top_n.`,
  );

const busyHost = (
  { baseUrl }: ModelHost,
  { status, retryAfterMs }: HostError,
  message: string,
): HostFailure =>
  new HostFailure("MODEL_OVERLOADED", `${baseUrl} is busy (HTTP ${status}): ${message}`, {
    host: baseUrl,
    retryAfterMs,
  });

/** The host may have memory again when something else releases it: the call waits. */
const noRoomFailure = (
  { name, baseUrl }: ModelHost,
  { status, message, retryAfterMs }: HostError,
): HostFailure =>
  new HostFailure(
    "MODEL_OVERLOADED",
    `${baseUrl} has no room for "${name}" (HTTP ${status}): ${message} Look at what else it holds, and at its log.`,
    { host: baseUrl, retryAfterMs },
  );

/** The host only loaded the model and did not run it. */
export const loadedOnly = ({ name, baseUrl }: ModelPlace): HostFailure =>
  new HostFailure(
    "MODEL_OVERLOADED",
    `${baseUrl} loaded "${name}" without running it. The call is repeated.`,
    { host: baseUrl },
  );

/** A host that fails, possibly because of this request: the job counts such failures. */
const failedAtHost = (
  { baseUrl, trial }: ModelHost,
  words: string,
  cause: HostError,
): HostFailure =>
  new HostFailure("MODEL_UNREACHABLE", `${words} Look at the host's log.`, {
    host: baseUrl,
    brokeOff: true,
    trial,
    cause,
  });

function unreachableFailure(host: ModelHost, why: string, cause?: unknown): HostFailure {
  const { baseUrl, server, toStart, trial } = host;
  const brokeOff = BREAKS.has(why);
  const { message, remedy } = tlsFailure(why, host) ?? {
    message: `No ${server} answers at ${baseUrl} (${why}).`,
    remedy: toStart,
  };
  return new HostFailure("MODEL_UNREACHABLE", `${message} ${remedy}`, {
    host: baseUrl,
    brokeOff,
    trial: brokeOff ? trial : undefined,
    cause,
  });
}

const proxyFailure = ({ baseUrl, entry = "" }: ModelHost, cause: ProxyRefused): HostFailure =>
  new HostFailure(
    "MODEL_UNREACHABLE",
    `${baseUrl} is not reached: ${cause.message}. Look at proxy of hosts: ${entry}, and at what it lets through.`,
    { host: baseUrl, cause },
  );

/** The failure of a call to a host that is skipped because earlier calls failed. */
export function hostDown(
  host: string,
  { error_message, next_probe_at }: Pick<ClosedHost, "error_message" | "next_probe_at">,
): HostFailure {
  const when = next_probe_at === null ? "soon" : `at ${next_probe_at.toISOString()}`;
  return new HostFailure(
    "MODEL_UNREACHABLE",
    `${host} is down, and is asked again ${when}. ${error_message ?? ""}`.trim(),
    { host },
  );
}

/** The failure of a call to a host that works and has to be left alone for a while. */
export const hostPaused = (host: string, againMs: number): HostFailure =>
  new HostFailure(
    "MODEL_OVERLOADED",
    `${host} takes no call for another ${Math.ceil(againMs / 1_000)} s, by its limits or because it asked for that.`,
    { host, retryAfterMs: againMs },
  );

/** The part of the reply that arrived is discarded, as with a broken connection. */
const brokeOff = ({ name, baseUrl, trial }: ModelHost, cause: BrokenReply): HostFailure =>
  new HostFailure(
    "MODEL_UNREACHABLE",
    `The reply of "${name}" at ${baseUrl} broke off: ${cause.message}. Look at the host's log if it happens again.`,
    { host: baseUrl, brokeOff: true, trial, cause },
  );

const lockedFailure = ({ baseUrl, server, entry }: ModelHost, status: number): Failure =>
  entry === undefined
    ? new Failure(
        "MODEL_UNREACHABLE",
        `The ${server} at ${baseUrl} asks for a key (HTTP ${status}), and Nightdesk sends none. List it in hosts with ` +
          `key_env or key_file, start it without one, or let a proxy on this machine add it.`,
      )
    : new HostFailure(
        "MODEL_UNREACHABLE",
        `The ${server} at ${baseUrl} lets nobody in with the key of hosts: ${entry} (HTTP ${status}). Look at its key_env or key_file.`,
        { host: baseUrl },
      );

/** The code of an error of the connection, of TLS or of the HTTP parser, at any depth of the chain of causes. */
function networkCode(error: unknown): string | null {
  for (let cause = error; isRecord(cause); cause = cause["cause"]) {
    const { code } = cause;
    if (typeof code === "string" && !code.startsWith("ERR_INVALID")) return code;
  }
  return null;
}
