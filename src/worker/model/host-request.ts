import { request as httpRequest } from "node:http";
import type { IncomingMessage, RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { readHead } from "./read-reply.ts";
import { parseWire, textAt, wireAt } from "./wire-json.ts";
import type { Wire } from "./wire-json.ts";

/** What a host answered in place of a reply: a status, and its reason in at most 300 characters. */
export class HostError extends Error {
  override readonly name = "HostError";
  /** Of the answer; below 400 for an answer that no model host gives, such as a page or another place. */
  readonly status: number;

  constructor(status: number, reason: string) {
    super(reason.slice(0, 300));
    this.status = status;
  }
}

const MAX_ERROR_BYTES = 64 * 1024;
/** A host that went away without a word is found out by probes of the connection. */
const KEEP_ALIVE_MS = 30_000;

/**
 * Asks a host over a connection of its own, and resolves with the first byte of a good answer. Not the built-in
 * fetch: that gives up after 300 s without a header, which a slow model needs, and can leave an aborted read
 * pending for ever. When `signal` aborts, the connection closes, so that the host stops generating.
 *
 * @param json body of a POST; null for a GET
 * @throws HostError for any other answer; the system's error for a connection that fails
 */
export async function askHost(
  url: string,
  json: string | null,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const response = await send(new URL(url), json, signal);
  const status = response.statusCode ?? 502;
  if (status === 200 && !isPage(response)) return response;
  const reason = await reasonOf(response);
  response.destroy();
  throw new HostError(status, reason);
}

function send(url: URL, json: string | null, signal: AbortSignal): Promise<IncomingMessage> {
  const options: RequestOptions = {
    // A connection of the pool may be one that the host is just closing, which would look like a host that is down.
    agent: false,
    method: json === null ? "GET" : "POST",
    headers: json === null ? {} : headersOf(json),
    signal,
  };
  return new Promise((resolve, reject) => {
    const open = url.protocol === "https:" ? httpsRequest : httpRequest;
    const request = open(url, options, resolve).on("error", reject);
    request.setSocketKeepAlive(true, KEEP_ALIVE_MS);
    request.end(json ?? undefined);
  });
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
 * The words of an error object, in the shapes that hosts give it: `{error: text}`, `{error: {message, type}}`,
 * `{message, type}`, `{detail}`; null where there is none.
 */
export function errorTextOf(wire: Wire | null): string | null {
  const error = wireAt(wire, "error") ?? wire;
  const text = textAt(wire, "error") ?? textAt(error, "message") ?? textAt(wire, "detail");
  if (text === null) return null;
  const kind = textAt(error, "code") ?? textAt(error, "type");
  return kind === null ? text : `${text} (${kind})`;
}
