import { Failure } from "../../shared/failure.ts";
import type { ModelReply, NativeCall, Tool } from "./model.ts";
import { removeThinking } from "./remove-thinking.ts";

/** A stream of a host, read to its end. */
export type StreamedReply = {
  readonly text: string;
  readonly toolCalls: readonly NativeCall[];
  /** `length`: the host stopped the model, by the limit of the reply or by the window. */
  readonly finish: "stop" | "length";
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly loadMs: number;
};

type Limits = {
  /** Tokens of reply that were asked for. */
  readonly replyTokens: number;
  /** Tokens that prompt and reply share. */
  readonly windowTokens: number;
};

/** What a stream came to, without thinking, and with the limit that cut it. */
export const toModelReply = (streamed: StreamedReply, limits: Limits): ModelReply => ({
  kind: "reply",
  text: removeThinking(streamed.text),
  toolCalls: streamed.toolCalls,
  promptTokens: streamed.promptTokens,
  completionTokens: streamed.completionTokens,
  loadMs: streamed.loadMs,
  doneReason: streamed.finish === "stop" ? "stop" : limitOf(streamed, limits),
});

/** Runners stop a token or two before the limit that they were given. */
const SLACK_TOKENS = 8;

/**
 * Hosts say `length` for both limits. The window is used up when prompt and reply fill it; or when the reply
 * is shorter than what was asked for, because some hosts leave the cached part of a prompt out of its count.
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

type TextCollector = { readonly add: (piece: string) => void; readonly text: () => string };

const MAX_TEXT_CHARS = 8 * 1024 * 1024;

/** Collects the pieces of a text. Throws Failure MODEL_OUTPUT_INVALID beyond 8 million characters. */
export function collectText(): TextCollector {
  const pieces: string[] = [];
  let chars = 0;
  return {
    add(piece) {
      chars += piece.length;
      if (chars > MAX_TEXT_CHARS) {
        throw new Failure(
          "MODEL_OUTPUT_INVALID",
          `The reply of the model host is over ${MAX_TEXT_CHARS} characters.`,
        );
      }
      pieces.push(piece);
    },
    text: () => pieces.join(""),
  };
}

/** Tools in the one shape that Ollama and OpenAI share; nothing where none is offered. */
export const toolsOnWire = (tools: readonly Tool[] | undefined): object =>
  tools === undefined || tools.length === 0
    ? {}
    : { tools: tools.map((tool) => ({ type: "function", function: { ...tool } })) };
