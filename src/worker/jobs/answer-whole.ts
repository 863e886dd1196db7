import type { Refusal } from "../../shared/failure.ts";
import type { AskInput } from "../../shared/job.ts";
import type { Route } from "../../shared/route-models.ts";
import type { Citation } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { callParts } from "../answer/call-model.ts";
import type { CallParts } from "../answer/call-model.ts";
import { wholeFooter } from "../answer/map-reduce.ts";
import type { ShownNotes } from "../answer/notes.ts";
import { spansOf } from "../answer/parts.ts";
import type { PartEvidence } from "../answer/parts.ts";
import { renderPrompt } from "../answer/prompt.ts";
import {
  ANSWER_FROM_FILES_PROMPT,
  ANSWER_FROM_NOTES_PROMPT,
  ANSWER_PROMPT,
} from "../answer/prompts.ts";
import { askWithRepair } from "../answer/repair-loop.ts";
import type { RepairPlan } from "../answer/repair-loop.ts";
import { fenceBoundary, fenceLong } from "../evidence/fence.ts";
import { numberPassages } from "../evidence/number.ts";
import type { Snapshot } from "../evidence/retrieve.ts";
import type {
  AdmittedEvidence,
  PipelineDependencies,
  PipelineSettings,
} from "../evidence/types.ts";
import type { Model } from "../models/model.ts";
import type { Classification } from "../question/classify-question.ts";
import type { AnswerRules } from "../verify/check-answer.ts";
import { judgeAnswer } from "../verify/check-reply.ts";
import type { PassedReply } from "../verify/check-reply.ts";

/** What every call of pass 2 for one question shares. */
export type AnswerRun = AskRun & {
  readonly admitted: AdmittedEvidence;
  readonly answerers: Answerers;
  /** The operator's durable notes, as the prompt shows them. */
  readonly notes: string;
};

export type Answered = {
  readonly kind: "answered";
  readonly answer: PassedReply;
  readonly rules: AnswerRules;
};

/** Sentences that a model without language puts together, and one at least for each file; a language model is asked for few. */
const SENTENCES = 3;

/**
 * The answer to the question from all of the evidence: the files at once (`parts` 1), or what was noted of so many parts
 * of them, and the passages. It is checked against the words of the files either way.
 */
export async function answerOnce(
  run: AnswerRun,
  fromFiles: PartEvidence,
  parts: number,
): Promise<Answered | Refusal> {
  const { input, deps, admitted, answerers, trace, signal } = run;
  const { question } = input;
  const passages = numberPassages(admitted.passages, fromFiles.shown.length + 1);
  const shown = [...fromFiles.shown, ...passages];
  const { ask } = deps.settings;
  const rules = answerRules(ask, {
    footer: wholeFooter({ ...admitted, parts }),
    question,
    evidence: [...fromFiles.sources, ...passages],
    citations: citationRule(ask.citations),
  });
  const { second: model, route } = answerers;
  const sentences = Math.max(SENTENCES, admitted.files.length);
  const task = { purpose: "answer", question, evidence: shown, sentences } as const;
  const asked = await promptsFor(run, fromFiles, { shown, footer: rules.footer, parts });
  const plan = { pass: "second", model, choice: route.second, task, rules, ...asked } as const;
  const answer = await askForAnswer(plan, callParts(deps, { trace, signal }));
  return answer.kind === "refused" ? answer : { kind: "answered", answer, rules };
}

async function promptsFor(
  { input, deps, admitted, notes, signal }: AnswerRun,
  fromFiles: PartEvidence,
  { shown, footer, parts }: Pick<PartEvidence, "shown"> & { footer: string; parts: number },
): Promise<Pick<AnswerPlan, "boundary" | "prompt">> {
  const { files, snapshotHash } = admitted;
  const ofFiles = [...files.map(({ sha256 }) => sha256), ...spansOf(fromFiles.shown)];
  const ofNotes = files.length > 1 ? ANSWER_FROM_FILES_PROMPT : ANSWER_FROM_NOTES_PROMPT;
  const template = parts === 1 ? ANSWER_PROMPT : ofNotes;
  const boundary = fenceBoundary(template.version, [...ofFiles, snapshotHash], deps.fenceKey);
  const values = { question: input.question, footer, notes };
  const text = await fenceLong(shown, boundary, { offload: deps.offload, signal });
  const evidence = { text, shown };
  return {
    boundary,
    prompt: (correction) => renderPrompt(template, { values, boundary, evidence, correction }),
  };
}

const NOT_ANSWERED =
  "The evidence that was read does not answer the question. Name a file that does, or index more.";

type AnswerPlan = Omit<RepairPlan<PassedReply>, "judge"> & { readonly rules: AnswerRules };

/** A request for an answer, a summary or a note, held against the rules for answers; the refusals of `askWithRepair`. */
export async function askForAnswer(
  plan: AnswerPlan,
  parts: CallParts,
  whenDeclined = NOT_ANSWERED,
): Promise<PassedReply | Refusal> {
  const judge = judgeAnswer(plan.rules, whenDeclined, parts);
  const kept = await askWithRepair({ ...plan, judge }, parts);
  return kept.kind === "refused" ? kept : kept.value;
}

/** What the citations of an answer stand for, each once, in the order in which they are cited. */
export const citationsOf = (
  answer: PassedReply,
  { citations }: AnswerRules,
): readonly Citation[] => (citations === "off" ? [] : answer.citations);

/** The rules for an answer, from the `ask` keys of the configuration and what the call at hand is about. */
export const answerRules = (
  { citations, quotes, figures, min_support: minSupport }: PipelineSettings["ask"],
  about: Pick<AnswerRules, "footer" | "question" | "evidence" | "citations">,
): AnswerRules => ({
  ...about,
  requireInSnapshot: citations.require_in_snapshot,
  headingMatch: citations.heading_match,
  normalizeHeading: citations.normalize_heading,
  quotes,
  figures,
  minSupport,
});

/** How citations are held to the evidence in an answer that rests on it. */
function citationRule({
  enabled,
  strict,
}: PipelineSettings["ask"]["citations"]): AnswerRules["citations"] {
  if (!enabled) return "off";
  return strict ? "required" : "known";
}

/** The rules for what is made of a part: support is measured at the end, on the words of the file. */
export const partRules = (
  settings: PipelineSettings["ask"],
  about: Pick<AnswerRules, "footer" | "question" | "evidence">,
): AnswerRules => ({ ...answerRules(settings, { ...about, citations: "known" }), minSupport: 0 });

/** What every step of one question works with. */
export type AskRun = {
  readonly jobId: string;
  readonly input: AskInput;
  readonly deps: PipelineDependencies;
  readonly trace: RunTrace;
  readonly signal: AbortSignal;
};

/** What is known before any model is asked. */
export type RetrievedContext = {
  readonly classification: Classification;
  /** Of the names in the question one for each file, in order. */
  readonly toRead: readonly string[];
  readonly snapshot: Snapshot;
};

/** Who answers: model and budget of each pass, and the operator's notes for pass 2. */
export type Answerers = {
  readonly route: Route;
  readonly first: Model;
  readonly second: Model;
  readonly notes: ShownNotes;
};
