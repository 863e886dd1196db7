import type { Message } from "./model.ts";

/** Characters per token: English prose has 4 to 5; 3 leaves room for code, tables and other languages. */
const SAFE_CHARS_PER_TOKEN = 3;
/** Bounds of ASCII characters per token: text that people write stays within them. */
const DENSEST = 2.5;
const SPARSEST = 8;
/** Begin and end marks of the chat template. */
const TEMPLATE_TOKENS = 64;

/** Tokens of the reply that a window can spare: the requested number, but never more than half of the window. */
export const replyTokens = (windowTokens: number, maxTokens: number): number =>
  Math.min(maxTokens, Math.floor(windowTokens / 2));

/** Characters of a prompt that fit beside the reply, for a host that itself refuses a prompt that does not fit. */
export const roomForPrompt = (windowTokens: number, maxTokens: number): number =>
  tokensBeside(windowTokens, maxTokens) * SAFE_CHARS_PER_TOKEN;

/** The same in ASCII characters for a host that refuses nothing, so that `estimateTokens` has to be sure before the call. */
export const roomForCountedPrompt = (windowTokens: number, maxTokens: number): number =>
  Math.floor(tokensBeside(windowTokens, maxTokens) * DENSEST);

const tokensBeside = (windowTokens: number, maxTokens: number): number =>
  Math.max(0, windowTokens - replyTokens(windowTokens, maxTokens) - TEMPLATE_TOKENS);

/** A prompt that was cut to half seems to have twice the usual characters per token: more than 5.5. */
const HALF_WINDOW_DENSITY = SPARSEST / 5.5;

/**
 * Whether a host that reports `promptTokens` has cut the prompt. Ollama cuts silently: up to v0.24 it fills the window,
 * since v0.30.11 it keeps `num_ctx - (num_ctx - num_keep) / 2` tokens, and before either it drops whole messages. If a host
 * reports no count, which is 0, only a prompt that certainly does not fit counts as cut.
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
 * A count with more than 6 characters per token is that of a cut prompt, since prose has 4.5: the host counts the rest of the
 * prompt, and we divide the whole prompt by it.
 */
const UNKNOWN_WINDOW_DENSITY = SPARSEST / 6;

/**
 * Whether a prompt that passed the estimate before the call was cut all the same, by a window smaller than assumed.
 *
 * @param promptTokens the count that the host reports; 0 if it reports none, whose window is then taken to be as configured
 * @param window "reported" if the host reported the size of its window, else "assumed"
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

/** Bounds of the tokens of a prompt: 2.5 to 8 ASCII characters per token, and 0.25 to 1.5 tokens per other character. */
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
