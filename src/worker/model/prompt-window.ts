import type { Message } from "./model.ts";

/** English prose has 4 to 5 characters a token; 3 leaves room for code, tables and other languages. */
const SAFE_CHARS_PER_TOKEN = 3;
/** What `estimateTokens` takes ASCII for at most: a prompt of so many characters passes a count beforehand. */
const COUNTED_CHARS_PER_TOKEN = 2.5;
/** Begin and end marks of the chat template. */
const TEMPLATE_TOKENS = 64;

/** Tokens of reply that a window can spare: what was asked for, but never more than half of it. */
export const replyTokens = (windowTokens: number, maxTokens: number): number =>
  Math.min(maxTokens, Math.floor(windowTokens / 2));

/** Characters of prompt that fit beside the reply, of a host that itself refuses what does not. */
export const roomForPrompt = (windowTokens: number, maxTokens: number): number =>
  tokensBeside(windowTokens, maxTokens) * SAFE_CHARS_PER_TOKEN;

/** Characters of prompt, in ASCII, that fit beside the reply by a count beforehand. */
export const roomForCountedPrompt = (windowTokens: number, maxTokens: number): number =>
  Math.floor(tokensBeside(windowTokens, maxTokens) * COUNTED_CHARS_PER_TOKEN);

const tokensBeside = (windowTokens: number, maxTokens: number): number =>
  Math.max(0, windowTokens - replyTokens(windowTokens, maxTokens) - TEMPLATE_TOKENS);

/**
 * Whether a host that reports `promptTokens` has cut the prompt. Ollama cuts silently: up to v0.24 it fills
 * the window, since v0.30.11 it keeps `num_ctx - (num_ctx - num_keep) / 2` tokens, and before either it drops
 * whole messages. A count of 0 is a host that reports none.
 */
export function wasPromptCut(
  messages: readonly Message[],
  promptTokens: number,
  windowTokens: number,
): boolean {
  const { fewest, most } = estimateTokens(messages);
  if (most < windowTokens) return false;
  if (promptTokens === 0) return true;
  const slack = Math.max(16, Math.ceil(windowTokens / 50));
  const filledWindow = promptTokens >= windowTokens - slack;
  const nearHalf = Math.abs(promptTokens - windowTokens / 2) <= slack;
  const tooFewForHalf = promptTokens < fewest * HALF_WINDOW_DENSITY;
  return filledWindow || promptTokens < fewest || (nearHalf && tooFewForHalf);
}

/** Prose has 4.5 characters a token: one that was cut shows more, as the count is of what is left. */
const UNKNOWN_WINDOW_DENSITY = 8 / 6;
/** The smallest window that hosts use unasked. */
const SMALLEST_DEFAULT_WINDOW = 2048;

/**
 * Whether a prompt that passed the count beforehand was cut all the same, by a window smaller than thought.
 *
 * @param promptTokens as the host reports it; 0 is a host that reports none
 * @param window "reported" where the host said how large its window is, else "assumed"
 */
export function wasCountedPromptCut(
  messages: readonly Message[],
  promptTokens: number,
  window: "reported" | "assumed",
): boolean {
  const { fewest, most } = estimateTokens(messages);
  if (window === "reported") return promptTokens > 0 && promptTokens < fewest;
  if (promptTokens === 0) return most > SMALLEST_DEFAULT_WINDOW;
  return promptTokens < Math.floor(fewest * UNKNOWN_WINDOW_DENSITY);
}

/** A prompt cut to half shows about twice the usual characters a token: beyond 5.5, where `fewest` takes 8. */
const HALF_WINDOW_DENSITY = 8 / 5.5;

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
    fewest: Math.floor(ascii / 8 + other / 4),
    most: Math.ceil(ascii / 2.5 + other * 1.5) + TEMPLATE_TOKENS,
  };
}
