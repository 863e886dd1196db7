import { createHash } from "node:crypto";
import { startHttpDouble } from "./http-double.ts";
import type { Body, HttpDouble, RequestRecord, Route as HttpRoute } from "./http-double.ts";
import { answerChat, BUSY, sendJson } from "./ollama/chat-route.ts";
import { parseChatRequest } from "./ollama/chat-request.ts";
import { capabilitiesOf, findModel, fullName } from "./ollama/double-model.ts";
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
  /** What /api/version says, in place of one that fits `version`. */
  readonly serverVersion?: string;
  /** Paths that this host does not have. */
  readonly without?: readonly string[];
};

export type OllamaDouble = HttpDouble & {
  /** Load time and keep-alive run on it; only the test moves it. */
  readonly clock: ManualClock;
  /** The requests of /api/chat so far, oldest first. */
  chats(): readonly RequestRecord[];
  /** Until it is `ready` again, every chat is answered with 503. */
  setChats(how: "ready" | "busy"): void;
  /** Every load of a model so far, oldest first, with its window. */
  readonly loads: readonly { readonly name: string; readonly numCtx: number }[];
};

/** An HTTP double of Ollama that keeps state: models, windows, slots, load time, keep-alive, aborts. */
export async function startOllamaDouble(options: OllamaDoubleOptions): Promise<OllamaDouble> {
  const clock = manualClock();
  const { numParallel = 1, maxQueue = 512, loadMs = 0 } = options;
  const scheduler = new Scheduler({ numParallel, maxQueue, loadMs, clock });
  const state: ServerState = { options, scheduler, clock, chats: "ready" };
  const double = await startHttpDouble({
    routes: routesOf(state),
    notFound(response, why) {
      response.writeHead(why, { "content-type": "text/plain" });
      response.end(why === 404 ? "404 page not found" : "405 method not allowed");
    },
    refuse(response, { status, message }) {
      if (!response.headersSent) sendJson(response, status, { error: message });
    },
  });
  return {
    ...double,
    clock,
    chats: () => double.requests.filter(({ path }) => path === "/api/chat"),
    setChats(how) {
      state.chats = how;
    },
    loads: scheduler.loads,
  };
}

type ServerState = {
  readonly options: OllamaDoubleOptions;
  readonly scheduler: Scheduler;
  readonly clock: ManualClock;
  chats: "ready" | "busy";
};

type Route = (
  context: Parameters<HttpRoute>[0],
  response: Parameters<HttpRoute>[1],
  state: ServerState,
) => Promise<void> | void;

const chat =
  (shape: "chat" | "generate"): Route =>
  ({ body, record, signal, changed }, response, { options, scheduler, chats }) => {
    if (chats === "busy") throw new HttpError(503, BUSY);
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
  if (!capabilitiesOf(model).includes("embedding")) {
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

const detailsOf = ({ family = "double", quantization = "Q4_K_M" }: DoubleModel): object => ({
  format: "gguf",
  family,
  quantization_level: quantization,
});

const tags: Route = (_, response, { options }) => {
  const models = options.models.map((model) => ({
    name: fullName(model.name),
    model: fullName(model.name),
    modified_at: new Date(0).toISOString(),
    size: 1,
    digest: digestOf(model),
    details: detailsOf(model),
  }));
  sendJson(response, 200, { models });
};

const show: Route = ({ body }, response, { options }) => {
  const asked = body["model"] ?? body["name"];
  if (typeof asked !== "string" || asked === "") throw new HttpError(400, "model is required");
  const model = findModel(options.models, asked);
  if (model === undefined) throw new HttpError(404, `model '${fullName(asked)}' not found`);
  sendJson(response, 200, {
    details: detailsOf(model),
    model_info: {
      "general.architecture": "double",
      "double.context_length": model.contextLength ?? 4096,
    },
    ...(model.capabilities === null ? {} : { capabilities: capabilitiesOf(model) }),
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
  const usual = options.version === "old" ? "0.24.0" : "0.32.15";
  sendJson(response, 200, { version: options.serverVersion ?? usual });
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

function routesOf(state: ServerState): Record<string, Record<string, HttpRoute>> {
  const kept = Object.entries(ROUTES).filter(
    ([path]) => state.options.without?.includes(path) !== true,
  );
  return Object.fromEntries(kept.map(([path, methods]) => [path, bindMethods(methods, state)]));
}

const bindMethods = (
  methods: Readonly<Record<string, Route>>,
  state: ServerState,
): Record<string, HttpRoute> =>
  Object.fromEntries(
    Object.entries(methods).map(([method, route]) => [
      method,
      (context, response) => route(context, response, state),
    ]),
  );
