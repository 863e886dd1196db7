import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerChat, sendJson } from "./ollama/chat-route.ts";
import type { RequestRecord } from "./ollama/chat-route.ts";
import { isRecord, parseChatRequest } from "./ollama/chat-request.ts";
import type { Body } from "./ollama/chat-request.ts";
import { findModel, fullName } from "./ollama/double-model.ts";
import type { DoubleModel } from "./ollama/double-model.ts";
import { HttpError } from "./ollama/http-error.ts";
import { manualClock } from "./ollama/manual-clock.ts";
import type { ManualClock } from "./ollama/manual-clock.ts";
import { Scheduler } from "./ollama/scheduler.ts";
import { tokensOf } from "./ollama/window.ts";

export type OllamaDoubleOptions = {
  readonly models: readonly DoubleModel[];
  readonly numParallel?: number;
  readonly maxQueue?: number;
  readonly loadMs?: number;
  readonly defaultNumCtx?: number;
  /** `old`: up to v0.24, which fills the window when it cuts and ignores truncate and shift. */
  readonly version?: "old" | "new";
};

export type OllamaDouble = {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  /** Load time and keep-alive run on it; only the test moves it. */
  readonly clock: ManualClock;
  /** Every request so far, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** Resolves when the requests meet the condition; rejects after 5 s. */
  until(condition: (requests: readonly RequestRecord[]) => boolean): Promise<void>;
  close(): Promise<void>;
};

/** An HTTP double of Ollama that keeps state: models, windows, slots, load time, keep-alive, aborts. */
export async function startOllamaDouble(options: OllamaDoubleOptions): Promise<OllamaDouble> {
  const clock = manualClock();
  const { numParallel = 1, maxQueue = 512, loadMs = 0 } = options;
  const scheduler = new Scheduler({ numParallel, maxQueue, loadMs, clock });
  const requests: RequestRecord[] = [];
  const listeners = new Set<() => void>();
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const state: ServerState = { options, scheduler, requests, changed, clock };
  const server = createServer((request, response) => void serve(request, response, state));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    clock,
    requests,
    until: (condition) => waitUntil(() => condition(requests), listeners),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const WAIT_LIMIT_MS = 5000;

function waitUntil(isMet: () => boolean, listeners: Set<() => void>): Promise<void> {
  if (isMet()) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      listeners.delete(check);
      reject(new Error("the double's requests did not come to what the test waits for"));
    }, WAIT_LIMIT_MS);
    const check = (): void => {
      if (!isMet()) return;
      clearTimeout(timer);
      listeners.delete(check);
      resolve();
    };
    listeners.add(check);
  });
}

type ServerState = {
  readonly options: OllamaDoubleOptions;
  readonly scheduler: Scheduler;
  readonly requests: RequestRecord[];
  readonly changed: () => void;
  readonly clock: ManualClock;
};

type Route = (
  context: { readonly body: Body; readonly record: RequestRecord; readonly signal: AbortSignal },
  response: ServerResponse,
  state: ServerState,
) => Promise<void> | void;

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  state: ServerState,
): Promise<void> {
  const path = new URL(request.url ?? "/", "http://double").pathname;
  const methods = ROUTES[path];
  const route = methods?.[request.method === "HEAD" ? "GET" : (request.method ?? "GET")];
  if (route === undefined) {
    sendText(response, methods === undefined ? 404 : 405);
    return;
  }
  const aborted = new AbortController();
  const record: RequestRecord = {
    path,
    body: {},
    state: "waiting",
    status: null,
    promptTokens: null,
  };
  response.on("close", () => {
    if (!response.writableFinished) aborted.abort(new Error("the client went away"));
  });
  await answer(request, response, { ...state, route, record, signal: aborted.signal });
}

type Serving = ServerState & {
  readonly route: Route;
  readonly record: RequestRecord;
  readonly signal: AbortSignal;
};

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  serving: Serving,
): Promise<void> {
  const { route, record, signal, requests, changed } = serving;
  try {
    const body = request.method === "POST" ? await readBody(request) : {};
    Object.assign(record, { body });
    requests.push(record);
    changed();
    await route({ body, record, signal }, response, serving);
    record.state = signal.aborted ? "aborted" : "done";
  } catch (error) {
    record.state = signal.aborted ? "aborted" : "refused";
    const { status, text } = failureOf(error);
    if (!signal.aborted) sendJson(response, status, { error: text });
  }
  record.status = signal.aborted ? null : response.statusCode;
  changed();
}

const failureOf = (error: unknown): { status: number; text: string } =>
  error instanceof HttpError
    ? { status: error.status, text: error.message }
    : { status: 500, text: String(error) };

async function readBody(request: IncomingMessage): Promise<Body> {
  request.setEncoding("utf8");
  let text = "";
  for await (const part of request as AsyncIterable<string>) text += part;
  if (text === "") throw new HttpError(400, "missing request body");
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    const char = text.trim().charAt(0);
    const isCut = char === "{" || char === "[";
    const found = isCut
      ? "unexpected EOF"
      : `invalid character '${char}' looking for beginning of value`;
    throw new HttpError(400, found);
  }
  return isRecord(body) ? body : {};
}

function sendText(response: ServerResponse, status: 404 | 405): void {
  response.writeHead(status, { "content-type": "text/plain" });
  response.end(status === 404 ? "404 page not found" : "405 method not allowed");
}

const chat =
  (shape: "chat" | "generate"): Route =>
  ({ body, record, signal }, response, { options, scheduler, changed }) => {
    const asChat = shape === "chat" ? body : { ...body, messages: promptMessages(body) };
    const request = parseChatRequest(asChat, options.models);
    const { version = "new", defaultNumCtx = 4096 } = options;
    const context = { scheduler, version, defaultNumCtx, record, changed, signal, shape };
    return answerChat(request, response, context);
  };

const promptMessages = ({ prompt }: Body): unknown[] =>
  typeof prompt === "string" && prompt !== "" ? [{ role: "user", content: prompt }] : [];

const VECTOR_SIZE = 8;

const embed: Route = ({ body }, response, { options }) => {
  const asked = typeof body["model"] === "string" ? body["model"] : "";
  const model = findModel(options.models, asked);
  if (model === undefined) {
    throw new HttpError(404, `model "${asked}" not found, try pulling it first`);
  }
  if (!(model.capabilities ?? []).includes("embedding")) {
    throw new HttpError(
      501,
      "This server does not support embeddings. Start it with `--embeddings`",
    );
  }
  const input = body["input"] ?? [];
  const texts = (Array.isArray(input) ? input : [input]).map(String).filter((text) => text !== "");
  const limit = model.contextLength ?? 512;
  if (body["truncate"] === false && texts.some((text) => tokensOf(text).length > limit)) {
    throw new HttpError(400, "the input length exceeds the context length");
  }
  const embeddings = texts.map((text) => unitVector(tokensOf(text).slice(0, limit).join(" ")));
  sendJson(response, 200, { model: asked, embeddings, total_duration: 1000 });
};

function unitVector(text: string): number[] {
  const bytes = createHash("sha256").update(text).digest().subarray(0, VECTOR_SIZE);
  const values = [...bytes].map((byte) => byte - 127.5);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

const digestOf = (model: DoubleModel): string =>
  model.digest ?? createHash("sha256").update(fullName(model.name)).digest("hex");

const tags: Route = (_, response, { options }) => {
  const models = options.models.map((model) => ({
    name: fullName(model.name),
    model: fullName(model.name),
    modified_at: new Date(0).toISOString(),
    size: 1,
    digest: digestOf(model),
    details: { format: "gguf", family: "double", quantization_level: "Q4_K_M" },
  }));
  sendJson(response, 200, { models });
};

const show: Route = ({ body }, response, { options }) => {
  const asked = body["model"] ?? body["name"];
  if (typeof asked !== "string" || asked === "") throw new HttpError(400, "model is required");
  const model = findModel(options.models, asked);
  if (model === undefined) throw new HttpError(404, `model '${fullName(asked)}' not found`);
  sendJson(response, 200, {
    details: { format: "gguf", family: "double", quantization_level: "Q4_K_M" },
    model_info: {
      "general.architecture": "double",
      "double.context_length": model.contextLength ?? 4096,
    },
    capabilities: model.capabilities ?? ["completion"],
    modified_at: new Date(0).toISOString(),
  });
};

const running: Route = (_, response, { scheduler, options, clock }) => {
  const models = scheduler.loaded().map(({ name, numCtx, expiresAt }) => {
    const model = findModel(options.models, name);
    const digest = model === undefined ? "" : digestOf(model);
    const expires = new Date(Math.min(expiresAt, clock.now() + 3.15e12));
    return { name, digest, context_length: numCtx, expires_at: expires.toISOString() };
  });
  sendJson(response, 200, { models });
};

const version: Route = (_, response, { options }) => {
  sendJson(response, 200, { version: options.version === "old" ? "0.24.0" : "0.32.15" });
};

const root: Route = (_, response) => {
  response.writeHead(200, { "content-type": "text/plain; charset=utf-8" });
  response.end("Ollama is running");
};

const ROUTES: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
  "/": { GET: root },
  "/api/chat": { POST: chat("chat") },
  "/api/generate": { POST: chat("generate") },
  "/api/embed": { POST: embed },
  "/api/tags": { GET: tags },
  "/api/show": { POST: show },
  "/api/ps": { GET: running },
  "/api/version": { GET: version },
};
