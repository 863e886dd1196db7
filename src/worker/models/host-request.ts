import type { IncomingMessage, RequestOptions } from "node:http";
import { Failure } from "../../shared/failure.ts";
import { isRecord, parseJson } from "../../shared/schema/json-value.ts";
import { OPEN_ACCESS, withoutSecrets } from "./host-access.ts";
import type { Credentials, HostAccess } from "./host-access.ts";
import { connectionError, openRequest } from "./open-request.ts";

/** An answer of a host that is no reply: a status, and its reason in at most 300 characters. */
export class HostError extends Error {
  override readonly name = "HostError";
  /** The status of the answer; below 400 for an answer that no model host gives, such as a web page or a redirect. */
  readonly status: number;
  /** How long the host asks to be left alone; null if it does not. */
  readonly retryAfterMs: number | null;

  constructor(status: number, reason: string, retryAfterMs: number | null = null) {
    super(reason.slice(0, 300));
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

const MAX_ERROR_BYTES = 64 * 1024;
/** Probes of the connection detect a host that disappeared silently. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Calls a host over a connection of its own, and resolves with the first byte of a good answer. It does not use the built-in
 * fetch: that gives up after 300 s without headers, although a slow model needs longer, and can leave an aborted read pending
 * for ever. When `signal` aborts, the connection closes, so that the host stops generating.
 *
 * @param json body of a POST; null for a GET
 * @throws HostError for any other answer; the system's error for a failed connection, or ProxyRefused; what `access` throws
 */
export async function askHost(
  url: string,
  json: string | null,
  signal: AbortSignal,
  access: HostAccess = OPEN_ACCESS,
): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const credentials = await access();
  const response = await send(new URL(url), json, signal, credentials);
  const status = response.statusCode ?? 502;
  if (status === 200 && !isPage(response)) return response;
  // Some hosts repeat the rejected key in their error.
  const reason = withoutSecrets(await reasonOf(response), credentials.secrets);
  response.destroy();
  throw new HostError(status, reason, retryAfterOf(response));
}

function send(
  url: URL,
  json: string | null,
  signal: AbortSignal,
  credentials: Credentials,
): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method: json === null ? "GET" : "POST",
    headers: { ...credentials.headers, ...(json === null ? {} : headersOf(json)) },
    signal,
  };
  return new Promise((resolve, reject) => {
    openRequest({ url, options, credentials }, resolve).then((request) => {
      request.on("error", (error) => {
        reject(connectionError(error, credentials.proxy));
      });
      request.setSocketKeepAlive(true, KEEP_ALIVE_MS);
      request.end(json ?? undefined);
    }, reject);
  });
}

/** The Retry-After of 429 and 503, which is in seconds or a date; null if there is none. */
function retryAfterOf({ headers, statusCode }: IncomingMessage): number | null {
  const said = headers["retry-after"]?.trim() ?? "";
  if (said === "" || (statusCode !== 429 && statusCode !== 503)) return null;
  const seconds = /^\d{1,6}(?:\.\d{1,3})?$/.test(said) ? Number(said) : null;
  const ms = seconds === null ? Date.parse(said) - Date.now() : seconds * 1_000;
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}

const headersOf = (json: string): Record<string, string | number> => ({
  "content-type": "application/json",
  "content-length": Buffer.byteLength(json),
});

const isPage = ({ headers }: IncomingMessage): boolean =>
  (headers["content-type"] ?? "").toLowerCase().startsWith("text/html");

async function reasonOf(response: IncomingMessage): Promise<string> {
  if (isPage(response)) return "a web page";
  const text = await readHead(response, MAX_ERROR_BYTES);
  return errorTextOf(parseWire(text)) ?? (text.trim() || (response.statusMessage ?? "no reason"));
}

/**
 * The message of an error object, in the shapes that hosts use: `{error: text}`, `{error: {message, type}}`,
 * `{message, type}`, `{detail}`; null if there is none.
 */
export function errorTextOf(wire: Wire | null): string | null {
  const error = wireAt(wire, "error") ?? wire;
  const text = textAt(wire, "error") ?? textAt(error, "message") ?? textAt(wire, "detail");
  if (text === null) return null;
  const kind = textAt(error, "code") ?? textAt(error, "type");
  return kind === null ? text : `${text} (${kind})`;
}

/** The limit of a reply that is not streamed, such as vectors. */
const MAX_WHOLE_BYTES = 32 * 1024 * 1024;

/** The limits of a streamed reply. */
export type ReplyLimits = {
  /** UTF-16 units of its text and of the arguments of its calls. */
  readonly chars: number;
  /** All bytes on the wire, including thinking and the JSON around each token. */
  readonly bytes: number;
};

/** Prose has 4 to 5 characters a token; but for example lines of dashes and blanks have many more. */
const CHARS_A_TOKEN = 32;
/** One streamed token takes up to 300 bytes of JSON, and an escaped character up to 6. */
const BYTES_A_TOKEN = 1024;

/**
 * What a host may send for a requested number of tokens. Small requests get a minimum, because hosts count differently, and
 * some do not count thinking; a reply beyond the upper limits is useless.
 */
export const replyLimits = (tokens: number): ReplyLimits => ({
  chars: clamp(tokens * CHARS_A_TOKEN, 16 * 1024, 512 * 1024),
  bytes: clamp(tokens * BYTES_A_TOKEN, 2 * 1024 * 1024, 16 * 1024 * 1024),
});

const clamp = (value: number, least: number, most: number): number =>
  Math.min(most, Math.max(least, value));

/**
 * Yields the lines of a reply as they arrive, without line ends; a character may be split over chunks. Leaving the loop closes
 * the connection. Throws Failure MODEL_OUTPUT_INVALID for a reply over the limit of bytes.
 */
export async function* readLines(
  response: IncomingMessage,
  { bytes: most }: Pick<ReplyLimits, "bytes">,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let received = 0;
  let line: string[] = [];
  for await (const bytes of response as AsyncIterable<Buffer>) {
    received += bytes.length;
    if (received > most) throw tooLong(`${most} bytes`);
    const [end = "", ...next] = decoder.decode(bytes, { stream: true }).split("\n");
    line.push(end);
    for (const start of next) {
      yield withoutReturn(line.join(""));
      line = [start];
    }
  }
  const last = line.join("") + decoder.decode();
  if (last !== "") yield withoutReturn(last);
}

const withoutReturn = (line: string): string => (line.endsWith("\r") ? line.slice(0, -1) : line);

/** Reads the whole text. Throws Failure MODEL_OUTPUT_INVALID when it is over 32 MB. */
export async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let received = 0;
  for await (const bytes of response as AsyncIterable<Buffer>) {
    received += bytes.length;
    if (received > MAX_WHOLE_BYTES) throw invalidReply(`it is over ${MAX_WHOLE_BYTES} bytes`);
    parts.push(bytes);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Reads the beginning of a text, and does not wait for the rest. */
export async function readHead(response: IncomingMessage, maxBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let received = 0;
  for await (const bytes of response as AsyncIterable<Buffer>) {
    received += bytes.length;
    parts.push(bytes);
    if (received >= maxBytes) break;
  }
  return Buffer.concat(parts).toString("utf8", 0, maxBytes);
}

export const tooLong = (most: string): Failure =>
  invalidReply(`it is over ${most}, which is more than the tokens that were asked for can take`);

/**
 * A stream that ended too early or contains invalid data, so the reply is incomplete. The next try may work, so it counts as a
 * dropped connection.
 */
export class BrokenReply extends Error {
  override readonly name = "BrokenReply";
}

export const invalidReply = (why: string): Failure =>
  new Failure("MODEL_OUTPUT_INVALID", `The reply of the model host can't be read: ${why}.`);

/** An unchecked object as a host sent it. */
export type Wire = Readonly<Record<string, unknown>>;

/** The JSON object in a text; null if there is none. */
export function parseWire(text: string): Wire | null {
  const value = parseJson(text);
  return isRecord(value) ? value : null;
}

export const textAt = (wire: Wire | null | undefined, key: string): string | null => {
  const value = wire?.[key];
  return typeof value === "string" && value !== "" ? value : null;
};

export const wireAt = (wire: Wire | null | undefined, key: string): Wire | null => {
  const value = wire?.[key];
  return isRecord(value) ? value : null;
};

/** The objects of a list; empty if there is no list. */
export const wiresAt = (wire: Wire | null | undefined, key: string): readonly Wire[] => {
  const value = wire?.[key];
  return Array.isArray(value) ? value.filter(isRecord) : [];
};

/** The largest count that a column of the database takes. */
const MAX_COUNT = 2_147_483_647;

/** A whole number from 0; 0 if it is missing, because Go omits zeros, or invalid. */
export const countAt = (wire: Wire | null | undefined, key: string): number => {
  const value = wire?.[key];
  const isCount = Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= MAX_COUNT;
  return isCount ? Number(value) : 0;
};

/** The text of one key in each entry of a list, such as the names of the models of a host. */
export const textsAt = (
  wire: Wire | null | undefined,
  list: string,
  key: string,
): readonly string[] => wiresAt(wire, list).flatMap((entry) => textAt(entry, key) ?? []);
