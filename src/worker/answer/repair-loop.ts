import { refuse } from "../../shared/failure.ts";
import type { Refusal, RefusalCode } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/route-models.ts";
import type { AnswerChecks, ReplyRecord } from "../../shared/run-result.ts";
import type { Fault, Judged } from "../evidence/judged.ts";
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
  judge(reply: ModelReply): Judged<T> | Promise<Judged<T>>;
};

export type AcceptedReply<T> = { readonly kind: "kept"; readonly value: T };

/** What the second try sees of the first: enough to put right, and no second prompt of its own. */
const MOST_DRAFT_CHARS = 4_000;
const MOST_FAULTS = 12;

/**
 * The model is asked without tools, its reply judged, and one that breaks the rules gets one more try that shows the model
 * its reply and where it was wrong.
 *
 * Refusals: those of the host and of `judge`; after two broken tries UNEXPECTED_TOOL_CALL_SECOND_PASS,
 * CITATION_INVALID (only quotes or citations were wrong), ANSWER_UNSUPPORTED (only what is said) or
 * SECOND_PASS_FORMAT_VIOLATION.
 */
export async function askWithRepair<T>(
  plan: RepairPlan<T>,
  parts: CallParts,
): Promise<AcceptedReply<T> | Refusal> {
  const first = await attempt(plan, plan.pass, NO_CORRECTION, parts);
  if (first.judged.kind === "refused") return first.judged;
  if (first.judged.kind === "passed") return { kind: "kept", value: first.judged.value };
  const { faults, draft = neutraliseDraft(firstCodePoints(first.text, MOST_DRAFT_CHARS)) } =
    first.judged;
  const shown = faults.slice(0, MOST_FAULTS).map(({ code, message }) => ({
    code,
    message: neutraliseDraft(message),
  }));
  const correction = correctionOf(plan.boundary, draft, shown);
  const again = plan.pass === "part" ? "part" : "retry";
  const { judged } = await attempt(plan, again, correction, parts);
  if (judged.kind === "refused") return judged;
  return judged.kind === "passed"
    ? { kind: "kept", value: judged.value }
    : brokenTwice(judged.faults);
}

const UNCHECKED: AnswerChecks = { quotes: [], figures: [], sentences: [] };

type Attempt<T> = { readonly text: string; readonly judged: Judged<T> };

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
  const judged = await trace.step("check", () => plan.judge(reply));
  trace.detail("check", factsOf(judged));
  trace.checks(judged.kind === "refused" ? UNCHECKED : judged.checks);
  return { text: reply.text, judged };
}

function factsOf<T>(judged: Judged<T>): Record<string, unknown> {
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
const ANOTHER_MODEL = "`nightdesk runs show` has both tries; a larger model may keep the rules.";

function brokenTwice(faults: readonly Fault[]): Refusal {
  const codes = [...new Set(faults.map(({ code }) => code))];
  const told = faults.flatMap((fault) => fault.told ?? []).slice(0, MOST_TOLD);
  const remedy = codes.includes("CUT_SHORT") ? MORE_ROOM : ANOTHER_MODEL;
  return refuse(
    codeFor(codes),
    [`The reply broke the rules twice: ${codes.join(", ")}.`, ...told, remedy].join(" "),
  );
}

const ABOUT_CITATIONS: ReadonlySet<string> = new Set([
  "CITATION_MISSING",
  "CITATION_UNKNOWN",
  "CITATION_MISPLACED",
  "QUOTE_NOT_FOUND",
  "QUOTE_STITCHED",
  "QUOTE_MISATTRIBUTED",
]);
const ABOUT_SUPPORT: ReadonlySet<string> = new Set(["FIGURE_NOT_FOUND", "UNSUPPORTED"]);

/** A tool call says most, then a broken format, then what is cited, then what is said. */
function codeFor(codes: readonly string[]): RefusalCode {
  if (codes.includes("TOOL_CALL")) return "UNEXPECTED_TOOL_CALL_SECOND_PASS";
  if (codes.every((code) => ABOUT_SUPPORT.has(code))) return "ANSWER_UNSUPPORTED";
  const onlyEvidence = codes.every((code) => ABOUT_CITATIONS.has(code) || ABOUT_SUPPORT.has(code));
  return onlyEvidence ? "CITATION_INVALID" : "SECOND_PASS_FORMAT_VIOLATION";
}
