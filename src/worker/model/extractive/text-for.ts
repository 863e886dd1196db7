import type { PureWork } from "../../offload/offload.ts";
import { DECLINED } from "../../models/model.ts";
import type { ModelTask } from "../../models/model.ts";
import { candidatesOf } from "./candidates.ts";
import type { Candidate } from "./candidates.ts";
import { digestLines } from "./digest-lines.ts";
import { extractFields } from "./fields/extract-fields.ts";
import { rankForQuestion } from "./rank-for-question.ts";
import { rankForSummary } from "./rank-for-summary.ts";
import { contentStems } from "./words.ts";

/** What can be done with nothing but the words of the evidence. */
export type QuotingTask = Exclude<ModelTask, { purpose: "chat" }>;

/** What a model says that has no words but those of the evidence; DECLINED where they do not do. */
export function textFor(task: QuotingTask): string {
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

export const TEXT_FOR: PureWork<QuotingTask, string> = { home: import.meta.url, run: textFor };

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

/** A name may hold blanks; quotes, brackets and folders around it go with it. */
function withoutFileNames(
  question: string,
  evidence: readonly { readonly path: string }[],
): string {
  const names = new Set(
    evidence.flatMap(({ path }) => [path, path.slice(path.lastIndexOf("/") + 1)]),
  );
  return [...names]
    .toSorted((one, other) => other.length - one.length)
    .reduce(withoutName, question);
}

function withoutName(question: string, name: string): string {
  const literal = name.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const between = question.split(new RegExp(literal, "giu"));
  return between
    .map((text, at) => (at > 0 ? text.replace(/^\S+/, "") : text))
    .map((text, at) => (at < between.length - 1 ? text.replace(/(?<!\S)\S+$/, "") : text))
    .join("");
}

function compose(sentences: readonly Candidate[], style: "prose" | "bullets"): string {
  if (sentences.length === 0) return DECLINED;
  const cited = sentences.map(({ text, number }) => `${text} [${number}]`);
  return style === "bullets" ? cited.map((line) => `- ${line}`).join("\n") : cited.join(" ");
}
