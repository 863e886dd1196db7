import { once } from "node:events";
import { createServer } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Failure } from "../../src/shared/failure.ts";
import type { Refusal } from "../../src/shared/failure.ts";
import type { Model, ModelReply, ModelRequest } from "../../src/worker/models/model.ts";
import { openOllamaModel } from "../../src/worker/models/ollama.ts";
import { openOpenAiModel } from "../../src/worker/models/openai-compatible.ts";
import type { HttpDouble, RequestRecord } from "../doubles/http-double.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleModel, Script } from "../doubles/ollama/double-model.ts";
import { startOpenAiDouble } from "../doubles/openai-server.ts";

export type Started = HttpDouble & { chats(): readonly RequestRecord[] };
type StartOptions = {
  readonly models: readonly DoubleModel[];
  readonly maxQueue?: number;
};

/** A client and the double that it talks to, as the conformance suite sees both. */
export type ModelHost = {
  readonly provider: "ollama" | "openai-compatible";
  readonly chatPath: string;
  /** Where it says whether it has a model. */
  readonly aboutPath: string;
  start(options: StartOptions): Promise<Started>;
  /** A host that cuts a prompt to 512 tokens without a word. */
  startCutting(options: StartOptions): Promise<Started>;
  open(url: string, name?: string, numCtx?: number): Promise<Model>;
  /** A piece of a reply on the wire. */
  line(content: string): string;
  /** A piece of thinking on the wire. */
  thought(thinking: string): string;
  /** The schema that a request carries. */
  schemaOf(body: Readonly<Record<string, unknown>>): unknown;
  /** How the host tells that it can't read a call of the model. */
  readonly brokenCalls: readonly (readonly [string, Script])[];
};

export const WINDOW_TOKENS = 512;
/** What a model wrote, and no message may repeat. */
export const SECRET = "words of a document";
const CALL = { name: "read_text_file", args: `{"path": "${SECRET}` };
const RAW = `raw='{"path": "${SECRET}', err=unexpected end of JSON input`;

const settingsOf = (numCtx = WINDOW_TOKENS) => ({
  num_ctx: numCtx,
  temperature: 0,
  seed: 1,
  keep_alive: "5m",
});
const noSignal = (): AbortSignal => new AbortController().signal;

const ollama: ModelHost = {
  provider: "ollama",
  chatPath: "/api/chat",
  aboutPath: "/api/show",
  start: (options) => startOllamaDouble(options),
  startCutting: (options) => startOllamaDouble({ ...options, version: "old" }),
  open: (baseUrl, name = "m", numCtx = WINDOW_TOKENS) =>
    openOllamaModel({ name, baseUrl }, settingsOf(numCtx), noSignal()),
  line: (content) => `${JSON.stringify({ message: { content }, done: false })}\n`,
  thought: (thinking) => `${JSON.stringify({ message: { content: "", thinking }, done: false })}\n`,
  schemaOf: ({ format }) => format,
  brokenCalls: [
    ["a status", { text: "", failure: { status: 500, error: `error parsing tool call: ${RAW}` } }],
    [
      "a line in the middle",
      { text: "a b", ending: "error_line", errorText: `error parsing tool call: ${RAW}` },
    ],
    [
      "the words of a parser of XML",
      {
        text: "a b",
        ending: "error_line",
        errorText: "XML syntax error on line 3: element <function> closed by </parameter>",
      },
    ],
    [
      "a capability that is gone",
      { text: "", failure: { status: 400, error: '"m" does not support tools' } },
    ],
  ],
};

const writesText = ({ capabilities }: DoubleModel): boolean =>
  capabilities?.includes("completion") !== false;

const openAiCompatible: ModelHost = {
  provider: "openai-compatible",
  chatPath: "/v1/chat/completions",
  aboutPath: "/v1/models",
  start: (options) =>
    startOpenAiDouble({
      ...options,
      windowTokens: WINDOW_TOKENS,
      // The protocol has no word for what a model can do; LM Studio says it by a route of its own.
      flavour: options.models.every(writesText) ? "llama.cpp" : "lm-studio",
    }),
  startCutting: (options) =>
    startOpenAiDouble({ ...options, windowTokens: WINDOW_TOKENS, flavour: "bare" }),
  open: (baseUrl, name = "m", numCtx = WINDOW_TOKENS) =>
    openOpenAiModel({ name, baseUrl }, settingsOf(numCtx), noSignal()),
  line: (content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`,
  thought: (reasoning) => `data: ${JSON.stringify({ choices: [{ delta: { reasoning } }] })}\n\n`,
  schemaOf: ({ response_format: format }) =>
    (format as { json_schema: { schema: unknown } } | undefined)?.json_schema.schema,
  brokenCalls: [
    ["arguments that are no JSON", { text: "", toolCalls: [CALL] }],
    [
      "a status",
      { text: "", failure: { status: 500, error: `Failed to parse input at pos 3: ${SECRET}` } },
    ],
    [
      "an event in the middle",
      { text: "a b", ending: "error_line", errorText: `Failed to parse tool call: ${SECRET}` },
    ],
  ],
};

export const HOSTS: readonly ModelHost[] = [ollama, openAiCompatible];

export function requestOf({
  content = "Hi",
  ...more
}: Partial<ModelRequest> & { readonly content?: string } = {}): ModelRequest {
  return {
    messages: [
      { role: "system", content: "Be short." },
      { role: "user", content },
    ],
    task: { purpose: "chat" },
    maxTokens: 100,
    timeoutMs: 5000,
    ...more,
  };
}

export const complete = (
  model: Model,
  request: Parameters<typeof requestOf>[0] = {},
  signal: AbortSignal = noSignal(),
): Promise<ModelReply | Refusal> => model.complete(requestOf(request), signal);

/** The failure that a promise rejects with. */
export async function failureOf(run: Promise<unknown>): Promise<Failure> {
  const error = await run.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof Failure) return error;
  throw new Error(`expected a Failure, got ${String(error)}`);
}

/** What both kinds of host say of themselves, on any path but that of a chat. */
export const ABOUT = JSON.stringify({
  models: [{ name: "m:latest", digest: "AB".repeat(32) }],
  data: [{ id: "m" }],
  version: "0.32.15",
});

type Served = { readonly url: string; close(): Promise<void> };
type Answer = (response: ServerResponse, path: string) => void;

/** A server that has the model "m", and answers a chat as a test says. */
export const serveChat = (
  chatPath: string,
  answer: (response: ServerResponse) => void,
): Promise<Served> =>
  serveEverything((response, path) => {
    if (path === chatPath) answer(response);
    else response.writeHead(200, { "content-type": "application/json" }).end(ABOUT);
  });

/** A server that answers every request as a test says. */
export async function serveEverything(answer: Answer): Promise<Served> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      answer(response, request.url ?? "/");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
