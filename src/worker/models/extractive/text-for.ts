import type { PureWork } from "../../offload/offload.ts";
import { READ_TOOL } from "../../../shared/config/tool-presets.ts";
import { escapePattern } from "../../../shared/text/normalise-text.ts";
import { firstCodePoints } from "../../text/clean-text.ts";
import { textOfCall } from "../../text/model-json.ts";
import { DECLINED } from "../model.ts";
import type { EvidenceBlock, ModelTask } from "../model.ts";
import { findActions } from "./actions.ts";
import { candidatesOf } from "./candidates.ts";
import type { Candidate } from "./candidates.ts";
import { classifyByExamples } from "./classify-by-examples.ts";
import { classify } from "./classify.ts";
import { findDates } from "./dates.ts";
import { findPeople } from "./people.ts";
import { rankForQuestion } from "./rank-for-question.ts";
import { rankForSummary } from "./rank-for-summary.ts";
import { sentenceForSummary } from "./sentence-for-summary.ts";
import { answerFromTables } from "./tables/answer-from-tables.ts";
import { saidWithLabel } from "../../text/units/cut-units.ts";
import { contentStems } from "../../text/content-words.ts";

/** A task that can be done by quoting the evidence alone. */
export type QuotingTask = Exclude<ModelTask, { purpose: "chat" | "investigate" }>;

/** The reply of the built-in model without language, in words of the evidence only; DECLINED if these do not answer. */
export function textFor(task: QuotingTask): string {
  switch (task.purpose) {
    case "select_tool":
      return selectTool(task.namedFiles);
    case "answer":
      return answerText(task);
    case "summarize": {
      const candidates = candidatesOf(task.evidence);
      const sentences =
        task.sentences === 1
          ? sentenceForSummary(candidates, task.title)
          : rankForSummary(candidates, task.title, task.sentences);
      return joinSentences(sentences, task.style, inFrame);
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
  return textOfCall(READ_TOOL, { path });
}

type AnswerTask = Extract<ModelTask, { purpose: "answer" }>;

/** Answers with cells of tables, or else with sentences. */
function answerText(task: AnswerTask): string {
  const tables = answerFromTables(task, withoutFileNames(task.question, task.evidence));
  if (tables.kind === "answered") return tables.text;
  const sentences = answerSentences(task).filter((sentence) => !tables.isNoAnswer(sentence));
  return joinSentences(sentences, "prose", saidWithLabel);
}

/** A question about a file as a whole ("What does a.md say?") is answered with a summary of the file. */
function answerSentences(task: AnswerTask): Candidate[] {
  const candidates = candidatesOf(task.evidence);
  const question = withoutFileNames(task.question, task.evidence);
  if (contentStems(question).length > 0) {
    return rankForQuestion(candidates, question, task.sentences);
  }
  return question === task.question ? [] : rankForSummary(candidates, "", task.sentences);
}

/** Removes names of files, which may contain blanks, with the quotes, brackets and folders around them. */
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
  const between = question.split(new RegExp(escapePattern(name), "giu"));
  return between
    .map((text, at) => (at > 0 ? text.replace(/^\S+/, "") : text))
    .map((text, at) => (at < between.length - 1 ? text.replace(/(?<!\S)\S+$/, "") : text))
    .join("");
}

/** Adds the label that a sentence needs to be true; a label that only helps to understand it is left out. */
const inFrame = (sentence: Candidate): string =>
  sentence.frame === null ? sentence.text : saidWithLabel(sentence);

function joinSentences(
  sentences: readonly Candidate[],
  style: "prose" | "bullets",
  say: (sentence: Candidate) => string,
): string {
  if (sentences.length === 0) return DECLINED;
  const cited = sentences.map((sentence) => `${say(sentence)} [${sentence.number}]`);
  if (style === "bullets") return cited.map((line) => `- ${line}`).join("\n");
  return cited
    .map((said, at) => `${at === 0 ? "" : gapBetween(sentences[at - 1], sentences[at])}${said}`)
    .join("");
}

/** Rows, facts and lines without a full stop need a line break, because nothing else separates them from the next one. */
function gapBetween(one: Candidate | undefined, next: Candidate | undefined): " " | "\n" {
  const isParted = one?.kind === "sentence" && next?.kind === "sentence" && STOP.test(one.text);
  return isParted ? " " : "\n";
}

const STOP = /\p{Sentence_Terminal}[\p{Pe}\p{Pf}"']*$/u;

type DigestTask = Extract<ModelTask, { purpose: "digest" }>;

/** The most sentences of one answer, if there is room. */
const MOST_OF_ONE = 3;

/**
 * Lines with the most important sentences of each answer, and its number: one sentence each, or more if there is room. If there
 * are more answers than lines, evenly spaced ones are taken: nothing shows which of them matter.
 */
function digestLines({ evidence, lines }: DigestTask): string {
  const ofEach = Math.max(1, Math.min(MOST_OF_ONE, Math.floor(lines / evidence.length)));
  const said = evidence.flatMap((block) =>
    bestSentences(block, ofEach).map((sentence) => `- ${sentence} [${block.number}]`),
  );
  if (said.length === 0) return DECLINED;
  const step = Math.max(1, said.length / lines);
  const taken = Array.from(
    { length: Math.min(lines, said.length) },
    (_, at) => said[Math.floor(at * step)],
  );
  return taken.join("\n");
}

/** The fields of an extraction are not sentences; short ones are shown as they are. */
const MOST_FIELD_CHARS = 300;

function bestSentences(block: EvidenceBlock, most: number): string[] {
  const candidates = candidatesOf([block]).filter(({ text }) => quotesAreClosed(text));
  const best = rankForSummary(candidates, block.title ?? "", most).map(({ text }) => text);
  if (best.length > 0) return best;
  const [first = ""] = block.text.split("\n");
  const field = withClosedQuotes(firstCodePoints(first.trim(), MOST_FIELD_CHARS)).trim();
  return field === "" ? [] : [field];
}

/** False for a sentence cut out of a quotation: in the answer it would quote words that nobody wrote. */
const quotesAreClosed = (text: string): boolean => text.split('"').length % 2 === 1;

const withClosedQuotes = (text: string): string =>
  quotesAreClosed(text) ? text : text.slice(0, text.lastIndexOf('"'));

type ExtractTask = Extract<ModelTask, { purpose: "extract" }>;

/** The fields of a preset, found by words and rules; null if there are none, and for a schema of the user. */
function extractFields({ preset, labels, examples, evidence }: ExtractTask): object | null {
  switch (preset) {
    case "classify":
      return examples.length === 0
        ? classify(evidence, labels)
        : classifyByExamples(evidence, labels, examples);
    case "actions":
      return { actions: findActions(evidence) };
    case "people":
      return { people: findPeople(evidence), dates: findDates(evidence) };
    case null:
      return null;
  }
}
