import type { Message } from "./model.ts";

/** English prose has 4 to 5 characters a token; 3 leaves room for code, tables and other languages. */
const SAFE_CHARS_PER_TOKEN = 3;
/** ASCII characters a token: no text that people write has fewer, and none has more. */
const DENSEST = 2.5;
const SPARSEST = 8;
/** Begin and end marks of the chat template. */
const TEMPLATE_TOKENS = 64;

/** Tokens of reply that a window can spare: what was asked for, but never more than half of it. */
export const replyTokens = (windowTokens: number, maxTokens: number): number =>
  Math.min(maxTokens, Math.floor(windowTokens / 2));

/** Characters of prompt that fit beside the reply. For a host that itself refuses what does not fit. */
export const roomForPrompt = (windowTokens: number, maxTokens: number): number =>
  tokensBeside(windowTokens, maxTokens) * SAFE_CHARS_PER_TOKEN;

/** The same in ASCII for a host that refuses nothing, so that `estimateTokens` has to be sure before the call. */
export const roomForCountedPrompt = (windowTokens: number, maxTokens: number): number =>
  Math.floor(tokensBeside(windowTokens, maxTokens) * DENSEST);

const tokensBeside = (windowTokens: number, maxTokens: number): number =>
  Math.max(0, windowTokens - replyTokens(windowTokens, maxTokens) - TEMPLATE_TOKENS);

/** A prompt that was cut to half shows about twice the usual characters a token: more than 5.5. */
const HALF_WINDOW_DENSITY = SPARSEST / 5.5;

/**
 * Whether a host that reports `promptTokens` has cut the prompt. Ollama cuts silently: up to v0.24 it fills
 * the window, since v0.30.11 it keeps `num_ctx - (num_ctx - num_keep) / 2` tokens, and before either it drops
 * whole messages. A host that reports none, which is 0, says nothing of it: only what is sure not to fit was cut.
 */
export function wasPromptCut(
  messages: readonly Message[],
  promptTokens: number,
  windowTokens: number,
): boolean {
  const { fewest, most } = estimateTokens(messages);
  if (most < windowTokens) return false;
  if (promptTokens === 0) return fewest >= windowTokens;
  const slack = Math.max(16, Math.ceil(windowTokens / 50));
  const filledWindow = promptTokens >= windowTokens - slack;
  const nearHalf = Math.abs(promptTokens - windowTokens / 2) <= slack;
  const tooFewForHalf = promptTokens < fewest * HALF_WINDOW_DENSITY;
  return filledWindow || promptTokens < fewest || (nearHalf && tooFewForHalf);
}

/**
 * A count that makes more than 6 characters a token is that of a cut prompt, since prose has 4.5: the host counts what is
 * left, and we divide all of it.
 */
const UNKNOWN_WINDOW_DENSITY = SPARSEST / 6;

/**
 * Whether a prompt that passed the count beforehand was cut all the same, by a window smaller than thought.
 *
 * @param promptTokens as the host reports it; 0 is a host that reports none, whose window is taken to be as configured
 * @param window "reported" where the host said how large its window is, else "assumed"
 */
export function wasCountedPromptCut(
  messages: readonly Message[],
  promptTokens: number,
  window: "reported" | "assumed",
): boolean {
  if (promptTokens === 0) return false;
  const { fewest } = estimateTokens(messages);
  return (
    promptTokens < Math.floor(window === "reported" ? fewest : fewest * UNKNOWN_WINDOW_DENSITY)
  );
}

/** Bounds of what a prompt can cost: 2.5 to 8 characters a token in ASCII, 1.5 to 0.25 tokens beyond it. */
export function estimateTokens(messages: readonly Pick<Message, "content">[]): {
  fewest: number;
  most: number;
} {
  let ascii = 0;
  let other = 0;
  for (const { content } of messages) {
    for (let index = 0; index < content.length; index += 1) {
      if (content.charCodeAt(index) < 128) ascii += 1;
      else other += 1;
    }
  }
  return {
    fewest: Math.floor(ascii / SPARSEST + other / 4),
    most: Math.ceil(ascii / DENSEST + other * 1.5) + TEMPLATE_TOKENS,
  };
}
