import { refuse } from "../../shared/failure.ts";
import type { HostTrial, Refusal } from "../../shared/failure.ts";
import { isRecord } from "../../shared/schema/json-value.ts";
import { callWithTimeout } from "./deadline.ts";
import { inSetting, loadedOnly } from "./host-failure.ts";
import type { ModelPlace } from "./host-failure.ts";
import { BrokenReply, countAt, replyLimits, textAt, wireAt, wiresAt } from "./host-request.ts";
import type { ReplyLimits, Wire } from "./host-request.ts";
import type { Model, ModelFacts, ModelReply, ModelRequest, NativeCall } from "./model.ts";
import { streamChat } from "./ollama-client.ts";
import { ollamaHost, probeOllama } from "./ollama-probe.ts";
import type { OllamaProbe } from "./ollama-probe.ts";
import { replyTokens, roomForPrompt, wasPromptCut } from "./prompt-window.ts";
import { collectReply, nativeCall, toModelReply, toolsOnWire } from "./streamed-reply.ts";
import type { StreamedReply } from "./streamed-reply.ts";

/** The `model` keys of the configuration that shape a call. */
export type ModelSettings = {
  readonly num_ctx: number;
  readonly temperature: number;
  readonly seed: number;
  readonly keep_alive: string;
};

/** Opens a model of an Ollama host, after asking the host about it. Throws what probeOllama throws. */
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
  const { name } = place;
  const windowTokens = Math.min(settings.num_ctx, probe.trainedTokens ?? settings.num_ctx);
  const call: Call = { place, settings, windowTokens, think: thinkOf(probe) };
  return {
    name,
    facts: factsOf(probe, call),
    profile: {
      writes: canChat(probe),
      embeds: probe.capabilities?.includes("embedding") === true,
      readsPictures: probe.capabilities?.includes("vision") ?? null,
      largestWindow: probe.trainedTokens,
    },
    promptChars: (maxTokens) => roomForPrompt(windowTokens, maxTokens),
    async complete(request, signal) {
      if (!canChat(probe)) return cannotChat(place, probe);
      const { timeoutMs } = request;
      const host = { ...ollamaHost(place), trial: trialOf(call) };
      return callWithTimeout(host, { signal, timeoutMs }, (until) =>
        sendChat(call, request, until),
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

/** gpt-oss always thinks; at the lowest level it does so briefly. Every other model accepts `false`. */
const thinkOf = ({ family, capabilities }: OllamaProbe): Call["think"] =>
  capabilities?.includes("thinking") === true && /^gpt-?oss/.test(family ?? "") ? "low" : false;

function factsOf(probe: OllamaProbe, { settings, windowTokens, think }: Call): ModelFacts {
  const { temperature, seed } = settings;
  return {
    provider: "ollama",
    isFree: false,
    readsPrompts: true,
    digest: probe.digest,
    quantization: probe.quantization,
    serverVersion: probe.serverVersion,
    windowTokens,
    toolProtocol: toolProtocolOf(probe),
    ignoresSchemas: false,
    options: { temperature, seed, num_ctx: windowTokens, think },
  };
}

function toolProtocolOf({ capabilities, serverVersion }: OllamaProbe): ModelFacts["toolProtocol"] {
  if (capabilities?.includes("tools") === true) return "native";
  return takesSchemas(serverVersion) ? "schema" : "text";
}

/** `format` accepts a schema since v0.5.0; a build that somebody compiled reports 0.0.0. */
function takesSchemas(version: string | null): boolean {
  const [, major = "0", minor = "0"] = /^v?(\d{1,4})\.(\d{1,4})\./.exec(version ?? "") ?? [];
  return Number(major) > 0 || Number(minor) >= 5;
}

const canChat = ({ capabilities }: OllamaProbe): boolean =>
  capabilities === null || capabilities.length === 0 || capabilities.includes("completion");

const cannotChat = (place: ModelPlace, { capabilities }: OllamaProbe): Refusal =>
  refuse(
    "MODEL_UNSUPPORTED",
    `"${place.name}" can't write text: its host says that it can do ${capabilities?.join(", ") ?? ""}. ` +
      `Name a chat model${inSetting(place)}.`,
  );

async function sendChat(
  call: Call,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelReply | Refusal> {
  const limits = replyLimits(replyTokens(call.windowTokens, request.maxTokens));
  const chunks = streamChat(call.place, chatRequest(call, request), limits, signal);
  return checkReply(await collectChunks(chunks, call.place, limits), request, call);
}

const chatRequest = (
  { place, settings, windowTokens, think }: Call,
  { messages, maxTokens, temperature, seed, topP, stop, format, tools }: ModelRequest,
): Parameters<typeof streamChat>[1] => ({
  model: place.name,
  messages: messages.map(({ role, content, images }) => ({
    ...{ role, content },
    // Ollama wants only base64: without the part of a data URL up to the comma.
    ...(images === undefined ? {} : { images: images.map((url) => url.replace(/^[^,]*,/, "")) }),
  })),
  think,
  ...UNCUT,
  keep_alive: settings.keep_alive,
  ...(format === undefined ? {} : { format }),
  ...toolsOnWire(tools),
  options: {
    num_ctx: windowTokens,
    num_predict: replyTokens(windowTokens, maxTokens),
    temperature: temperature ?? settings.temperature,
    seed: seed ?? settings.seed,
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(stop === undefined ? {} : { stop: [...stop] }),
  },
});

/** A trial of one token with the window of all calls: another window would make the host load the model again. */
const trialOf = ({ place, settings, windowTokens }: Call): HostTrial => ({
  route: "/api/chat",
  body: {
    model: place.name,
    messages: [{ role: "user", content: "Hi" }],
    stream: false,
    keep_alive: settings.keep_alive,
    options: { num_ctx: windowTokens, num_predict: 1 },
  },
});

/** Forbids the silent cut of a prompt that is too long, and of its beginning while the reply grows. */
const UNCUT = { truncate: false, shift: false };

function checkReply(
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

/**
 * Collects the chunks of a stream of `/api/chat`. Any chunk may contain tool calls, also the last.
 *
 * Throws what the stream throws, ToolCallUnreadable for a call without a name, BrokenReply for a chunk without a message,
 * Failure MODEL_OUTPUT_INVALID for a reply that is too long, and MODEL_OVERLOADED if the host only loaded the model.
 */
async function collectChunks(
  chunks: AsyncIterable<object>,
  place: ModelPlace,
  limits: ReplyLimits,
): Promise<StreamedReply> {
  const collected = collectReply(limits);
  const reasoning: string[] = [];
  const toolCalls: NativeCall[] = [];
  let last: Wire = {};
  for await (const chunk of chunks) {
    if (!isRecord(chunk)) continue;
    last = chunk;
    const message = wireAt(chunk, "message");
    if (message === null) throw new BrokenReply("a line of it has no message");
    collected.add(contentOf(message));
    reasoning.push(textAt(message, "thinking") ?? "");
    for (const wire of wiresAt(message, "tool_calls")) {
      const call = callOf(wire, place.name);
      collected.call(JSON.stringify(call.args).length);
      toolCalls.push(call);
    }
  }
  if (last["done_reason"] === "load") throw loadedOnly(place);
  return { text: collected.text(), reasoning: reasoning.join(""), toolCalls, ...metricsOf(last) };
}

function contentOf(message: Wire): string {
  const content = message["content"] ?? "";
  if (typeof content === "string") return content;
  throw new BrokenReply("a message of it has no text");
}

function callOf(call: Wire, name: string): NativeCall {
  const called = wireAt(call, "function");
  return nativeCall(name, called?.["name"], called?.["arguments"] ?? {});
}

function metricsOf(chunk: Wire): Omit<StreamedReply, "text" | "reasoning" | "toolCalls"> {
  const nanoseconds = chunk["load_duration"];
  return {
    finish: chunk["done_reason"] === "length" ? "length" : "stop",
    promptTokens: countAt(chunk, "prompt_eval_count"),
    completionTokens: countAt(chunk, "eval_count"),
    loadMs: isDuration(nanoseconds) ? nanoseconds / 1e6 : 0,
  };
}

/** At most a day: no model takes longer to load. */
const isDuration = (value: unknown): value is number =>
  typeof value === "number" && value >= 0 && value <= 86_400e9;
