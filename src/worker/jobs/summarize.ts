import type { Refusal } from "../../shared/failure.ts";
import type { SummarizeInput } from "../../shared/job.ts";
import { routeModels } from "../../shared/route-models.ts";
import type { ModelChoice } from "../../shared/route-models.ts";
import type { Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { callParts, modelOf, modelUse } from "../answer/call-model.ts";
import type { CallParts } from "../answer/call-model.ts";
import { partFooter, roomForEvidence, wholeFooter, mapReduce } from "../answer/map-reduce.ts";
import { notesFor } from "../answer/notes.ts";
import { spansOf } from "../answer/parts.ts";
import type { PartEvidence } from "../answer/parts.ts";
import { renderPrompt } from "../answer/prompt.ts";
import {
  OF_SUMMARIES,
  SUMMARIZE_PROMPT,
  SUMMARY_CLAIMS_PROMPT,
  SUMMARY_OF_FILE,
} from "../answer/prompts.ts";
import type { RepairPlan } from "../answer/repair-loop.ts";
import { fenceBoundary, fenceLong, quoteName } from "../evidence/fence.ts";
import { titleOf } from "../evidence/number.ts";
import { readWholeFile } from "../evidence/read.ts";
import type { PipelineDependencies, PipelineSettings, Reading } from "../evidence/types.ts";
import type { Model } from "../models/model.ts";
import type { AnswerRules } from "../verify/check-answer.ts";
import type { PassedReply } from "../verify/check-reply.ts";
import { answerRules, askForAnswer, citationsOf, formFor, partRules } from "./answer-whole.ts";
import type { ClaimsPlan } from "./answer-whole.ts";

type SummarizeJob = { readonly jobId: string; readonly input: SummarizeInput };

/**
 * A summary of a whole file: read through the sandbox, gated, summarised at once or in parts that cover it
 * completely, with a footer that states the coverage.
 *
 * Refusals: those of the read, FILE_EMPTY, EVIDENCE_TRUNCATED (over ask.max_chars_full_read), and those of
 * pass 2.
 */
export async function summarizeFile(
  job: SummarizeJob,
  deps: PipelineDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Outcome> {
  const reading = await readWholeFile(job.input.path, deps, trace);
  if (reading.kind === "refused") return reading;
  const run = await summaryRun(job, reading, deps, callParts(deps, { trace, signal }));
  const summary = await summarizeText(run);
  if (summary.kind === "refused") return summary;
  const { answer, rules } = summary;
  const citations = citationsOf(answer, rules);
  return { kind: "succeeded", answer: answer.text, scope: rules.footer, citations, summary: null };
}

const SENTENCES = { sentence: 1, short: 2, medium: 5, long: 10 } as const;

async function summaryRun(
  { input }: SummarizeJob,
  reading: Reading,
  deps: PipelineDependencies,
  parts: CallParts,
): Promise<SummaryRun> {
  const { settings, models, fenceKey } = deps;
  const { options } = input;
  const route = routeModels("", settings.model, { route: options?.route, model: options?.model });
  const model = await modelOf(route.second, models, parts.signal);
  parts.trace.models([modelUse("second", model, route.second)]);
  const notes = await notesFor(model, deps, parts.trace);
  parts.trace.memory(notes.ids);
  return {
    fenceKey,
    settings: settings.ask,
    reading,
    parts,
    model,
    choice: route.second,
    notes: notes.text,
    title: titleOf(reading.text) ?? reading.path,
    sentences: SENTENCES[options?.length ?? "medium"],
    style: options?.bullets === true ? "bullets" : "prose",
  };
}

type SummaryRun = {
  readonly fenceKey: Buffer;
  readonly settings: PipelineSettings["ask"];
  readonly reading: Reading;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly title: string;
  readonly sentences: number;
  readonly style: "prose" | "bullets";
  /** The operator's durable notes, as the prompt shows them. */
  readonly notes: string;
  readonly parts: CallParts;
};

export type Summary = {
  readonly kind: "summary";
  readonly answer: PassedReply;
  readonly rules: AnswerRules;
};

/** Sentences of the summary of a part: what it leaves out is gone for the whole. */
const FEWEST_PART_SENTENCES = 5;

/** Summarises a text at once, or in parts that cover it completely, with a footer that says so. */
function summarizeText(run: SummaryRun): Promise<Summary | Refusal> {
  const { reading, title, model, choice, notes } = run;
  return mapReduce<Summary>({
    reading,
    title,
    room: roomForEvidence(model, choice, [notes, title]),
    model: model.name,
    trace: run.parts.trace,
    askPart: (part) =>
      summarize(run, part, {
        pass: "part",
        subject: wordsFor(part).part,
        footer: partFooter(reading, part.shown),
        sentences: Math.max(run.sentences, FEWEST_PART_SENTENCES),
      }).then(({ answer }) => answer),
    askWhole: async (whole, parts) => {
      const { answer, rules } = await summarize(run, whole, {
        pass: "second",
        subject: wordsFor(whole).whole,
        footer: wholeFooter({ files: [reading], parts, passages: [], snapshotHash: "" }),
        sentences: run.sentences,
      });
      return answer.kind === "refused" ? answer : { kind: "summary", answer, rules };
    },
  });
}

const NOTHING_TO_TELL =
  "The model found nothing to summarise in the file. Look whether it holds more than headings and lists.";

type Ask = {
  readonly pass: RepairPlan<unknown>["pass"];
  readonly subject: string;
  readonly footer: string;
  readonly sentences: number;
};

const wordsFor = ({ shown }: PartEvidence): typeof SUMMARY_OF_FILE | typeof OF_SUMMARIES =>
  shown.every(({ summaryLevel }) => summaryLevel === null) ? SUMMARY_OF_FILE : OF_SUMMARIES;

async function summarize(
  run: SummaryRun,
  { shown, sources }: PartEvidence,
  { pass, subject, footer, sentences }: Ask,
): Promise<{ readonly answer: PassedReply | Refusal; readonly rules: AnswerRules }> {
  const { reading, model, choice, title, style } = run;
  const boundary = fenceBoundary(
    SUMMARIZE_PROMPT.version,
    [reading.sha256, ...spansOf(shown)],
    run.fenceKey,
  );
  const about = { footer, question: "", evidence: sources };
  const rules =
    pass === "part"
      ? partRules(run.settings, about)
      : answerRules(run.settings, { ...about, citations: "known" });
  const { quotable, claim, quote } = wordsFor({ shown, sources });
  const told = {
    path: quoteName(reading.path),
    subject,
    quotable,
    notes: run.notes,
    sentences: String(sentences),
  };
  const values = { ...told, footer, style: style === "bullets" ? "a list" : "prose" };
  const evidence = { text: await fenceLong(shown, boundary, run.parts), shown };
  const prompt: RepairPlan<unknown>["prompt"] = (correction) =>
    renderPrompt(SUMMARIZE_PROMPT, { values, boundary, evidence, correction });
  const ofClaims: ClaimsPlan = {
    boundary,
    form: { layout: style === "bullets" ? "list" : "prose", quotes: quote !== "", cites: false },
    prompt: (correction) =>
      renderPrompt(SUMMARY_CLAIMS_PROMPT, {
        values: { ...told, claim, quote },
        boundary,
        evidence,
        correction,
      }),
  };
  // What is made of a part is shown to nobody: its statements need no form of their own.
  const isOfClaims = pass === "second" && formFor(run.settings.answer_form, model) === "claims";
  const task = { purpose: "summarize", title, evidence: shown, sentences, style } as const;
  const claims = isOfClaims ? ofClaims : null;
  const plan = { pass, model, choice, task, rules, boundary, prompt, claims };
  return { answer: await askForAnswer(plan, run.parts, NOTHING_TO_TELL), rules };
}
