import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { Ollama } from "ollama";
import type { ChatRequest } from "ollama";
import {
  askHost,
  BrokenReply,
  errorTextOf,
  HostError,
  invalidReply,
  parseWire,
  readLines,
  readText,
} from "./host-request.ts";
import { OPEN_ACCESS } from "./host-access.ts";
import type { HostAccess } from "./host-access.ts";
import type { ModelPlace } from "./host-failure.ts";
import type { ReplyLimits, Wire } from "./host-request.ts";

/**
 * The npm client of an Ollama host, for calls that are not streamed, with our own `fetch`. It ends with `signal`, which closes
 * the connection, and has no time limit of its own. It throws HostError for an answer that is no reply, and Failure
 * MODEL_OUTPUT_INVALID for a reply that is no JSON object; the npm client would print or reword both.
 *
 * @param baseUrl `scheme://host[:port]`
 */
export const ollamaClient = (
  baseUrl: string,
  signal: AbortSignal,
  access: HostAccess = OPEN_ACCESS,
): Ollama =>
  new Ollama({
    host: baseUrl,
    fetch: async (input, init) => {
      const text = await readText(await send(input, init, { signal, access }));
      if (parseWire(text) === null) throw invalidReply("it is not a JSON object");
      return new Response(text, { headers: JSON_TYPE });
    },
  });

/**
 * Yields the chunks of a chat as they arrive. The npm client prints lines that it can't parse and continues, and reports an
 * error in the middle without its status; so each line is checked before the client reads it. Leaving the loop closes the
 * connection, so that the host stops generating.
 *
 * @throws HostError for an error in the middle, BrokenReply for any other invalid stream, and Failure MODEL_OUTPUT_INVALID for
 *   a stream that is too long
 */
export async function* streamChat(
  { baseUrl, access = OPEN_ACCESS }: Pick<ModelPlace, "baseUrl" | "access">,
  request: ChatRequest,
  limits: ReplyLimits,
  signal: AbortSignal,
): AsyncGenerator<object> {
  let response: IncomingMessage | undefined;
  const client = new Ollama({
    host: baseUrl,
    fetch: async (input, init) => {
      response = await send(input, init, { signal, access });
      const lines = Readable.from(checkedLines(response, limits), { objectMode: false });
      return new Response(Readable.toWeb(lines) as ReadableStream, { headers: JSON_TYPE });
    },
  });
  try {
    yield* await client.chat({ ...request, stream: true });
  } finally {
    response?.destroy();
  }
}

const JSON_TYPE = { "content-type": "application/json" };

const send = (
  input: string | URL | Request,
  { body }: RequestInit = {},
  { signal, access }: { readonly signal: AbortSignal; readonly access: HostAccess },
): Promise<IncomingMessage> =>
  askHost(
    input instanceof Request ? input.url : String(input),
    typeof body === "string" ? body : null,
    signal,
    access,
  );

/** Yields the lines of a stream up to the one with `done`, each with its line end. */
async function* checkedLines(
  response: IncomingMessage,
  limits: ReplyLimits,
): AsyncGenerator<string> {
  for await (const line of readLines(response, limits)) {
    if (line.trim() === "") continue;
    const chunk = parseWire(line);
    if (chunk === null) throw new BrokenReply("a line of it is not a JSON object");
    const error = errorOf(chunk);
    if (error !== null) throw new HostError(500, error);
    yield `${line}\n`;
    if (chunk["done"] === true) return;
  }
  throw new BrokenReply("it ended without saying that it was done");
}

/** Ollama v0.11 puts the words "error parsing tool call" where the key belongs. */
const errorOf = (chunk: Wire): string | null =>
  errorTextOf(chunk) ??
  Object.keys(chunk).find((key) => key.startsWith("error ")) ??
  ("error" in chunk ? "an error without words" : null);
