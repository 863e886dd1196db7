import { refuse } from "../../../shared/failure.ts";
import { openOffload } from "../../offload/offload.ts";
import type { Offload } from "../../offload/offload.ts";
import { charsIn } from "../model.ts";
import type { Model, ModelFacts, ModelReply } from "../model.ts";

/**
 * A Model without a language model: it calls the tool for the file that the question names, answers with sentences that stand
 * in the evidence, each with its citation, and declines when nothing matches. The same request always gives the same reply.
 */
export function extractiveModel(offload: Offload = openOffload()): Model {
  return {
    name: "extractive",
    facts: EXTRACTIVE_FACTS,
    promptChars: () => Number.POSITIVE_INFINITY,
    async complete({ task }, signal) {
      signal.throwIfAborted();
      if (task.purpose === "chat") {
        return refuse(
          "MODEL_UNSUPPORTED",
          `"extractive" quotes documents and can't chat. Set model.provider: ollama for chat jobs.`,
        );
      }
      if (task.purpose === "investigate") {
        return refuse(
          "MODEL_UNSUPPORTED",
          `"extractive" calls no tools. Set model.provider: ollama for investigations.`,
        );
      }
      if (task.purpose === "extract" && task.preset === null) {
        return refuse(
          "MODEL_UNSUPPORTED",
          `"extractive" knows the presets classify, actions and people, and can't fill in a schema. Use one of these, or set model.provider: ollama.`,
        );
      }
      const examples = task.purpose === "extract" ? charsIn(task.examples) : 0;
      const chars = charsIn(task.evidence) + examples;
      const { TEXT_FOR } = await import("./text-for.ts");
      return toReply(await offload(TEXT_FOR, task, { chars, signal }));
    },
  };
}

/** `version` changes with every change of the replies. */
const EXTRACTIVE_FACTS: ModelFacts = {
  provider: "extractive",
  isFree: true,
  readsPrompts: false,
  digest: null,
  quantization: null,
  serverVersion: null,
  windowTokens: null,
  toolProtocol: "text",
  ignoresSchemas: false,
  options: { version: 13 },
};

const toReply = (text: string): ModelReply => ({
  kind: "reply",
  text,
  toolCalls: [],
  promptTokens: 0,
  completionTokens: 0,
  loadMs: 0,
  doneReason: "stop",
});
