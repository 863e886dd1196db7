import { refuse } from "../../shared/failure.ts";
import type { Refusal, RefusalCode } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/route-models.ts";
import type { ReplyRecord } from "../../shared/run-result.ts";
import type { Fault, Judged } from "../evidence/judged.ts";
import type { Model, ModelReply, ModelTask } from "../models/model.ts";
import { firstCodePoints } from "../text/clean-text.ts";
import { neutraliseDraft } from "../text/neutralise-text.ts";
import { askSecond } from "./call-model.ts";
import type { CallParts, ModelCall } from "./call-model.ts";
import { correctionOf, NO_CORRECTION } from "./prompt.ts";
import type { Correction, Prompt } from "./prompt.ts";

export type TwoTries<T> = {
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

export type Kept<T> = { readonly kind: "kept"; readonly value: T };

/** What the second try sees of the first: enough to put right, and no second prompt of its own. */
const MOST_DRAFT_CHARS = 4_000;
const MOST_FAULTS = 12;

/**
 * The model is asked, its reply judged, and one that breaks the rules gets one more try that shows the model its reply
 * and where it was wrong.
 *
 * Refusals: those of the host and of `judge`; after two broken tries UNEXPECTED_TOOL_CALL_SECOND_PASS,
 * CITATION_INVALID (only quotes or citations were wrong) or SECOND_PASS_FORMAT_VIOLATION.
 */
export async function askTwice<T>(plan: TwoTries<T>, parts: CallParts): Promise<Kept<T> | Refusal> {
  const first = await attempt(plan, plan.pass, NO_CORRECTION, parts);
  if (first.judged.kind === "refused") return first.judged;
  if (first.judged.kind === "passed") return { kind: "kept", value: first.judged.value };
  const draft = neutraliseDraft(firstCodePoints(first.draft, MOST_DRAFT_CHARS));
  const faults = first.judged.faults.slice(0, MOST_FAULTS).map(({ code, message }) => ({
    code,
    message: neutraliseDraft(message),
  }));
  const correction = correctionOf(plan.boundary, draft, faults);
  const again = plan.pass === "part" ? "part" : "retry";
  const { judged } = await attempt(plan, again, correction, parts);
  if (judged.kind === "refused") return judged;
  return judged.kind === "passed"
    ? { kind: "kept", value: judged.value }
    : brokenTwice(judged.faults);
}

type Attempt<T> = { readonly draft: string; readonly judged: Judged<T> };

async function attempt<T>(
  plan: TwoTries<T>,
  pass: ReplyRecord["pass"],
  correction: Correction,
  parts: CallParts,
): Promise<Attempt<T>> {
  const { model, choice, task, overrides = {} } = plan;
  const { trace } = parts;
  const prompt = plan.prompt(correction);
  const reply = await askSecond({ pass, model, choice, prompt, task, overrides }, parts);
  if (reply.kind === "refused") return { draft: "", judged: reply };
  const judged = await trace.step("check", () => plan.judge(reply));
  trace.detail("check", detailOf(judged));
  if (judged.kind !== "refused") trace.checks(judged.checks);
  return { draft: reply.text, judged };
}

function detailOf<T>(judged: Judged<T>): Record<string, unknown> {
  switch (judged.kind) {
    case "refused":
      return { verdict: "declined" };
    case "passed":
      return { verdict: "passed", quotes: judged.checks.quotes.length };
    case "violated":
      return {
        verdict: "violated",
        violations: judged.faults.map(({ code }) => code),
        quotes: judged.checks.quotes.length,
      };
  }
}

const MOST_TOLD = 3;

function brokenTwice(faults: readonly Fault[]): Refusal {
  const codes = [...new Set(faults.map(({ code }) => code))];
  const told = faults.flatMap((fault) => fault.told ?? []).slice(0, MOST_TOLD);
  const remedy = codes.includes("CUT_SHORT")
    ? "Raise model.max_tokens, or model.num_ctx where the window is full."
    : "`nightdesk runs show` has both tries; a larger model may keep the rules.";
  return refuse(
    codeFor(codes),
    [`The reply broke the rules twice: ${codes.join(", ")}.`, ...told, remedy].join(" "),
  );
}

const ABOUT_EVIDENCE: ReadonlySet<string> = new Set([
  "QUOTE_NOT_FOUND",
  "CITATION_MISSING",
  "CITATION_UNKNOWN",
  "CITATION_MISPLACED",
]);

function codeFor(codes: readonly string[]): RefusalCode {
  if (codes.includes("TOOL_CALL")) return "UNEXPECTED_TOOL_CALL_SECOND_PASS";
  return codes.every((code) => ABOUT_EVIDENCE.has(code))
    ? "CITATION_INVALID"
    : "SECOND_PASS_FORMAT_VIOLATION";
}
