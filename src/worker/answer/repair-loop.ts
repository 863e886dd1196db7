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

/** A request whose reply is judged. Who judges is the caller's: the loop knows no rule. */
export type RepairPlan<T> = {
  readonly pass: Extract<ReplyRecord["pass"], "second" | "part">;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly task: ModelTask;
  readonly boundary: string;
  readonly overrides?: NonNullable<ModelCall["overrides"]>;
  /** The prompt, with what was wrong with a first try; nothing on that first try. */
  prompt(correction: Correction): Prompt;
  judge(reply: ModelReply): Validated<T> | Promise<Validated<T>>;
  /** The same in another form: asked for where a reply is not of this one, or the host can't hold it to it. */
  readonly otherwise?: RepairPlan<T>;
};

/** Has a host hold a reply to a schema, where it can. */
export const holdTo = (
  { facts }: Model,
  format: NonNullable<NonNullable<ModelCall["overrides"]>["format"]>,
): NonNullable<ModelCall["overrides"]> => (facts.toolProtocol === "text" ? {} : { format });

export type AcceptedReply<T> = { readonly kind: "kept"; readonly value: T };

/** What the second try sees of the first: enough to put right, and no second prompt of its own. */
const MOST_DRAFT_CHARS = 4_000;
const MOST_FAULTS = 12;

/**
 * The model is asked without tools, its reply judged, and one that breaks the rules gets one more try that shows the model
 * its reply and where it was wrong. Where that is no better, what is right of it stands, else what was right of the first.
 * A reply that is not of the form that was asked for is asked for `otherwise`.
 *
 * Refusals: those of the host and of `judge`; after two broken tries of which nothing can stand
 * UNEXPECTED_TOOL_CALL_SECOND_PASS, CITATION_INVALID (nothing was cited), ANSWER_UNSUPPORTED (only what is said) or
 * SECOND_PASS_FORMAT_VIOLATION.
 */
export async function askWithRepair<T>(
  plan: RepairPlan<T>,
  parts: CallParts,
): Promise<AcceptedReply<T> | Refusal> {
  const first = await attempt(plan, plan.pass, NO_CORRECTION, parts);
  if (plan.otherwise !== undefined && isOfNoForm(first)) {
    return askWithRepair(plan.otherwise, parts);
  }
  recordClaims(plan, [first], parts);
  if (first.judged.kind === "refused") return first.judged;
  if (first.judged.kind === "passed") return { kind: "kept", value: first.judged.value };
  const again = plan.pass === "part" ? "part" : "retry";
  const second = await attempt(plan, again, correctionFor(plan, first.text, first.judged), parts);
  const standing = standingOf(first, second);
  if (standing === null && plan.otherwise !== undefined && isOfNoForm(second)) {
    return askWithRepair(plan.otherwise, parts);
  }
  recordClaims(plan, [first, second], parts, standing);
  if (standing !== null) return { kind: "kept", value: standing.value };
  if (second.judged.kind === "refused") return second.judged;
  return brokenTwice(second.judged.kind === "violated" ? second.judged.faults : []);
}

/**
 * Asks for an answer once more that was accepted, and that somebody found wrong. What of the new one the rules let stand
 * takes its place; null where nothing can. The claims of earlier drafts stay on record, and stand no longer.
 * @param before the accepted answer, as the model is shown it
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
  if (plan.otherwise !== undefined && isOfNoForm(again)) {
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

/** Not of the form that was asked for, or the host can't hold the model to it. */
const isOfNoForm = <T>({ judged }: Attempt<T>): boolean =>
  judged.kind === "violated"
    ? judged.isOfNoForm === true
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

/** What is kept of two tries, and of which; null where nothing can stand. */
type Standing<T> = {
  readonly value: T;
  readonly claims: readonly ClaimRecord[];
  readonly of: Attempt<T>;
};

/** A model that finds nothing to answer with, when it looks again, is believed. */
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

/** The claims of each draft, and the checks of the one that stands. What is made of a part is no answer. */
function recordClaims<T>(
  { pass }: Pick<RepairPlan<T>, "pass">,
  drafts: readonly Attempt<T>[],
  { trace }: CallParts,
  standing: Standing<T> | null = null,
): void {
  if (pass === "part") return;
  trace.claims(
    drafts.flatMap((attempt, draft) => {
      const { judged } = attempt;
      const own = judged.kind === "refused" ? [] : (judged.claims ?? []);
      const isLast = draft === 1;
      const claims = standing?.of === attempt ? standing.claims : own;
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

/** Its host may think in place of holding it to a form: it is asked in the other one, where there is one. */
const NOTHING_BUT_THOUGHT: Validated<never> = {
  kind: "violated",
  faults: [
    {
      code: "THOUGHT_ALONE",
      message: "It was empty: all of it stood in your thinking. Write the reply itself.",
      told: THOUGHT_ALONE,
    },
  ],
  checks: UNCHECKED,
  isOfNoForm: true,
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
    reply.doneReason === "thought" ? NOTHING_BUT_THOUGHT : plan.judge(reply),
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
  "`nightdesk runs show` has both tries; other words, or another model, may do better.";

function brokenTwice(faults: readonly Fault[]): Refusal {
  const codes = [...new Set(faults.map(({ code }) => code))];
  const told = faults.flatMap((fault) => fault.told ?? []).slice(0, MOST_TOLD);
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

/** A tool call says most, then a broken format, then what is cited, then what is said. */
function codeFor(codes: readonly string[]): RefusalCode {
  if (codes.includes("TOOL_CALL")) return "UNEXPECTED_TOOL_CALL_SECOND_PASS";
  if (codes.every((code) => ABOUT_SUPPORT.has(code))) return "ANSWER_UNSUPPORTED";
  const onlyEvidence = codes.every((code) => ABOUT_CITATIONS.has(code) || ABOUT_SUPPORT.has(code));
  return onlyEvidence ? "CITATION_INVALID" : "SECOND_PASS_FORMAT_VIOLATION";
}
