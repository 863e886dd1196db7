import { refuse } from "../../src/shared/failure.ts";
import type { Model, ModelReply, ModelRequest } from "../../src/worker/models/model.ts";
import { FACTS, userText } from "./pipeline-world.ts";

export type ReadingModel = Model & {
  readonly requests: ModelRequest[];
  /** Requests that its host took. */
  readonly taken: ModelRequest[];
};

type Window = {
  /** Characters of prompt that it believes to fit. */
  readonly promptChars: number;
  /** What its host really takes: an ASCII character weighs 1, any other 4. */
  readonly weight?: number;
};

/**
 * A model that replies to what it reads, and whose host refuses a prompt that is too dense for its window; pass 1
 * calls the tool for the first file that the question names.
 */
export function readingModel(
  { promptChars, weight = Number.POSITIVE_INFINITY }: Window,
  replyTo: (request: ModelRequest) => string,
): ReadingModel {
  const requests: ModelRequest[] = [];
  const taken: ModelRequest[] = [];
  return {
    name: "scripted",
    facts: FACTS,
    requests,
    taken,
    promptChars: () => promptChars,
    async complete(request) {
      requests.push(request);
      const text = request.messages.map(({ content }) => content).join("\n");
      if (weightOf(text) > weight) return refuse("CONTEXT_OVERFLOW", "The host cut the prompt.");
      taken.push(request);
      return replyOf(request.task.purpose === "select_tool" ? callOf(request) : replyTo(request));
    },
  };
}

const weightOf = (text: string): number =>
  text.length + 3 * (text.match(/[^\0-\x7F]/g)?.length ?? 0);

const callOf = ({ task }: ModelRequest): string =>
  task.purpose === "select_tool" && task.namedFiles[0] !== undefined
    ? JSON.stringify({
        type: "tool_call",
        name: "read_text_file",
        args: { path: task.namedFiles[0] },
      })
    : "ENOUGH";

/** What stands between the marks of a prompt, piece by piece. */
export const piecesIn = (request: ModelRequest | undefined): string[] =>
  Array.from(
    userText(request).matchAll(/<<<EVIDENCE [^\n]*>>>\n(.*?)\n<<<END [0-9a-f]{32}>>>/gs),
    ([, text = ""]) => text,
  );

/** The mark around the evidence of a prompt. */
export const boundaryIn = (request: ModelRequest | undefined): string =>
  /<<<END ([0-9a-f]{32})>>>/.exec(userText(request))?.[1] ?? "";

const replyOf = (text: string): ModelReply => ({
  kind: "reply",
  text,
  toolCalls: [],
  promptTokens: 10,
  completionTokens: 5,
  loadMs: 0,
  doneReason: "stop",
});
