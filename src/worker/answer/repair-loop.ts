import { refuse } from "../../shared/failure.ts";
import type { Refusal, RefusalCode } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/job/route-models.ts";
import type { AnswerChecks, ClaimRecord, ReplyRecord } from "../../shared/job/run-result.ts";
import type { Fault, Validated } from "../evidence/validated.ts";
import { THOUGHT_ALONE } from "../models/model.ts";
import type { Model, ModelReply, ModelTask } from "../models/model.ts";
import { firstCodePoints } from "../text/clean-text.ts";
import { neutraliseDraft } from "../text/neutralise-text.ts";
import { askSecond } from "./call-model.ts";
import type { CallParts, ModelCall } from "./call-model.ts";
import { correctionOf, NO_CORRECTION } from "./prompt.ts";
import type { Correction, Prompt } from "./prompt.ts";

/** A request whose reply is checked. The caller gives the check; the loop knows no rule. */
export type RepairPlan<T> = {
  readonly pass: Extract<ReplyRecord["pass"], "second" | "part">;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly task: ModelTask;
  readonly boundary: string;
  readonly overrides?: NonNullable<ModelCall["overrides"]>;
  /** Makes the prompt; its correction is empty on the first try. */
  prompt(correction: Correction): Prompt;
  judge(reply: ModelReply): Validated<T> | Promise<Validated<T>>;
  /** The same request in another form, used where a reply has not this form, or the host can't enforce it. */
  readonly otherwise?: RepairPlan<T>;
};

/** The override that makes a host enforce a schema, for hosts that can. */
export const schemaOverride = (
  { facts }: Model,
  format: NonNullable<NonNullable<ModelCall["overrides"]>["format"]>,
): NonNullable<ModelCall["overrides"]> => (facts.toolProtocol === "text" ? {} : { format });

export type AcceptedReply<T> = { readonly kind: "kept"; readonly value: T };

/** Limits of the first try's draft and faults in the second prompt: enough for a correction, without doubling the prompt. */
const MOST_DRAFT_CHARS = 4_000;
const MOST_FAULTS = 12;

/**
 * Calls the model without tools and checks its reply. A reply that breaks the rules gets one more try, whose prompt shows the
 * reply and its faults. Where the second try breaks rules too, its valid part is accepted, else the valid part of the first. A
 * reply without the requested form is requested again in the form of `otherwise`.
 *
 * Refusals: those of the host and of `judge`; after two tries without a valid part UNEXPECTED_TOOL_CALL_SECOND_PASS,
 * CITATION_INVALID (the faults are about citations, or also about support), ANSWER_UNSUPPORTED (only about support) or
 * SECOND_PASS_FORMAT_VIOLATION.
 */
export async function askWithRepair<T>(
  plan: RepairPlan<T>,
  parts: CallParts,
): Promise<AcceptedReply<T> | Refusal> {
  const first = await attempt(plan, plan.pass, NO_CORRECTION, parts);
  if (plan.otherwise !== undefined && hasWrongForm(first)) {
    return askWithRepair(plan.otherwise, parts);
  }
  recordClaims(plan, [first], parts);
  if (first.judged.kind === "refused") return first.judged;
  if (first.judged.kind === "passed") return { kind: "kept", value: first.judged.value };
  const again = plan.pass === "part" ? "part" : "retry";
  const second = await attempt(plan, again, correctionFor(plan, first.text, first.judged), parts);
  const standing = standingOf(first, second);
  if (standing === null && plan.otherwise !== undefined && hasWrongForm(second)) {
    return askWithRepair(plan.otherwise, parts);
  }
  recordClaims(plan, [first, second], parts, standing);
  if (standing !== null) return { kind: "kept", value: standing.value };
  if (second.judged.kind === "refused") return second.judged;
  return refuseBrokenTwice(second.judged.kind === "violated" ? second.judged.faults : []);
}

/**
 * Asks again for an answer that was accepted, and that an auditor found wrong. The valid part of the new answer replaces it;
 * null where it has none. The claims of earlier drafts stay recorded, but no longer stand.
 * @param before the accepted answer, as the prompt shows it
 * @param earlier claims of all drafts so far
 */
export async function askAgain<T>(
  plan: RepairPlan<T>,
  before: string,
  {
    faults,
    earlier,
  }: { readonly faults: readonly Fault[]; readonly earlier: readonly ClaimRecord[] },
  parts: CallParts,
): Promise<AcceptedReply<T> | null> {
  const draft = neutraliseDraft(firstCodePoints(before, MOST_DRAFT_CHARS));
  const rejected = { kind: "violated", faults, checks: UNCHECKED, draft } as const;
  const again = await attempt(plan, "retry", correctionFor(plan, before, rejected), parts);
  if (plan.otherwise !== undefined && hasWrongForm(again)) {
    return askAgain(plan.otherwise, before, { faults, earlier }, parts);
  }
  const standing = standingOf({ text: before, judged: rejected }, again);
  const next = 1 + Math.max(-1, ...earlier.map((claim) => claim.draft));
  const claims =
    standing?.claims ?? (again.judged.kind === "refused" ? [] : (again.judged.claims ?? []));
  parts.trace.claims([
    ...earlier.map((claim) => ({ ...claim, stands: claim.stands && standing === null })),
    ...claims.map((claim) => ({
      ...claim,
      draft: next,
      fate: claim.fate === "repaired" ? ("dropped" as const) : claim.fate,
    })),
  ]);
  if (standing?.of.judged.kind === "violated") parts.trace.checks(standing.of.judged.checks);
  return standing === null ? null : { kind: "kept", value: standing.value };
}

/** Whether the reply has not the requested form, or the host can't enforce the form. */
const hasWrongForm = <T>({ judged }: Attempt<T>): boolean =>
  judged.kind === "violated"
    ? judged.hasWrongForm === true
    : judged.kind === "refused" && judged.code === "MODEL_UNSUPPORTED";

type Violated<T> = Extract<Validated<T>, { kind: "violated" }>;

function correctionFor<T>(
  { boundary }: RepairPlan<T>,
  text: string,
  { faults, draft = neutraliseDraft(firstCodePoints(text, MOST_DRAFT_CHARS)) }: Violated<T>,
): Correction {
  const shown = faults.slice(0, MOST_FAULTS).map(({ code, message }) => ({
    code,
    message: neutraliseDraft(message),
  }));
  return correctionOf(boundary, draft, shown);
}

/** The accepted part of two tries, and the try it is from. */
type Standing<T> = {
  readonly value: T;
  readonly claims: readonly ClaimRecord[];
  readonly of: Attempt<T>;
};

/** Null where nothing can be accepted. A model that declines in the second try is believed, whatever was valid in the first. */
function standingOf<T>(first: Attempt<T>, second: Attempt<T>): Standing<T> | null {
  const { judged } = second;
  if (judged.kind === "passed") {
    return { value: judged.value, claims: judged.claims ?? [], of: second };
  }
  if (judged.kind === "violated" && judged.mended !== undefined) {
    return { ...judged.mended, of: second };
  }
  const mended = first.judged.kind === "violated" ? first.judged.mended : undefined;
  const isDeclined = judged.kind === "refused" && judged.code !== "CONTEXT_OVERFLOW";
  return mended === undefined || isDeclined ? null : { ...mended, of: first };
}

/** Records the claims of each draft, and the checks of the accepted one; nothing for a part, whose reply is no answer. */
function recordClaims<T>(
  { pass }: Pick<RepairPlan<T>, "pass">,
  drafts: readonly Attempt<T>[],
  { trace }: CallParts,
  standing: Standing<T> | null = null,
): void {
  if (pass === "part") return;
  trace.claims(
    drafts.flatMap((tryOnce, draft) => {
      const { judged } = tryOnce;
      const own = judged.kind === "refused" ? [] : (judged.claims ?? []);
      const isLast = draft === 1;
      const claims = standing?.of === tryOnce ? standing.claims : own;
      return claims.map((claim) => ({
        ...claim,
        draft,
        fate: isLast && claim.fate === "repaired" ? "dropped" : claim.fate,
      }));
    }),
  );
  if (standing?.of.judged.kind === "violated") trace.checks(standing.of.judged.checks);
}

const UNCHECKED: AnswerChecks = { quotes: [], figures: [] };

/** A reply with reasoning alone. Its host may let the model think instead of enforcing a form, so the other form is tried. */
const ONLY_REASONING: Validated<never> = {
  kind: "violated",
  faults: [
    {
      code: "THOUGHT_ALONE",
      message: "It was empty: all of it stood in your thinking. Write the reply itself.",
      forRecord: THOUGHT_ALONE,
    },
  ],
  checks: UNCHECKED,
  hasWrongForm: true,
};

type Attempt<T> = { readonly text: string; readonly judged: Validated<T> };

async function attempt<T>(
  plan: RepairPlan<T>,
  pass: ReplyRecord["pass"],
  correction: Correction,
  parts: CallParts,
): Promise<Attempt<T>> {
  const { model, choice, task, overrides = {} } = plan;
  const { trace } = parts;
  const prompt = plan.prompt(correction);
  const reply = await askSecond({ pass, model, choice, prompt, task, overrides }, parts);
  if (reply.kind === "refused") return { text: "", judged: reply };
  const judged = await trace.step("check", () =>
    reply.doneReason === "thought" ? ONLY_REASONING : plan.judge(reply),
  );
  trace.detail("check", factsOf(judged));
  trace.checks(judged.kind === "refused" ? UNCHECKED : judged.checks);
  return { text: reply.text, judged };
}

function factsOf<T>(judged: Validated<T>): Record<string, unknown> {
  switch (judged.kind) {
    case "refused":
      return { verdict: "declined" };
    case "passed":
      return { verdict: "passed", quotes: judged.checks.quotes.length, ...judged.facts };
    case "violated":
      return {
        verdict: "violated",
        violations: judged.faults.map(({ code }) => code),
        quotes: judged.checks.quotes.length,
        ...judged.facts,
      };
  }
}

const MOST_TOLD = 3;
const MORE_ROOM =
  "Raise model.max_tokens (model.max_tokens_big_second for the big model), or model.num_ctx where the window is full.";
const BOTH_TRIES =
  "`nightdesk runs show` shows both tries. Rephrase the question, or use another model.";

function refuseBrokenTwice(faults: readonly Fault[]): Refusal {
  const codes = [...new Set(faults.map(({ code }) => code))];
  const told = faults.flatMap((fault) => fault.forRecord ?? []).slice(0, MOST_TOLD);
  const remedy = codes.includes("CUT_SHORT") ? MORE_ROOM : BOTH_TRIES;
  return refuse(
    codeFor(codes),
    [`The reply broke the rules twice: ${codes.join(", ")}.`, ...told, remedy].join(" "),
  );
}

const ABOUT_CITATIONS: ReadonlySet<string> = new Set([
  "CITATION_MISSING",
  "CITATION_UNKNOWN",
  "QUOTE_NOT_FOUND",
]);
const ABOUT_SUPPORT: ReadonlySet<string> = new Set([
  "UNSUPPORTED",
  "VALUE_UNBOUND",
  "NOT_WHAT_WAS_ASKED",
]);

/** The gravest fault decides: a tool call, then a broken format, then faults of citations, then faults of support. */
function codeFor(codes: readonly string[]): RefusalCode {
  if (codes.includes("TOOL_CALL")) return "UNEXPECTED_TOOL_CALL_SECOND_PASS";
  if (codes.every((code) => ABOUT_SUPPORT.has(code))) return "ANSWER_UNSUPPORTED";
  const onlyEvidence = codes.every((code) => ABOUT_CITATIONS.has(code) || ABOUT_SUPPORT.has(code));
  return onlyEvidence ? "CITATION_INVALID" : "SECOND_PASS_FORMAT_VIOLATION";
}
