import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { askInTime } from "./ask-in-time.ts";
import type { ModelPlace } from "./host-failure.ts";
import { askHost } from "./host-request.ts";
import type { Model, ModelFacts, ModelReply, ModelRequest } from "./model.ts";
import { ollamaHost } from "./ollama-host.ts";
import { probeOllama } from "./ollama-probe.ts";
import type { OllamaProbe } from "./ollama-probe.ts";
import { readOllamaStream } from "./ollama-stream.ts";
import { replyTokens, roomForPrompt, wasPromptCut } from "./prompt-window.ts";
import { replyLimits } from "./read-reply.ts";
import { toModelReply, toolsOnWire } from "./streamed-reply.ts";
import type { StreamedReply } from "./streamed-reply.ts";

/** The `model` keys of the configuration that shape a call. */
export type ModelSettings = {
  readonly num_ctx: number;
  readonly temperature: number;
  readonly seed: number;
  readonly keep_alive: string;
};

/** A model of an Ollama host, after asking the host about it. Throws what probeOllama throws. */
export const openOllamaModel = async (
  place: ModelPlace,
  settings: ModelSettings,
  signal: AbortSignal,
): Promise<Model> => ollamaModel(place, settings, await probeOllama(place, signal));

/**
 * A model of an Ollama host by its native `/api/chat`. Every call sends the same `num_ctx` (another one would
 * reload the model), forbids the silent cut of a long prompt, and checks afterwards that none happened.
 */
function ollamaModel(place: ModelPlace, settings: ModelSettings, probe: OllamaProbe): Model {
  const { name, baseUrl } = place;
  const windowTokens = Math.min(settings.num_ctx, probe.trainedTokens ?? settings.num_ctx);
  const call: Call = { place, settings, windowTokens, think: thinkOf(probe) };
  return {
    name,
    facts: factsOf(probe, call),
    promptChars: (maxTokens) => roomForPrompt(windowTokens, maxTokens),
    async complete(request, signal) {
      if (!canChat(probe)) return cannotChat(name, probe);
      const { timeoutMs } = request;
      return askInTime(ollamaHost(name, baseUrl), { signal, timeoutMs }, (until) =>
        chat(call, request, until),
      );
    },
  };
}

type Call = {
  readonly place: ModelPlace;
  readonly settings: ModelSettings;
  readonly windowTokens: number;
  readonly think: false | "low";
};

/** gpt-oss thinks whatever it is told; at the lowest level it does so briefly. Every other model takes `false`. */
const thinkOf = ({ family, capabilities }: OllamaProbe): Call["think"] =>
  capabilities?.includes("thinking") === true && /^gpt-?oss/.test(family ?? "") ? "low" : false;

function factsOf(probe: OllamaProbe, { settings, windowTokens, think }: Call): ModelFacts {
  const { temperature, seed } = settings;
  return {
    provider: "ollama",
    digest: probe.digest,
    quantization: probe.quantization,
    serverVersion: probe.serverVersion,
    windowTokens,
    toolProtocol: toolProtocolOf(probe),
    options: { temperature, seed, num_ctx: windowTokens, think },
  };
}

function toolProtocolOf({ capabilities, serverVersion }: OllamaProbe): ModelFacts["toolProtocol"] {
  if (capabilities?.includes("tools") === true) return "native";
  return takesSchemas(serverVersion) ? "schema" : "text";
}

/** `format` takes a schema since v0.5.0; a build of one's own says 0.0.0. */
function takesSchemas(version: string | null): boolean {
  const [, major = "0", minor = "0"] = /^v?(\d{1,4})\.(\d{1,4})\./.exec(version ?? "") ?? [];
  return Number(major) > 0 || Number(minor) >= 5;
}

const canChat = ({ capabilities }: OllamaProbe): boolean =>
  capabilities === null || capabilities.length === 0 || capabilities.includes("completion");

const cannotChat = (name: string, { capabilities }: OllamaProbe): Refusal =>
  refuse(
    "MODEL_UNSUPPORTED",
    `"${name}" can't write text: its host says that it can do ${capabilities?.join(", ") ?? ""}. ` +
      `Name a chat model in model.name.`,
  );

async function chat(
  call: Call,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelReply | Refusal> {
  const { name, baseUrl } = call.place;
  const json = JSON.stringify(chatRequest(call, request));
  const response = await askHost(`${baseUrl}/api/chat`, json, signal);
  const limits = replyLimits(replyTokens(call.windowTokens, request.maxTokens));
  return judge(await readOllamaStream(response, name, limits), request, call);
}

const chatRequest = (
  { place, settings, windowTokens, think }: Call,
  { messages, maxTokens, temperature, seed, topP, stop, format, tools }: ModelRequest,
): object => ({
  model: place.name,
  messages: messages.map(({ role, content }) => ({ role, content })),
  stream: true,
  think,
  truncate: false,
  shift: false,
  keep_alive: settings.keep_alive,
  ...(format === undefined ? {} : { format }),
  ...toolsOnWire(tools),
  options: {
    num_ctx: windowTokens,
    num_predict: replyTokens(windowTokens, maxTokens),
    temperature: temperature ?? settings.temperature,
    seed: seed ?? settings.seed,
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stop === undefined ? {} : { stop }),
  },
});

function judge(
  streamed: StreamedReply,
  { messages, maxTokens }: ModelRequest,
  { place, windowTokens }: Call,
): ModelReply | Refusal {
  const { promptTokens } = streamed;
  if (wasPromptCut(messages, promptTokens, windowTokens)) {
    return refuse(
      "CONTEXT_OVERFLOW",
      `The prompt does not fit "${place.name}": the host reports ${promptTokens} prompt tokens for a ` +
        `longer prompt in a window of ${windowTokens}. Raise model.num_ctx, or lower ask.top_n.`,
    );
  }
  return toModelReply(streamed, {
    windowTokens,
    replyTokens: replyTokens(windowTokens, maxTokens),
  });
}
