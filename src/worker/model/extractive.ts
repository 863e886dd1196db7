import { refuse } from "../../shared/failure.ts";
import { candidatesOf } from "./extractive/candidates.ts";
import type { Candidate } from "./extractive/candidates.ts";
import { digestLines } from "./extractive/digest-lines.ts";
import { extractFields } from "./extractive/fields/extract-fields.ts";
import { rankForQuestion } from "./extractive/rank-for-question.ts";
import { rankForSummary } from "./extractive/rank-for-summary.ts";
import { contentStems } from "./extractive/words.ts";
import { DECLINED } from "./model.ts";
import type { Model, ModelFacts, ModelReply, ModelTask } from "./model.ts";

/**
 * A Model with no model behind it: it calls the tool for the file that the question names, answers with
 * sentences that stand in the evidence, each with its citation, and declines when nothing matches. The same
 * request gives the same reply.
 */
export function extractiveModel(): Model {
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
      if (task.purpose === "extract" && task.preset === null) {
        return refuse(
          "MODEL_UNSUPPORTED",
          `"extractive" knows the presets classify, actions and people, and can't fill in a schema. Use a preset, or set model.provider: ollama.`,
        );
      }
      return reply(textFor(task));
    },
  };
}

/** `version` changes with every change of what it would say. */
const EXTRACTIVE_FACTS: ModelFacts = {
  provider: "extractive",
  digest: null,
  quantization: null,
  serverVersion: null,
  windowTokens: null,
  toolProtocol: "text",
  options: { version: 2 },
};

const reply = (text: string): ModelReply => ({
  kind: "reply",
  text,
  toolCalls: [],
  promptTokens: 0,
  completionTokens: 0,
  loadMs: 0,
  doneReason: "stop",
});

function textFor(task: Exclude<ModelTask, { purpose: "chat" }>): string {
  switch (task.purpose) {
    case "select_tool":
      return selectTool(task.namedFiles);
    case "answer":
      return compose(answerSentences(task), "prose");
    case "summarize": {
      const candidates = candidatesOf(task.evidence);
      return compose(rankForSummary(candidates, task.title, task.sentences), task.style);
    }
    case "extract": {
      const fields = extractFields(task);
      return fields === null ? DECLINED : JSON.stringify(fields);
    }
    case "digest":
      return digestLines(task);
  }
}

function selectTool([path]: readonly string[]): string {
  if (path === undefined) return "The passages are enough.";
  return JSON.stringify({ type: "tool_call", name: "read_text_file", args: { path } });
}

/** A question that asks for nothing but the file ("What does a.md say?") is answered with a summary of it. */
function answerSentences(task: Extract<ModelTask, { purpose: "answer" }>): Candidate[] {
  const candidates = candidatesOf(task.evidence);
  const question = withoutFileNames(task.question, task.evidence);
  if (contentStems(question).length > 0) {
    return rankForQuestion(candidates, question, task.sentences);
  }
  return question === task.question ? [] : rankForSummary(candidates, "", task.sentences);
}

function withoutFileNames(
  question: string,
  evidence: readonly { readonly path: string }[],
): string {
  const names = new Set(
    evidence.flatMap(({ path }) => [path, path.slice(path.lastIndexOf("/") + 1)]),
  );
  return question
    .split(/\s+/)
    .filter((word) => ![...names].some((name) => word.toLowerCase().includes(name.toLowerCase())))
    .join(" ");
}

function compose(sentences: readonly Candidate[], style: "prose" | "bullets"): string {
  if (sentences.length === 0) return DECLINED;
  const cited = sentences.map(({ text, number }) => `${text} [${number}]`);
  return style === "bullets" ? cited.map((line) => `- ${line}`).join("\n") : cited.join(" ");
}
