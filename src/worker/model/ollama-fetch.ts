import { request as httpRequest } from "node:http";
import type { IncomingMessage, RequestOptions } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { Failure } from "../../shared/failure.ts";

const MAX_REPLY_BYTES = 8 * 1024 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * A `fetch` for the npm client, over node:http: the built-in one gives up after 300 s without a header, which a
 * slow model needs, and can leave an aborted read pending for ever. This one
 * - ends with `signal`, which closes the connection, so that the host stops generating;
 * - turns any error body into the `{"error": text}` that the client reads without printing;
 * - throws MODEL_OUTPUT_INVALID for a broken line, which the client would print and drop, and for a reply
 *   over 8 MB.
 */
export function ollamaFetch(signal: AbortSignal): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const response = await send(url, init, signal);
    const status = response.statusCode ?? 502;
    if (status >= 400) return Response.json({ error: await errorText(response) }, { status });
    const lines = Readable.from(checkedLines(response));
    const body = Readable.toWeb(lines) as ReadableStream<Uint8Array>;
    return new Response(body, { status, headers: { "content-type": "application/x-ndjson" } });
  };
}

function send(url: URL, init: RequestInit, signal: AbortSignal): Promise<IncomingMessage> {
  const body = typeof init.body === "string" ? init.body : "";
  const options: RequestOptions = {
    method: init.method ?? "GET",
    headers: {
      ...Object.fromEntries(new Headers(init.headers)),
      "content-length": Buffer.byteLength(body),
    },
    signal,
  };
  return new Promise((resolve, reject) => {
    const open = url.protocol === "https:" ? httpsRequest : httpRequest;
    open(url, options, resolve).on("error", reject).end(body);
  });
}

async function errorText(response: IncomingMessage): Promise<string> {
  let text = "";
  response.setEncoding("utf8");
  for await (const part of response as AsyncIterable<string>) {
    text += part;
    if (text.length > MAX_ERROR_BYTES) break;
  }
  const parsed = parseJson(text);
  const error = isRecord(parsed) ? parsed["error"] : undefined;
  if (typeof error === "string") return error;
  return text.trim().slice(0, 300) || (response.statusMessage ?? "no text");
}

async function* checkedLines(response: IncomingMessage): AsyncGenerator<Buffer> {
  let received = 0;
  let rest = "";
  response.setEncoding("utf8");
  for await (const part of response as AsyncIterable<string>) {
    received += part.length;
    if (received > MAX_REPLY_BYTES) throw invalidReply(`it is over ${MAX_REPLY_BYTES} bytes`);
    const lines = (rest + part).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield checkedLine(line);
  }
  if (rest.trim() !== "") yield checkedLine(rest);
}

function checkedLine(line: string): Buffer {
  if (!isRecord(parseJson(line))) throw invalidReply("a line of it is not a JSON object");
  return Buffer.from(`${line}\n`);
}

const invalidReply = (why: string): Failure =>
  new Failure("MODEL_OUTPUT_INVALID", `The reply of the model host can't be read: ${why}.`);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
