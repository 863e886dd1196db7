import type { DoubleMessage } from "./double-model.ts";

/** Tokens of a text: a word costs one per four letters begun, any other sign one. */
export const tokensOf = (text: string): string[] =>
  text.match(/[\p{L}\p{N}]{1,4}|[^\p{L}\p{N}\s]/gu) ?? [];

/** The first words of a text that cost at most so many tokens together. */
export function firstTokens(text: string, limit: number): string {
  let kept = "";
  let tokens = 0;
  for (const word of text.match(/\S+\s*/g) ?? []) {
    tokens += tokensOf(word).length;
    if (tokens > limit) break;
    kept += word;
  }
  return kept;
}

/** What the chat template adds to each message. */
const MESSAGE_TOKENS = 4;

export const countTokens = (messages: readonly DoubleMessage[]): number =>
  messages.reduce((total, { content }) => total + tokensOf(content).length + MESSAGE_TOKENS, 0);

export type WindowRequest = {
  readonly messages: readonly DoubleMessage[];
  readonly numCtx: number;
  readonly numKeep: number;
  /** `old` fills the window and knows neither truncate nor shift; `new` cuts to about half of it. */
  readonly version: "old" | "new";
  readonly truncate: boolean;
  readonly shift: boolean;
};

export type Fitted =
  | { readonly kind: "fits"; readonly messages: readonly DoubleMessage[]; readonly tokens: number }
  | { readonly kind: "too_long"; readonly tokens: number; readonly because: "truncate" | "shift" };

/**
 * What is left of a prompt: whole messages are dropped from the front (system messages and the last one stay),
 * then tokens are cut after the first `numKeep`. Nothing in the reply says so but the token count.
 */
export function fitToWindow(request: WindowRequest): Fitted {
  const { messages, numCtx, version, truncate, shift } = request;
  const tokens = countTokens(messages);
  if (tokens <= numCtx) return { kind: "fits", messages, tokens };
  if (version === "new" && !truncate) return { kind: "too_long", tokens, because: "truncate" };
  const dropped = dropFromFront(messages, numCtx);
  const left = countTokens(dropped);
  if (left <= numCtx) return { kind: "fits", messages: dropped, tokens: left };
  if (version === "new" && !shift) return { kind: "too_long", tokens: left, because: "shift" };
  return cutTokens(dropped, request);
}

function dropFromFront(messages: readonly DoubleMessage[], numCtx: number): DoubleMessage[] {
  let kept = [...messages];
  while (countTokens(kept) > numCtx) {
    const first = kept.findIndex(({ role }, index) => role !== "system" && index < kept.length - 1);
    if (first === -1) break;
    kept = kept.filter((_, index) => index !== first);
  }
  return kept;
}

function cutTokens(
  messages: readonly DoubleMessage[],
  { numCtx, numKeep, version }: WindowRequest,
): Fitted {
  const size = version === "old" ? numCtx : numCtx - Math.floor((numCtx - numKeep) / 2);
  const all = messages.flatMap(({ content }) => tokensOf(content));
  const kept = [...all.slice(0, numKeep), ...all.slice(-(size - numKeep))];
  return { kind: "fits", messages: [{ role: "user", content: kept.join(" ") }], tokens: size };
}
