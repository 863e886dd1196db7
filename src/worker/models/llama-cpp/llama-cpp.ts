import type { Config } from "../../../shared/config/schema.ts";
import { Failure, refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import { withDeadline } from "../deadline.ts";
import type { Model, ModelFacts, ModelReply, ModelRequest } from "../model.ts";
import { replyTokens, roomForPrompt } from "../prompt-window.ts";
import { toModelReply } from "../streamed-reply.ts";
import { digestOf, findModelFile } from "./gguf-file.ts";
import { grammarSchemaOf } from "./grammar-schema.ts";
import { ProcessEnded, startModelProcess } from "./model-process.ts";
import type { Completion, CompletionReply, ModelProcess } from "./model-process.ts";
import { holdOneAtATime } from "./one-at-a-time.ts";
import { requireRuntime, RUNTIME } from "./runtime.ts";

export type LlamaCppConfig = Pick<Config, "model" | "embed" | "queue" | "roots">;

/** A process with the model of a file, and what that file was when it was loaded. */
type Held = {
  readonly process: ModelProcess;
  readonly digest: string;
  replies: number;
  calls: number;
};

/**
 * Models of GGUF files in a process of this machine, one model at a time. The window is each call's own, a prompt is
 * counted by the model's tokenizer before it is read, and a reply is held to a schema by a grammar.
 *
 * Opening one loads it. @throws Failure MODEL_NOT_FOUND, MODEL_TIMEOUT, TOOL_ERROR; the signal's reason
 */
export function llamaCppModels(
  config: LlamaCppConfig,
): (name: string, signal: AbortSignal) => Promise<Model> {
  const { keep_alive } = config.model;
  const idleMs = durationMs(keep_alive);
  let idle: NodeJS.Timeout | undefined;
  const holder = holdOneAtATime<Held>({
    open: (name) => start(name, config),
    close: ({ process }) => {
      process.close();
    },
    isUsable: ({ process }) => process.isAlive(),
  });
  const using: Using = async (name, signal, use) => {
    clearTimeout(idle);
    try {
      return await holder.with(name, signal, use);
    } finally {
      clearTimeout(idle);
      if (idleMs === 0) holder.release();
      else if (idleMs > 0) idle = setTimeout(holder.release, idleMs).unref();
    }
  };
  return async (name, signal) => {
    const { version } = requireRuntime(config);
    await findModelFile(name, config);
    return using(name, signal, (held) =>
      Promise.resolve(modelOf({ name, version, config }, held, using)),
    );
  };
}

type Using = <T>(name: string, signal: AbortSignal, use: (held: Held) => Promise<T>) => Promise<T>;
type Opened = { readonly name: string; readonly version: string; readonly config: LlamaCppConfig };

async function start(name: string, config: LlamaCppConfig): Promise<Held> {
  const { model, queue } = config;
  const { gpu, threads, memory_mb } = model.llama_cpp;
  const { library } = requireRuntime(config);
  const file = await findModelFile(name, config);
  const digest = await digestOf(file);
  const options = {
    name,
    load: {
      kind: "load",
      library,
      file,
      windowTokens: model.num_ctx,
      parallel: model.parallel ?? queue.concurrency,
      gpu,
      threads,
    },
    loadTimeoutMs: model.timeout_s * 1_000,
    memoryBytes: memory_mb === null ? null : memory_mb * 1_000_000,
    execArgv: process.execArgv,
  } as const;
  const child = await startModelProcess(options, new AbortController().signal).catch(
    (error: unknown) => {
      throw error instanceof ProcessEnded ? diedLoading(name, error) : error;
    },
  );
  return { process: child, digest, replies: 0, calls: 0 };
}

function modelOf(
  { name, version, config }: Opened,
  { process, digest }: Held,
  using: Using,
): Model {
  const { num_ctx, temperature, seed, llama_cpp } = config.model;
  const windowTokens = process.ready.model?.windowTokens ?? num_ctx;
  const facts: ModelFacts = {
    provider: "llama-cpp",
    isFree: false,
    readsPrompts: true,
    digest,
    quantization: process.ready.model?.quantization ?? null,
    serverVersion: `${RUNTIME.name} ${version}, ${process.ready.processor}`,
    windowTokens,
    toolProtocol: "schema",
    ignoresSchemas: false,
    options: { temperature, seed, num_ctx: windowTokens },
  };
  const askOnce = (request: ModelRequest, signal: AbortSignal, onStarted: () => void) =>
    using(name, signal, async (held) => {
      if (held.digest !== digest) throw changed(name);
      held.calls += 1;
      try {
        const limit = replyTokens(windowTokens, request.maxTokens);
        const reply = await held.process.complete(
          completionOf(request, { temperature, seed, limit }),
          signal,
          onStarted,
        );
        held.replies += 1;
        return judge(reply, { name, windowTokens, limit });
      } finally {
        held.calls -= 1;
        if (held.calls === 0 && held.replies >= llama_cpp.recycle_replies) held.process.close();
      }
    });
  return {
    name,
    facts,
    promptChars: (maxTokens) => roomForPrompt(windowTokens, maxTokens),
    complete(request, signal) {
      const { timeoutMs } = request;
      const waits = { signal, timeoutMs, late: () => stillWaiting(name, timeoutMs) };
      return withDeadline(waits, (until, restart) =>
        askTwice(name, () =>
          askOnce(request, until, () => {
            restart(() => lateReply(name, timeoutMs));
          }),
        ),
      );
    },
  };
}

type Defaults = { readonly temperature: number; readonly seed: number; readonly limit: number };

const completionOf = (
  { messages, temperature, seed, topP, stop, format }: ModelRequest,
  defaults: Defaults,
): Completion => ({
  messages: messages.map(({ role, content }) => ({ role, content })),
  maxTokens: defaults.limit,
  temperature: temperature ?? defaults.temperature,
  seed: seed ?? defaults.seed,
  topP: topP ?? null,
  stop: stop ?? [],
  format: format === undefined ? null : format === "json" ? "json" : grammarSchemaOf(format),
});

type Bounds = { readonly name: string; readonly windowTokens: number; readonly limit: number };

function judge(
  reply: CompletionReply,
  { name, windowTokens, limit }: Bounds,
): ModelReply | Refusal {
  switch (reply.kind) {
    case "completed":
      return toModelReply(
        { ...reply, toolCalls: [], loadMs: 0 },
        { windowTokens, replyTokens: limit },
      );
    case "too_long":
      return refuse(
        "CONTEXT_OVERFLOW",
        `The prompt takes ${reply.promptTokens} tokens, and the window of "${name}" has ${windowTokens}, which the reply ` +
          "shares. Raise model.num_ctx, or lower ask.top_n.",
      );
    case "failed":
      throw new Failure(
        "TOOL_ERROR",
        `llama.cpp broke off a reply of "${name}" (${reply.error || "no reason given"}). If it happens again, lower ` +
          "model.num_ctx, or use another model.",
      );
  }
}

/** What killed a process, such as a lack of memory, may have passed; twice in a row is no accident. */
async function askTwice<T>(name: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProcessEnded)) throw error;
  }
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ProcessEnded)) throw error;
    throw new Failure(
      "TOOL_ERROR",
      `The process of "${name}" ended twice at the same prompt (${error.how}). Give it more memory, or lower ` +
        "model.num_ctx or model.parallel.",
      { cause: error },
    );
  }
}

const diedLoading = (name: string, { how }: ProcessEnded): Failure =>
  new Failure(
    "TOOL_ERROR",
    `The process of "${name}" ended while it loaded (${how}). Give it more memory, or use a smaller model.`,
  );

/** Whoever remembers the model forgets it, and finds the new one at the next attempt. */
const changed = (name: string): Failure =>
  new Failure("MODEL_NOT_FOUND", `The file of "${name}" was changed since it was opened.`);

const lateReply = (name: string, timeoutMs: number): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${name}" did not finish within ${timeoutMs / 1_000} s on this machine. Raise model.timeout_s, or use a smaller ` +
      "model.",
  );

const stillWaiting = (name: string, timeoutMs: number): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${name}" had no turn within ${timeoutMs / 1_000} s: other calls, or another model, took all of it. Raise ` +
      "model.timeout_s or model.parallel, or use one model.",
  );

const UNITS = { ns: 1e-6, us: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Of model.keep_alive, whose form the configuration has checked; negative for ever. */
export function durationMs(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ns|us|ms|s|m|h)/g)];
  const sum = parts.reduce(
    (total, [, count, unit]) => total + Number(count) * UNITS[unit as keyof typeof UNITS],
    0,
  );
  return text.startsWith("-") ? -1 : Math.min(sum, 2 ** 31 - 1);
}
