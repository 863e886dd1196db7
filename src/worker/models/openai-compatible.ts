import { refuse } from "../../shared/failure.ts";
import type { HostTrial, Refusal } from "../../shared/failure.ts";
import { callWithTimeout } from "./deadline.ts";
import { inSetting } from "./host-failure.ts";
import type { ModelPlace } from "./host-failure.ts";
import { askHost, replyLimits } from "./host-request.ts";
import type { Message, Model, ModelFacts, ModelReply, ModelRequest } from "./model.ts";
import type { ModelSettings } from "./ollama.ts";
import { openAiHost, probeOpenAi } from "./openai-probe.ts";
import type { OpenAiProbe } from "./openai-probe.ts";
import { readResponsesStream, responsesRequest } from "./openai-responses.ts";
import { readOpenAiStream } from "./openai-stream.ts";
import {
  estimateTokens,
  replyTokens,
  roomForCountedPrompt,
  wasCountedPromptCut,
  wasPromptCut,
} from "./prompt-window.ts";
import { toModelReply, toolsOnWire } from "./streamed-reply.ts";
import { countTokens, findCounting } from "./token-count.ts";
import type { Counting } from "./token-count.ts";

type SamplingSettings = Pick<ModelSettings, "num_ctx" | "temperature" | "seed">;

/** Opens a model of an OpenAI-compatible host, after asking the host about it. Throws what probeOpenAi throws. */
export async function openOpenAiModel(
  place: ModelPlace,
  settings: SamplingSettings,
  signal: AbortSignal,
  memory: FeatureMemory = FORGETFUL,
): Promise<Model> {
  const probe = await probeOpenAi(place, signal);
  return openAiModel(place, settings, probe, await countingOf(place, probe, { signal, memory }));
}

/** Earlier findings about a host and a build of a model. */
export type FeatureMemory = {
  /** @returns null if nothing is known about this build */
  recall(build: { readonly serverVersion: string | null }): Promise<Counting | null>;
};

const FORGETFUL: FeatureMemory = { recall: async () => null };

/** Asks only servers that are known by name: others may be hosted services, where a question costs as much as a call. */
async function countingOf(
  place: ModelPlace,
  { server, serverVersion, kind }: OpenAiProbe,
  { signal, memory }: { readonly signal: AbortSignal; readonly memory: FeatureMemory },
): Promise<Counting> {
  if (kind === "embedding" || (server !== "llama.cpp" && server !== "vLLM")) return "none";
  const known = await memory.recall({ serverVersion });
  return known ?? (await findCounting(place, signal).catch(() => "none" as const));
}

/**
 * A model of LM Studio, llama.cpp's server or vLLM by `/v1/chat/completions`. That protocol can neither set the window nor
 * forbid the silent cut of a prompt: so the prompt is estimated before the call, by an upper bound, and the count that the
 * host reports is checked afterwards.
 */
function openAiModel(
  place: ModelPlace,
  settings: SamplingSettings,
  probe: OpenAiProbe,
  counting: Counting,
): Model {
  const { name } = place;
  const windowTokens = windowOf(settings, probe);
  const call: Call = { place, settings, probe, windowTokens, counting };
  return {
    name,
    facts: factsOf(call),
    profile: {
      writes: probe.kind === "chat",
      embeds: probe.kind === "embedding",
      readsPictures: probe.readsPictures,
      largestWindow: probe.servedTokens ?? probe.trainedTokens,
    },
    counting,
    promptChars: (maxTokens) => roomForCountedPrompt(call.windowTokens, maxTokens),
    async complete(request, signal) {
      const { timeoutMs } = request;
      const refusal = await refuseBeforehand(call, request, signal);
      if (refusal !== null) return refusal;
      // llama.cpp sends nothing while a call waits for a slot, and sends headers before it reads the prompt.
      const queue = probe.server === "llama.cpp" ? "shown" : "unseen";
      const limits = { signal, timeoutMs, queue } as const;
      const host = { ...openAiHost(place), trial: trialOf(place) };
      return callWithTimeout(host, limits, (until, headersCame) =>
        sendChat(call, request, { signal: until, headersCame }),
      );
    },
  };
}

type Call = {
  readonly place: ModelPlace;
  readonly settings: SamplingSettings;
  readonly probe: OpenAiProbe;
  readonly windowTokens: number;
  readonly counting: Counting;
};

const windowOf = ({ num_ctx }: SamplingSettings, probe: OpenAiProbe): number =>
  Math.min(num_ctx, probe.servedTokens ?? num_ctx, probe.trainedTokens ?? num_ctx);

const factsOf = ({ settings, probe, windowTokens }: Call): ModelFacts => ({
  provider: "openai-compatible",
  isFree: false,
  readsPrompts: true,
  digest: null,
  quantization: probe.quantization,
  serverVersion: probe.serverVersion,
  windowTokens,
  toolProtocol: probe.tools === "yes" ? "native" : probe.server === null ? "text" : "schema",
  ignoresSchemas: false,
  options: { temperature: settings.temperature, seed: settings.seed },
});

async function refuseBeforehand(
  call: Call,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Refusal | null> {
  const { place, probe, windowTokens } = call;
  if (probe.kind === "embedding") {
    return refuse(
      "MODEL_UNSUPPORTED",
      `"${place.name}" is an embedding model and can't write text. Name a chat model${inSetting(place)}.`,
    );
  }
  const { most } = estimateTokens(contentOf(request));
  if (most <= windowTokens) return null;
  const counted = await countAtHost(call, request, signal);
  if (counted !== null && counted <= windowTokens) return null;
  if (counted !== null) {
    return refuse(
      "CONTEXT_OVERFLOW",
      `The prompt takes ${counted} tokens, as its host counts them, and the window of "${place.name}" has ` +
        `${windowTokens}. Raise the host's window and model.num_ctx, or lower ask.top_n.`,
    );
  }
  return refuse(
    "CONTEXT_OVERFLOW",
    `The prompt may take ${most} tokens, and the window of "${place.name}" has ${windowTokens}: this host cuts ` +
      `without a word what does not fit. Raise the host's window and model.num_ctx, or lower ask.top_n.`,
  );
}

/** The exact count, needed if the upper bound does not fit; null if the host does not count. */
const countAtHost = (
  { place, counting }: Call,
  { messages, tools, timeoutMs }: ModelRequest,
  signal: AbortSignal,
): Promise<number | null> =>
  callWithTimeout(openAiHost(place), { signal, timeoutMs }, (until) =>
    countTokens(place, counting, { messages, tools }, until),
  ).then((counted) => (typeof counted === "number" ? counted : null));

/** Everything that takes room in the window. */
const contentOf = ({ messages, tools }: ModelRequest): readonly Pick<Message, "content">[] =>
  tools === undefined ? messages : [...messages, { content: JSON.stringify(tools) }];

async function sendChat(
  call: Call,
  request: ModelRequest,
  { signal, headersCame }: { readonly signal: AbortSignal; readonly headersCame: () => void },
): Promise<ModelReply | Refusal> {
  const { place, settings, windowTokens } = call;
  const { name, baseUrl, access, api = "chat" } = place;
  const limit = replyTokens(windowTokens, request.maxTokens);
  const { path, body, read } = PROTOCOLS[api];
  const json = JSON.stringify(body(name, settings, { ...request, maxTokens: limit }));
  const response = await askHost(`${baseUrl}${path}`, json, signal, access);
  headersCame();
  const streamed = await read(response, name, replyLimits(limit));
  if (await wasCut(call, request.messages, streamed.promptTokens, signal)) {
    return refuse(
      "CONTEXT_OVERFLOW",
      `The prompt does not fit "${name}": the host reports ${streamed.promptTokens} prompt tokens for a longer ` +
        `prompt. Load the model with a window of model.num_ctx (${settings.num_ctx}) tokens, or lower ask.top_n.`,
    );
  }
  return toModelReply(streamed, { windowTokens, replyTokens: limit });
}

/** A trial of one token, or of the least that the protocol allows. */
function trialOf({ name: model, api = "chat" }: ModelPlace): HostTrial {
  const { path: route } = PROTOCOLS[api];
  return api === "chat"
    ? { route, body: { model, messages: [{ role: "user", content: "Hi" }], max_tokens: 1 } }
    : { route, body: { model, input: "Hi", max_output_tokens: 16 } };
}

async function wasCut(
  { place, probe }: Call,
  messages: readonly Message[],
  promptTokens: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (probe.servedTokens !== null) return wasCountedPromptCut(messages, promptTokens, "reported");
  // LM Studio loads a model at the first call, and reports a window only then.
  const { servedTokens } = probe.server === null ? probe : await probeOpenAi(place, signal);
  if (servedTokens !== null) return wasPromptCut(messages, promptTokens, servedTokens);
  return wasCountedPromptCut(messages, promptTokens, "assumed");
}

const chatRequest = (
  name: string,
  settings: SamplingSettings,
  { messages, maxTokens, temperature, seed, topP, stop, format, tools, toolChoice }: ModelRequest,
): object => ({
  model: name,
  messages: messages.map(({ role, content, images }) => ({
    role,
    content: images === undefined ? content : chatParts(content, images),
  })),
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: maxTokens,
  temperature: temperature ?? settings.temperature,
  seed: seed ?? settings.seed,
  ...(topP === undefined ? {} : { top_p: topP }),
  ...(stop === undefined ? {} : { stop }),
  ...(format === undefined ? {} : { response_format: responseFormat(format) }),
  ...toolsOnWire(tools),
  // llama.cpp ignores an object that names the tool.
  ...(toolChoice === undefined ? {} : { tool_choice: toolChoice }),
});

const chatParts = (text: string, images: readonly string[]): readonly object[] => [
  { type: "text", text },
  ...images.map((url) => ({ type: "image_url", image_url: { url } })),
];

/** The route, the body and the reader of each protocol. */
const PROTOCOLS = {
  chat: { path: "/v1/chat/completions", body: chatRequest, read: readOpenAiStream },
  responses: { path: "/v1/responses", body: responsesRequest, read: readResponsesStream },
} as const;

/** LM Studio accepts only schemas: "json" becomes the schema of any object. */
const responseFormat = (format: NonNullable<ModelRequest["format"]>): object => ({
  type: "json_schema",
  json_schema: {
    name: "reply",
    strict: true,
    schema: format === "json" ? { type: "object" } : format,
  },
});
