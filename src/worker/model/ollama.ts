import { Ollama } from "ollama";
import type { ChatRequest } from "ollama";
import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { Model, ModelReply, ModelRequest } from "./model.ts";
import { ollamaFetch } from "./ollama-fetch.ts";
import { ollamaFailure } from "./ollama-failure.ts";
import { replyTokens, roomForPrompt, wasPromptCut } from "./prompt-window.ts";
import { removeThinking } from "./remove-thinking.ts";

/** The `model` keys of the configuration that shape a call. */
export type OllamaSettings = {
  readonly num_ctx: number;
  readonly temperature: number;
  readonly seed: number;
  readonly keep_alive: string;
};

/** What the npm client's types leave out of a chat request and Ollama takes. */
type GuardedChatRequest = ChatRequest & {
  stream: true;
  truncate: false;
  shift: false;
};

/**
 * A model of an Ollama host by its native `/api/chat`. Every call sends the same `num_ctx` (another one would
 * reload the model), forbids the silent cut of a long prompt, and checks afterwards that none happened.
 *
 * @param baseUrl `scheme://host[:port]`
 */
export function ollamaModel(name: string, baseUrl: string, settings: OllamaSettings): Model {
  return {
    name,
    promptChars: (maxTokens) => roomForPrompt(settings.num_ctx, maxTokens),
    async complete(request, signal) {
      const timeout = AbortSignal.timeout(request.timeoutMs);
      try {
        const streamed = await chat(chatRequest(name, settings, request), {
          baseUrl,
          signal: AbortSignal.any([signal, timeout]),
        });
        return judge(streamed, request, { name, windowTokens: settings.num_ctx });
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        if (timeout.aborted) throw timeoutFailure(name, baseUrl, request.timeoutMs);
        return ollamaFailure(error, name, baseUrl);
      }
    },
  };
}

function chatRequest(
  name: string,
  settings: OllamaSettings,
  { messages, maxTokens, temperature, format }: ModelRequest,
): GuardedChatRequest {
  return {
    model: name,
    messages: messages.map(({ role, content }) => ({ role, content })),
    stream: true,
    think: false,
    truncate: false,
    shift: false,
    keep_alive: settings.keep_alive,
    ...(format === undefined ? {} : { format }),
    options: {
      num_ctx: settings.num_ctx,
      num_predict: replyTokens(settings.num_ctx, maxTokens),
      temperature: temperature ?? settings.temperature,
      seed: settings.seed,
    },
  };
}

type Streamed = {
  readonly text: string;
  readonly doneReason: ModelReply["doneReason"];
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly loadNanoseconds: number;
};

async function chat(
  request: GuardedChatRequest,
  { baseUrl, signal }: { baseUrl: string; signal: AbortSignal },
): Promise<Streamed> {
  const client = new Ollama({ host: baseUrl, fetch: ollamaFetch(signal) });
  let text = "";
  for await (const chunk of await client.chat(request)) {
    text += contentOf(chunk);
    if (chunk.done) return { text, ...metricsOf(chunk) };
  }
  throw new Failure(
    "MODEL_OUTPUT_INVALID",
    "The stream of the model host ended without a last line.",
  );
}

/** What the wire holds: the client's types promise more than any host keeps. */
type Chunk = { readonly [key: string]: unknown };

function contentOf(chunk: object): string {
  const { message } = chunk as Chunk;
  const content = typeof message === "object" && message !== null && (message as Chunk)["content"];
  if (typeof content === "string") return content;
  throw new Failure("MODEL_OUTPUT_INVALID", "A line of the model host's reply has no message.");
}

/** Every number may be missing: Go leaves zeros out. */
function metricsOf(chunk: object): Omit<Streamed, "text"> {
  const wire = chunk as Chunk;
  const count = (key: string): number => {
    const value = wire[key];
    return typeof value === "number" && Number.isFinite(value) ? value : 0;
  };
  return {
    doneReason: wire["done_reason"] === "length" ? "length" : "stop",
    promptTokens: count("prompt_eval_count"),
    completionTokens: count("eval_count"),
    loadNanoseconds: count("load_duration"),
  };
}

function judge(
  streamed: Streamed,
  { messages }: ModelRequest,
  { name, windowTokens }: { name: string; windowTokens: number },
): ModelReply | Refusal {
  if (wasPromptCut(messages, streamed.promptTokens, windowTokens)) {
    return refuse(
      "CONTEXT_OVERFLOW",
      `The prompt does not fit "${name}": the host reports ${streamed.promptTokens} prompt tokens for a ` +
        `longer prompt in a window of ${windowTokens}. Raise model.num_ctx, or lower ask.top_n.`,
    );
  }
  return {
    kind: "reply",
    text: removeThinking(streamed.text),
    promptTokens: streamed.promptTokens,
    completionTokens: streamed.completionTokens,
    loadMs: streamed.loadNanoseconds / 1e6,
    doneReason: streamed.doneReason,
  };
}

const timeoutFailure = (name: string, baseUrl: string, timeoutMs: number): Failure =>
  new Failure(
    "MODEL_TIMEOUT",
    `"${name}" at ${baseUrl} did not finish within ${timeoutMs / 1000} s. ` +
      `Raise model.timeout_s, or use a smaller model.`,
  );
