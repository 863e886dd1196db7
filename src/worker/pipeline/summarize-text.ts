import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import type { Model } from "../model/model.ts";
import type { AnswerRules, PassedAnswer } from "./check-answer.ts";
import { fenceBoundary, fenceEvidence } from "./fence-evidence.ts";
import type { CitableBlock } from "./number-evidence.ts";
import type { Reading } from "./pipeline-dependencies.ts";
import { renderPrompt } from "./prompts/prompt.ts";
import { SUMMARIZE_PROMPT } from "./prompts/summarize-prompt.ts";
import type { ModelChoice } from "./route-models.ts";
import { secondPass } from "./second-pass.ts";
import { splitIntoParts } from "./split-into-parts.ts";

export type SummaryRun = {
  readonly jobId: string;
  readonly fenceKey: Buffer;
  readonly reading: Reading;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly title: string;
  readonly sentences: number;
  readonly style: "prose" | "bullets";
  /** The footer of a summary that was made from so many parts of the file. */
  footerFor(parts: number): string;
};

export type Summary = {
  readonly kind: "summary";
  readonly answer: PassedAnswer;
  readonly rules: AnswerRules;
};

/** Characters of prompt that rules, title and footer take beside the text. */
const PROMPT_CHARS = 3_000;
const FEWEST_PART_CHARS = 500;

/**
 * Summarises a text at once if it fits the model's window; else in parts that cover it completely, whose
 * summaries are then combined, in as many layers as it takes.
 */
export async function summarizeText(
  run: SummaryRun,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Summary | Refusal> {
  const room = run.model.promptChars(run.choice.maxTokens) - PROMPT_CHARS;
  const { text } = run.reading;
  const parts = splitIntoParts(text, Math.max(room, Math.min(FEWEST_PART_CHARS, text.length)));
  const whole = parts.map((part, index) => blockOf(run, part, index + 1));
  if (whole.length === 1) {
    return summarizeBlocks({ ...run, subject: "the file", parts: 1 }, whole, trace, signal);
  }
  const partials = await summarizeEach(
    run,
    whole.map((block) => [block]),
    trace,
    signal,
  );
  if ("kind" in partials) return partials;
  return combine(run, { partials, parts: whole.length, room }, trace, signal);
}

type Layer = {
  readonly partials: readonly CitableBlock[];
  /** Parts that the file was cut into. */
  readonly parts: number;
  /** Characters of text that fit one prompt. */
  readonly room: number;
};

async function combine(
  run: SummaryRun,
  { partials, parts, room }: Layer,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Summary | Refusal> {
  if (lengthOf(partials) <= room) {
    const subject = "these summaries of the parts of a file, in order,";
    return summarizeBlocks({ ...run, subject, parts }, partials, trace, signal);
  }
  const groups = groupToFit(partials, room);
  if (groups.length === partials.length) return tooSmall(run);
  const merged = await summarizeEach(run, groups, trace, signal);
  if ("kind" in merged) return merged;
  return combine(run, { partials: merged, parts, room }, trace, signal);
}

/** One summary for each group, renumbered; a refusal of one is a refusal of all. */
async function summarizeEach(
  run: SummaryRun,
  groups: readonly (readonly CitableBlock[])[],
  trace: RunTrace,
  signal: AbortSignal,
): Promise<CitableBlock[] | Refusal> {
  const summaries: CitableBlock[] = [];
  for (const group of groups) {
    const subject = "this part of a file,";
    const part = { ...run, subject, parts: 0, sentences: Math.max(run.sentences, 5) };
    const summary = await summarizeBlocks(part, numbered(group), trace, signal);
    if (summary.kind === "refused") return summary;
    summaries.push(mergedBlock(group, summary.answer, summaries.length + 1));
  }
  return summaries;
}

/** @param run with `parts`: 0 for an inner summary, which has no footer of its own to state */
async function summarizeBlocks(
  run: SummaryRun & { readonly subject: string; readonly parts: number },
  evidence: readonly CitableBlock[],
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Summary | Refusal> {
  const { jobId, reading, model, choice, title, sentences, style, subject } = run;
  const footer = run.footerFor(Math.max(1, run.parts));
  const span = evidence.map(({ lineStart, lineEnd }) => `${lineStart}-${lineEnd}`);
  const boundary = fenceBoundary(jobId, [reading.sha256, ...span], run.fenceKey);
  const rules: AnswerRules = { footer, evidence, citations: "known" };
  const path = JSON.stringify(reading.path);
  const slots = {
    boundary,
    path,
    subject,
    footer,
    style: style === "bullets" ? "a list" : "prose",
  };
  const evidenceText = fenceEvidence(evidence, boundary);
  const answer = await secondPass(
    {
      pass: run.parts === 0 ? "part" : "second",
      model,
      choice,
      task: { purpose: "summarize", title, evidence, sentences, style },
      rules,
      boundary,
      prompt: (correction) =>
        renderPrompt(SUMMARIZE_PROMPT, {
          ...slots,
          sentences: String(sentences),
          evidence: evidenceText,
          correction,
        }),
    },
    trace,
    signal,
  );
  return answer.kind === "refused" ? answer : { kind: "summary", answer, rules };
}

const blockOf = (
  { reading, title }: SummaryRun,
  part: { text: string; lineStart: number; lineEnd: number },
  number: number,
): CitableBlock => ({
  number,
  path: reading.path,
  title,
  headingPath: null,
  chunkKey: null,
  ...part,
});

/** The summary of a group in the place of the group: its span of lines, its words without footer and citations. */
function mergedBlock(
  group: readonly CitableBlock[],
  answer: PassedAnswer,
  number: number,
): CitableBlock {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined)
    throw new RangeError("a group has at least one block");
  const body = answer.text.slice(0, answer.text.lastIndexOf("\n"));
  return { ...first, number, lineEnd: last.lineEnd, text: body.replace(/ ?\[\d{1,4}\]/g, "") };
}

const numbered = (blocks: readonly CitableBlock[]): CitableBlock[] =>
  blocks.map((block, index) => ({ ...block, number: index + 1 }));

const lengthOf = (blocks: readonly CitableBlock[]): number =>
  blocks.reduce((total, { text }) => total + text.length + FENCE_CHARS, 0);

/** Marks, path and number around each piece. */
const FENCE_CHARS = 200;

function groupToFit(blocks: readonly CitableBlock[], room: number): CitableBlock[][] {
  const groups: CitableBlock[][] = [];
  for (const block of blocks) {
    const open = groups.at(-1);
    if (open !== undefined && lengthOf([...open, block]) <= room) open.push(block);
    else groups.push([block]);
  }
  return groups;
}

const tooSmall = ({ model, reading }: SummaryRun): Refusal =>
  refuse(
    "CONTEXT_OVERFLOW",
    `The window of "${model.name}" is too small to combine the parts of ${reading.path}. Raise model.num_ctx.`,
  );
