import type { Refusal } from "../../shared/failure.ts";
import type { Citation, Outcome } from "../../shared/job/run-result.ts";
import type { Pending } from "../../shared/job/settlement.ts";
import type { CallParts } from "../answer/call-model.ts";
import { askAgain, askWithRepair, schemaOverride } from "../answer/repair-loop.ts";
import type { AcceptedReply, RepairPlan } from "../answer/repair-loop.ts";
import type { PipelineSettings, Reading } from "../evidence/types.ts";
import type { Fault } from "../evidence/validated.ts";
import type { Model, ModelTask } from "../models/model.ts";
import type { AnswerRules } from "../verify/check-answer.ts";
import { validateAnswer } from "../verify/check-reply.ts";
import type { PassedReply } from "../verify/check-reply.ts";
import { claimsSchemaFor } from "../verify/claims-reply.ts";
import type { ClaimsForm } from "../verify/claims-reply.ts";
import type { Draft } from "./verification/draft.ts";

/** A request for an answer or a summary, with the rules that its reply is held to. */
export type AnswerRequest = RepairPlan<PassedReply> & {
  readonly rules: AnswerRules;
  /** Builds the same request with files that checks of the answer found; null when the request is not repeated with them. */
  readonly withFound?: (found: readonly Reading[]) => Promise<AnswerRequest | null>;
  /** Records these files as evidence, when an answer rests on them. */
  readonly admit?: () => void;
};

/** A request before its check is attached: it asks for text, or for a list of claims first if `claims` is set. */
type AnswerPlan = Pick<
  AnswerRequest,
  "model" | "choice" | "task" | "boundary" | "prompt" | "rules" | "withFound" | "admit"
> & {
  readonly claims: (Pick<AnswerRequest, "prompt"> & { readonly form: ClaimsForm }) | null;
  /** The message of EVIDENCE_NOT_ACQUIRED, for a model that reports that the evidence does not answer the question. */
  readonly whenDeclined: () => string;
};

/** Attaches the check. A reply that should be a list of claims and is none makes the next call ask for text. */
export function answerRequest(
  { claims, whenDeclined, ...asked }: AnswerPlan,
  check: CheckAnswer,
  parts: CallParts,
): AnswerRequest {
  const { model, choice, rules } = asked;
  const judging = { model, choice, rules, whenDeclined };
  const asText = { ...asked, pass: "second", judge: check(judging, null, parts) } as const;
  if (claims === null) return asText;
  const { form, prompt } = claims;
  return {
    ...asText,
    prompt,
    overrides: schemaOverride(model, claimsSchemaFor(form)),
    judge: check(judging, form, parts),
    otherwise: asText,
  };
}

/** Asks a model about one part of a long file. Its statements are graded later, when they appear in an answer. */
export async function askForPart(
  { whenDeclined, ...asked }: Omit<AnswerPlan, "claims">,
  parts: CallParts,
): Promise<PassedReply | Refusal> {
  const judge = validateAnswer(asked.rules, whenDeclined, parts);
  const kept = await askWithRepair({ ...asked, pass: "part", judge }, parts);
  return kept.kind === "refused" ? kept : kept.value;
}

type CheckContext = Pick<AnswerPlan, "model" | "choice" | "rules" | "whenDeclined">;
export type CheckAnswer = typeof createCheck;

/**
 * Checks each reply to a request: first by the rules for answers, then a judge decides what the rules leave open. The second
 * pass asks once more for a reply with faults.
 * @param form the form of a reply that is requested as claims; null for a reply in prose
 */
export function createCheck(
  { model, choice, rules, whenDeclined }: CheckContext,
  form: ClaimsForm | null,
  parts: CallParts,
): AnswerRequest["judge"] {
  const onIgnored = async (): Promise<void> => model.noteIgnoredSchema?.();
  const asClaims = form === null ? {} : { claims: { form, onIgnored } };
  return async (reply) => {
    const validate = (verdicts?: AnswerRules["verdicts"]) =>
      validateAnswer({ ...rules, verdicts }, whenDeclined, { ...parts, ...asClaims })(reply);
    const validated = await validate();
    if (parts.judge === undefined) return validated;
    const { judgeReply } = await import("./judge/judge-reply.ts");
    return judgeReply(validated, { rules, answerer: { model, choice } }, parts, validate);
  };
}

/** `auto` means claims when the host enforces a schema and this build of the model has not been seen to ignore one. */
export function formFor(
  form: PipelineSettings["ask"]["answer_form"],
  { facts }: Model,
): "claims" | "text" {
  if (!facts.readsPrompts) return "text";
  if (form !== "auto") return form;
  return facts.toolProtocol === "text" || facts.ignoresSchemas ? "text" : "claims";
}

export type AnswerWithRules = { readonly answer: PassedReply; readonly rules: AnswerRules };

/** An answer as the model wrote it, or `escalated` when another model has to write it. */
export type Drafted = Draft<AnswerWithRules> | Extract<Pending, { readonly kind: "escalated" }>;

const UNSUPPORTED: ReadonlySet<string> = new Set(["ANSWER_UNSUPPORTED", "CITATION_INVALID"]);

/** Turns the result of a request into a draft. Another model may answer better when the evidence does not support this answer. */
export function toDraft(
  request: AnswerRequest,
  kept: AcceptedReply<PassedReply> | Refusal,
  parts: CallParts,
): Drafted | Refusal {
  if (kept.kind === "kept") return answerDraft(request, kept.value, parts);
  const isForNext = parts.verification?.next === "model" && UNSUPPORTED.has(kept.code);
  return isForNext ? { kind: "escalated" } : kept;
}

function answerDraft(
  request: AnswerRequest,
  answer: PassedReply,
  parts: CallParts,
): Draft<AnswerWithRules> {
  const { model, choice, task, rules } = request;
  const withText = (text: string): AnswerWithRules => ({ rules, answer: { ...answer, text } });
  const { footer } = rules;
  return {
    kind: "draft",
    value: { answer, rules },
    text: answer.text,
    claims: answer.claims,
    ...{ model, choice, task: taskOf(task, rules), evidence: rules.evidence },
    revise: (faults, found) => reviseAnswer(answer, request, { faults, found, parts }),
    withNote: (note) => withText(`${withoutFooter(answer.text, footer)}\n\n${note}\n${footer}`),
    withCorrection(correction, by) {
      const { trace } = parts;
      trace.claims(trace.record().claims.map((claim) => ({ ...claim, stands: false })));
      const body = withoutFooter(correction, footer);
      return withText(`${body}\n\n(Corrected by ${by}.)\n${footer}`);
    },
  };
}

type Revision = {
  readonly faults: readonly Fault[];
  readonly found: () => Promise<readonly Reading[]>;
  readonly parts: CallParts;
};

/** Returns null when the new answer repeats the text of the earlier one, even if it cites other evidence. */
async function reviseAnswer(
  { text }: PassedReply,
  request: AnswerRequest,
  { faults, found, parts }: Revision,
): Promise<Draft<AnswerWithRules> | null> {
  const next = (await request.withFound?.(await found())) ?? request;
  const before = withoutFooter(text, request.rules.footer);
  const earlier = parts.trace.record().claims;
  const again = await askAgain(next, before, { faults, earlier }, parts);
  if (again === null || withoutFooter(again.value.text, next.rules.footer) === before) return null;
  if (next !== request) next.admit?.();
  return answerDraft(next, again.value, parts);
}

const withoutFooter = (text: string, footer: string): string =>
  text.endsWith(footer) ? text.slice(0, text.length - footer.length).trimEnd() : text;

/** The task in one line. */
const taskOf = (task: ModelTask, { question, evidence }: AnswerRules): string =>
  task.purpose === "summarize" ? `Summarise the file ${evidence[0]?.path ?? task.title}` : question;

/** The sources that the citations of an answer name, each once, in the order of citation. */
export const citationsOf = (
  answer: PassedReply,
  { citations }: AnswerRules,
): readonly Citation[] => (citations === "off" ? [] : answer.citations);

/** The rules for an answer, from the `ask` keys of the configuration and the facts of this call. */
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

/**
 * The rules for a reply about one part of a file, which needs no citation. Its statements stay, even unsupported ones: the
 * final answer is graded at the end, against the text of the file.
 */
export const partRules = (
  settings: PipelineSettings["ask"],
  about: Pick<AnswerRules, "footer" | "question" | "evidence">,
): AnswerRules => ({
  ...answerRules(settings, { ...about, citations: "known" }),
  unsupported: "flag",
});

/** An answer that passed, as the outcome of its job. */
export const answerOutcome = ({ answer, rules }: AnswerWithRules): Outcome => ({
  kind: "succeeded",
  answer: answer.text,
  scope: rules.footer,
  citations: citationsOf(answer, rules),
  summary: null,
});
