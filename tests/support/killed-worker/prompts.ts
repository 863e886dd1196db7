import type { DoubleMessage } from "../../doubles/ollama/double-model.ts";

/** What a prompt of an investigation shows, as a model that is scripted goes by it. */
export type Shown = {
  /** Stands in brackets before the task. */
  readonly job: string;
  /** look_around: the next call is asked for; answer: the answer is. */
  readonly wants: "look_around" | "answer";
  /** Steps so far, as the prompt numbers them. */
  readonly steps: number;
  /** The lines about those steps, without what tools gave. */
  readonly log: string;
  /** All of it. */
  readonly words: string;
};

const FENCED = /<<<(?:RESULT|EVIDENCE) ([0-9a-f]{32})[^\n]*>>>\n[^]*?\n<<<END \1>>>/g;

export function readPrompt(messages: readonly DoubleMessage[]): Shown {
  const words = messages.map(({ content }) => content).join("\n");
  const asked = messages.at(-1)?.content ?? "";
  const log = asked.replaceAll(FENCED, "");
  return {
    job: /\[([a-z]+-[\w-]+)\] /.exec(asked)?.[1] ?? "",
    wants: words.includes("You look into a question with tools") ? "look_around" : "answer",
    steps: (log.match(/^Step \d+: /gm) ?? []).length,
    log,
    words,
  };
}

export const callOf = (name: string, args: object): string =>
  JSON.stringify({ type: "tool_call", name, args });
