import { isNestedWithin } from "../../shared/schema/json-value.ts";
import { invalidReply, tooLong } from "./host-request.ts";
import type { ReplyLimits } from "./host-request.ts";
import { ToolCallUnreadable } from "./model.ts";
import type { ModelReply, NativeCall, Tool } from "./model.ts";
import { boundReasoning, splitReasoning } from "./reasoning.ts";

/** The complete stream of a host. */
export type StreamedReply = {
  readonly text: string;
  /** Thinking in a field of its own; empty if there is none. */
  readonly reasoning: string;
  readonly toolCalls: readonly NativeCall[];
  /** `length`: the host stopped the model, by the limit of the reply or by the window. */
  readonly finish: "stop" | "length";
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly loadMs: number;
};

type Limits = {
  /** Tokens of the reply that were requested. */
  readonly replyTokens: number;
  /** Tokens that prompt and reply share. */
  readonly windowTokens: number;
};

/** The reply of a stream, with its thinking apart and the limit that cut it. */
export function toModelReply(streamed: StreamedReply, limits: Limits): ModelReply {
  const { text, reasoning } = splitReasoning(streamed.text);
  const thought = boundReasoning([streamed.reasoning, ...reasoning]);
  const isThoughtAlone = thought !== null && text === "" && streamed.toolCalls.length === 0;
  return {
    kind: "reply",
    text,
    ...(thought === null ? {} : { reasoning: thought }),
    toolCalls: streamed.toolCalls,
    promptTokens: streamed.promptTokens,
    completionTokens: streamed.completionTokens,
    loadMs: streamed.loadMs,
    doneReason: isThoughtAlone ? "thought" : endOf(streamed, limits),
  };
}

const endOf = (streamed: StreamedReply, limits: Limits): "stop" | "length" | "window" =>
  streamed.finish === "stop" ? "stop" : limitOf(streamed, limits);

/** Runners stop a token or two before their limit. */
const SLACK_TOKENS = 8;

/**
 * Hosts report `length` for both limits. The window is used up if prompt and reply fill it; or if the reply is shorter than
 * requested, because some hosts leave the cached part of a prompt out of its count.
 */
function limitOf(
  { promptTokens, completionTokens }: StreamedReply,
  { replyTokens, windowTokens }: Limits,
): "length" | "window" {
  if (completionTokens >= replyTokens) return "length";
  const fills = promptTokens + completionTokens >= windowTokens - SLACK_TOKENS;
  const stoppedEarly = completionTokens > 0 && completionTokens < replyTokens - SLACK_TOKENS;
  return fills || stoppedEarly ? "window" : "length";
}

type ReplyCollector = {
  readonly add: (piece: string) => void;
  readonly text: () => string;
  /** Counts one tool call, with the characters of its arguments. */
  readonly call: (argChars: number) => void;
};

/** Far more calls than a model makes at once; only the first is carried out. */
const MAX_CALLS = 128;

/** Collects the pieces of a text. Throws Failure MODEL_OUTPUT_INVALID beyond `chars` characters or MAX_CALLS calls. */
export function collectReply({ chars: most }: Pick<ReplyLimits, "chars">): ReplyCollector {
  const pieces: string[] = [];
  let chars = 0;
  let calls = 0;
  const count = (more: number): void => {
    chars += more;
    if (chars > most) throw tooLong(`${most} characters`);
  };
  return {
    add(piece) {
      count(piece.length);
      pieces.push(piece);
    },
    text: () => pieces.join(""),
    call(argChars) {
      count(argChars);
      calls += 1;
      if (calls > MAX_CALLS) throw invalidReply(`it calls more than ${MAX_CALLS} tools at once`);
    },
  };
}

/** Tools in the form that Ollama and OpenAI share; empty if none is offered. */
export const toolsOnWire = (tools: readonly Tool[] | undefined): object =>
  tools === undefined || tools.length === 0
    ? {}
    : { tools: tools.map((tool) => ({ type: "function", function: { ...tool } })) };

/** Deeper than any arguments need, and far below the depth that overflows the stack of recursive code. */
const MAX_LEVELS = 64;

/** A tool call by the host's own protocol. Throws ToolCallUnreadable if it has no name, or is nested too deep. */
export function nativeCall(model: string, name: unknown, args: unknown): NativeCall {
  if (typeof name === "string" && name !== "" && isNestedWithin(args, MAX_LEVELS))
    return { name, args };
  throw new ToolCallUnreadable(model, null);
}
