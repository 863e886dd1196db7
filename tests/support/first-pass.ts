import type { DoubleMessage } from "../doubles/ollama/double-model.ts";

/** Whether a prompt is that of the first pass, which chooses what has to be read. */
export const isFirstPass = (messages: readonly DoubleMessage[]): boolean =>
  messages.some(({ content }) => content.includes("You choose what has to be read"));
