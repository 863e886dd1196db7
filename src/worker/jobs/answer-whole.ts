import type { Refusal } from "../../shared/failure.ts";
import type { AskInput } from "../../shared/job.ts";
import { routeModels } from "../../shared/route-models.ts";
import type { Route } from "../../shared/route-models.ts";
import { Escalated } from "../../shared/settlement.ts";
import type { Citation, Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { callParts, modelOf, modelUse } from "../answer/call-model.ts";
import type { CallParts } from "../answer/call-model.ts";
import { roomForEvidence, wholeFooter } from "../answer/map-reduce.ts";
import { notesFor } from "../answer/notes.ts";
import type { ShownNotes } from "../answer/notes.ts";
import { spansOf } from "../answer/parts.ts";
import type { PartEvidence } from "../answer/parts.ts";
import { renderPrompt } from "../answer/prompt.ts";
import {
  ANSWER_CLAIMS_PROMPT,
  ANSWER_FROM_FILES_PROMPT,
  ANSWER_FROM_NOTES_PROMPT,
  ANSWER_PROMPT,
  CLAIMS_FROM_NOTES_PROMPT,
} from "../answer/prompts.ts";
import { askAgain, askWithRepair } from "../answer/repair-loop.ts";
import type { RepairPlan } from "../answer/repair-loop.ts";
import { FENCE_CHARS, fenceBoundary, fenceLong } from "../evidence/fence.ts";
import { outputsHash } from "../evidence/footer.ts";
import { numberBesideFiles, numberFilesFrom } from "../evidence/number.ts";
import { ADMITTED, filePiece } from "../evidence/piece.ts";
import type { Snapshot } from "../evidence/retrieve.ts";
import type {
  AdmittedEvidence,
  PipelineDependencies,
  PipelineSettings,
  Reading,
} from "../evidence/types.ts";
import type { Fault } from "../evidence/validated.ts";
import type { Model, ModelTask } from "../models/model.ts";
import type { Classification } from "../question/classify-question.ts";
import type { AnswerRules } from "../verify/check-answer.ts";
import { validateAnswer } from "../verify/check-reply.ts";
import type { PassedReply } from "../verify/check-reply.ts";
import { ANSWER_CLAIMS, claimsSchemaFor } from "../verify/claims-reply.ts";
import type { ClaimsForm } from "../verify/claims-reply.ts";
import { compareReply } from "../verify/claims/entailment.ts";
import type { Draft } from "./verification/draft.ts";
import { verifyDraft } from "./verification/verify-draft.ts";
import type { DraftPlan, Revised } from "./verification/verify-draft.ts";

/** What every call of pass 2 for one question shares. */
export type AnswerRun = Pick<AskRun, "deps" | "trace" | "signal"> & {
  /** What is asked, as the prompt shows it. */
  readonly question: string;
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
  const plan = await planAnswer(run, { fromFiles, parts, found: [] });
  const isOfFiles = run.admitted.files.length > 0;
  return askAndVerify(
    plan,
    callParts(run.deps, run),
    isOfFiles ? FILES_DO_NOT_ANSWER : NOT_ANSWERED,
  );
}

type AnswerBasis = {
  readonly fromFiles: PartEvidence;
  readonly parts: number;
  /** Files that checks of the answer found. They have the last numbers: those before them stay what they were. */
  readonly found: readonly Reading[];
};

async function planAnswer(asked: AnswerRun, basis: AnswerBasis): Promise<AnswerPlan> {
  const { fromFiles, parts, found } = basis;
  const files = [...asked.admitted.files, ...found];
  const run = { ...asked, admitted: { ...asked.admitted, files } };
  const { question, deps, admitted, answerers } = run;
  const first = numberBesideFiles(admitted, fromFiles.shown.length + 1);
  const last = fromFiles.shown.length + first.length + 1;
  const beside = [...first, ...numberFilesFrom(found, last)];
  const shown = [...fromFiles.shown, ...beside];
  const { ask } = deps.settings;
  const rules = answerRules(ask, {
    footer: wholeFooter({ ...admitted, parts }),
    question,
    evidence: [...fromFiles.sources, ...beside],
    citations: citationRule(ask.citations),
  });
  const { second: model, route } = answerers;
  const sentences = Math.max(SENTENCES, admitted.files.length);
  const task = { purpose: "answer", question, evidence: shown, sentences } as const;
  const isOfClaims = formFor(ask.answer_form, model) === "claims";
  const { claims, ...prompts } = await promptsFor(run, fromFiles, {
    shown,
    footer: rules.footer,
    parts,
  });
  return {
    pass: "second",
    model,
    choice: route.second,
    task,
    rules,
    claims: isOfClaims ? claims : null,
    ...prompts,
    withFound: found.length > 0 ? undefined : (more) => planWithFound(asked, basis, more),
  };
}

/** The same answer from what checks found as well, as much of it as fits beside the rest; null where nothing does. */
async function planWithFound(
  run: AnswerRun,
  basis: AnswerBasis,
  more: readonly Reading[],
): Promise<ExtendedPlan | null> {
  const { question, notes, answerers, admitted, deps } = run;
  const beside = [...basis.fromFiles.shown, ...admitted.passages, ...(admitted.outputs ?? [])];
  const texts = [question, notes, ...beside.map(({ text }) => text)];
  let room = roomForEvidence(answerers.second, answerers.route.second, texts);
  const found = more.filter(({ text }) => {
    const isFitting = text.length + FENCE_CHARS <= room;
    if (isFitting) room -= text.length + FENCE_CHARS;
    return isFitting;
  });
  if (found.length === 0) return null;
  return {
    plan: await planAnswer(run, { ...basis, found }),
    admit() {
      const pieces = found.map((reading) => filePiece(reading, ADMITTED, deps.previewChars));
      run.trace.evidence(pieces);
    },
  };
}

/** The prompts for an answer as text, and as claims: both show the same evidence between the same marks. */
async function promptsFor(
  { question, deps, admitted, notes, signal }: AnswerRun,
  fromFiles: PartEvidence,
  { shown, footer, parts }: Pick<PartEvidence, "shown"> & { footer: string; parts: number },
): Promise<Pick<AnswerPlan, "boundary" | "prompt"> & { readonly claims: ClaimsPlan }> {
  const { files, outputs = [], snapshotHash } = admitted;
  const ofOutputs = outputs.length === 0 ? [] : [outputsHash(outputs)];
  const ofFiles = [...files.map(({ sha256 }) => sha256), ...spansOf(fromFiles.shown)];
  const ofNotes = files.length > 1 ? ANSWER_FROM_FILES_PROMPT : ANSWER_FROM_NOTES_PROMPT;
  const template = parts === 1 ? ANSWER_PROMPT : ofNotes;
  const ofClaims = parts === 1 ? ANSWER_CLAIMS_PROMPT : CLAIMS_FROM_NOTES_PROMPT;
  const boundary = fenceBoundary(
    template.version,
    [...ofFiles, snapshotHash, ...ofOutputs],
    deps.fenceKey,
  );
  const values = { question, footer, notes };
  const text = await fenceLong(shown, boundary, { offload: deps.offload, signal });
  const evidence = { text, shown };
  return {
    boundary,
    prompt: (correction) => renderPrompt(template, { values, boundary, evidence, correction }),
    claims: {
      boundary,
      // Notes on parts are no words of the file: a claim could not quote what carries it.
      form: { ...ANSWER_CLAIMS, quotes: parts === 1 },
      prompt: (correction) => renderPrompt(ofClaims, { values, boundary, evidence, correction }),
    },
  };
}

/** As `auto` has it: claims where the host holds replies to a schema, and this build was not seen to ignore one. */
export function formFor(
  form: PipelineSettings["ask"]["answer_form"],
  { facts }: Model,
): "claims" | "text" {
  if (!facts.readsPrompts) return "text";
  if (form !== "auto") return form;
  return facts.toolProtocol === "text" || facts.ignoresSchemas ? "text" : "claims";
}

const NOT_ANSWERED =
  "The evidence that was read does not answer the question. Name a file that does, or index more.";
const FILES_DO_NOT_ANSWER =
  "The files that the question names do not answer it. Ask in the words that they use, or without their names.";

type AnswerPlan = Omit<RepairPlan<PassedReply>, "judge" | "otherwise"> & {
  readonly rules: AnswerRules;
  /** How it is asked for as claims; null where it is asked for as text alone. */
  readonly claims?: ClaimsPlan | null;
  /** The same with files that checks of the answer have found; nothing where the answer is about its own files alone. */
  readonly withFound?: ((found: readonly Reading[]) => Promise<ExtendedPlan | null>) | undefined;
};

type ExtendedPlan = {
  readonly plan: AnswerPlan;
  /** Puts what was added on record, when an answer rests on it. */
  readonly admit: () => void;
};

/** A request for claims: its prompt, and how an answer is put together from them. */
export type ClaimsPlan = Pick<RepairPlan<unknown>, "boundary" | "prompt"> & {
  readonly form: ClaimsForm;
};

/**
 * A request for an answer, a summary or a note, held against the rules for answers; the refusals of `askWithRepair`. What
 * is no list of claims though one was asked for is asked for as text.
 */
export async function askForAnswer(
  plan: AnswerPlan,
  parts: CallParts,
  whenDeclined = NOT_ANSWERED,
): Promise<PassedReply | Refusal> {
  const answered = await askAndVerify(plan, parts, whenDeclined);
  return answered.kind === "refused" ? answered : answered.answer;
}

/** The same with the rules that the answer was held to in the end: a revision may rest on more than the first draft. */
async function askAndVerify(
  plan: AnswerPlan,
  parts: CallParts,
  whenDeclined = NOT_ANSWERED,
): Promise<Answered | Refusal> {
  const judging = { parts, whenDeclined };
  const kept = await askWithRepair(requestFor(plan, judging), parts);
  if (kept.kind === "refused") return refusedOrNext(kept, plan.pass, parts);
  const answered = { kind: "answered", answer: kept.value, rules: plan.rules } as const;
  // What is made of a part stands in no answer yet.
  if (plan.pass === "part") return answered;
  const verified = await verifyDraft(draftOf(answered), draftPlan(plan, judging), parts);
  return verified.kind === "refused" ? verified : verified.value;
}

function requestFor(
  { claims = null, ...plan }: AnswerPlan,
  { parts, whenDeclined }: Judging,
): RepairPlan<PassedReply> {
  const judge = compared(plan, validateAnswer(plan.rules, whenDeclined, parts), parts);
  const asText = { ...plan, judge };
  return claims === null ? asText : asClaims(asText, claims, { parts, whenDeclined });
}

/** How an answer that was put together is revised, noted on and corrected. */
const draftPlan = (plan: AnswerPlan, judging: Judging): DraftPlan<Answered> => ({
  model: plan.model,
  choice: plan.choice,
  task: taskOf(plan.task, plan.rules),
  evidence: plan.rules.evidence,
  revise: (draft, faults, found) => reviseAnswer(draft, { plan, judging, faults, found }),
  withNote: ({ answer, rules, kind }, note) => ({
    ...{ kind, rules },
    answer: {
      ...answer,
      text: `${withoutFooter(answer.text, rules.footer)}\n\n${note}\n${rules.footer}`,
    },
  }),
  withCorrection({ answer, rules, kind }, correction, by) {
    const { trace } = judging.parts;
    trace.claims(trace.record().claims.map((claim) => ({ ...claim, stands: false })));
    const body = withoutFooter(correction, rules.footer);
    const text = `${body}\n\n(Corrected by ${by}.)\n${rules.footer}`;
    return { kind, rules, answer: { ...answer, text } };
  },
});

type Revision = {
  readonly plan: AnswerPlan;
  readonly judging: Judging;
  readonly faults: readonly Fault[];
  readonly found: () => Promise<readonly Reading[]>;
};

/** An answer that says the same again, with other evidence beside it, is no other one. */
async function reviseAnswer(
  { text }: Draft<Answered>,
  { plan, judging, faults, found }: Revision,
): Promise<Revised<Answered> | null> {
  const { parts } = judging;
  const extended = (await plan.withFound?.(await found())) ?? null;
  const next = extended?.plan ?? plan;
  const before = withoutFooter(text, plan.rules.footer);
  const earlier = parts.trace.record().claims;
  const again = await askAgain(requestFor(next, judging), before, { faults, earlier }, parts);
  if (again === null || withoutFooter(again.value.text, next.rules.footer) === before) return null;
  extended?.admit();
  const answered = { kind: "answered", answer: again.value, rules: next.rules } as const;
  return { draft: draftOf(answered), plan: draftPlan(next, judging) };
}

const NOT_CARRIED: ReadonlySet<string> = new Set(["ANSWER_UNSUPPORTED", "CITATION_INVALID"]);

/** An answer that the evidence does not carry may be one that another model gives better. @throws Escalated */
function refusedOrNext(
  refusal: Refusal,
  pass: AnswerPlan["pass"],
  { verification }: CallParts,
): Refusal {
  if (pass === "second" && verification?.next === "model" && NOT_CARRIED.has(refusal.code)) {
    throw new Escalated();
  }
  return refusal;
}

const draftOf = (answered: Answered): Draft<Answered> => ({
  value: answered,
  text: answered.answer.text,
  claims: answered.answer.claims,
});

const withoutFooter = (text: string, footer: string): string =>
  text.endsWith(footer) ? text.slice(0, text.length - footer.length).trimEnd() : text;

/** What was asked for, in a line. */
const taskOf = (task: ModelTask, { question, evidence }: AnswerRules): string =>
  task.purpose === "summarize" ? `Summarise the file ${evidence[0]?.path ?? task.title}` : question;

type Judge = RepairPlan<PassedReply>["judge"];

/** What is made of a part is no answer: its statements are graded where they come to stand in one. */
const compared = (
  { pass, rules }: Pick<AnswerPlan, "pass" | "rules">,
  validate: Judge,
  parts: CallParts,
): Judge =>
  pass === "part"
    ? validate
    : async (reply) => compareReply(await validate(reply), rules.evidence, parts);

type Judging = { readonly parts: CallParts; readonly whenDeclined: string };

function asClaims(
  asText: RepairPlan<PassedReply> & { readonly rules: AnswerRules },
  { form, ...prompt }: ClaimsPlan,
  { parts, whenDeclined }: Judging,
): RepairPlan<PassedReply> {
  const { model, rules } = asText;
  const onIgnored = async (): Promise<void> => model.noteIgnoredSchema?.();
  return {
    ...asText,
    ...prompt,
    overrides: model.facts.toolProtocol === "text" ? {} : { format: claimsSchemaFor(form) },
    judge: compared(
      asText,
      validateAnswer(rules, whenDeclined, { ...parts, claims: { form, onIgnored } }),
      parts,
    ),
    otherwise: asText,
  };
}

/** What the citations of an answer stand for, each once, in the order in which they are cited. */
export const citationsOf = (
  answer: PassedReply,
  { citations }: AnswerRules,
): readonly Citation[] => (citations === "off" ? [] : answer.citations);

/** The rules for an answer, from the `ask` keys of the configuration and what the call at hand is about. */
export const answerRules = (
  { citations, unsupported }: PipelineSettings["ask"],
  about: Pick<AnswerRules, "footer" | "question" | "evidence" | "citations">,
): AnswerRules => ({
  ...about,
  requireInSnapshot: citations.require_in_snapshot,
  headingMatch: citations.heading_match,
  normalizeHeading: citations.normalize_heading,
  unsupported,
});

/** How citations are held to the evidence in an answer that rests on it. */
function citationRule({
  enabled,
  strict,
}: PipelineSettings["ask"]["citations"]): AnswerRules["citations"] {
  if (!enabled) return "off";
  return strict ? "required" : "known";
}

/**
 * The rules for what is made of a part, which need cite nothing. What is said in it stands: what becomes of it in the
 * answer is graded at the end, on the words of the file.
 */
export const partRules = (
  settings: PipelineSettings["ask"],
  about: Pick<AnswerRules, "footer" | "question" | "evidence">,
): AnswerRules => ({
  ...answerRules(settings, { ...about, citations: "known" }),
  unsupported: "flag",
});

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
  /** The names in the question; in place of one that its file does not have, as of an attachment that is spelled as its sender did, the path. */
  readonly meant: readonly string[];
  /** Of the names one for each file, in order. */
  readonly toRead: readonly string[];
  readonly snapshot: Snapshot;
};

/** Who takes the passes of a question, by its words and what its job asks for. */
export async function selectAnswerers(
  question: string,
  options: {
    readonly route?: "fast" | "big" | undefined;
    readonly model?: string | undefined;
  } = {},
  { deps, trace, signal }: Pick<AskRun, "deps" | "trace" | "signal">,
): Promise<Answerers> {
  const { route: wanted, model } = options;
  const route = routeModels(question, deps.settings.model, { route: wanted, model });
  const first = await modelOf(route.first, deps.models, signal);
  const second = await modelOf(route.second, deps.models, signal);
  trace.models([modelUse("first", first, route.first), modelUse("second", second, route.second)]);
  return { route, first, second, notes: await notesFor(second, deps, trace) };
}

/** An answer that passed, as the outcome of its job. */
export const succeeded = ({ answer, rules }: Answered): Outcome => ({
  kind: "succeeded",
  answer: answer.text,
  scope: rules.footer,
  citations: citationsOf(answer, rules),
  summary: null,
});

/** Who answers: model and budget of each pass, and the operator's notes for pass 2. */
export type Answerers = {
  readonly route: Route;
  readonly first: Model;
  readonly second: Model;
  readonly notes: ShownNotes;
};
