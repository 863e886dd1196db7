import { refuse } from "../../shared/failure.ts";
import type { Refusal, RefusalCode } from "../../shared/failure.ts";
import type { ModelChoice } from "../../shared/route-models.ts";
import type { Citation, ReplyRecord } from "../../shared/run-result.ts";
import { askSecond } from "../answer/call-model.ts";
import type { CallParts } from "../answer/call-model.ts";
import { correctionOf, NO_CORRECTION } from "../answer/prompt.ts";
import type { Correction, Prompt } from "../answer/prompt.ts";
import { charsIn } from "../models/model.ts";
import type { Model, ModelTask } from "../models/model.ts";
import { neutraliseDraft } from "../text/neutralise-text.ts";
import type { AnswerRules, ViolationCode } from "../verify/check-answer.ts";
import { CHECK } from "../verify/check-reply.ts";
import type { CheckedReply, PassedReply } from "../verify/check-reply.ts";

export type SecondPass = {
  readonly pass: Extract<ReplyRecord["pass"], "second" | "part">;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly task: ModelTask;
  readonly rules: AnswerRules;
  readonly boundary: string;
  /** The prompt, with what was wrong with a first try; nothing on that first try. */
  prompt(correction: Correction): Prompt;
};

/**
 * The model answers, the answer is checked, and a violation gets one more try that shows the model what was
 * wrong. Tools are forbidden.
 *
 * Refusals: EVIDENCE_NOT_ACQUIRED (the model says that the evidence does not answer), CONTEXT_OVERFLOW,
 * UNEXPECTED_TOOL_CALL_SECOND_PASS, SECOND_PASS_FORMAT_VIOLATION, CITATION_INVALID, ANSWER_UNSUPPORTED.
 */
export async function secondPass(
  plan: SecondPass,
  parts: CallParts,
): Promise<PassedReply | Refusal> {
  const first = await attempt(plan, plan.prompt(NO_CORRECTION), parts);
  if (first.kind === "refused") return first;
  if (first.checked.kind !== "violated") return settle(first.checked, plan.task);
  const violations = first.checked.violations.map(({ code, message }) => ({
    code,
    message: neutraliseDraft(message),
  }));
  const correction = correctionOf(plan.boundary, first.checked.draft, violations);
  const retry = { ...plan, pass: plan.pass === "part" ? "part" : "retry" } as const;
  const second = await attempt(retry, plan.prompt(correction), parts);
  return second.kind === "refused" ? second : settle(second.checked, plan.task);
}

type Attempt = { readonly kind: "attempt"; readonly checked: CheckedReply };

async function attempt(
  { pass, model, choice, task, rules }: Omit<SecondPass, "pass"> & Pick<ReplyRecord, "pass">,
  prompt: Prompt,
  parts: CallParts,
): Promise<Attempt | Refusal> {
  const { trace, aside, signal } = parts;
  const reply = await askSecond({ pass, model, choice, prompt, task }, parts);
  if (reply.kind === "refused") return reply;
  const replyChars = reply.text.length;
  const limits = { chars: charsIn(rules.evidence) + replyChars, replyChars, signal };
  const checked = await trace.step("check", () => aside(CHECK, { reply, rules }, limits));
  trace.checks(checked.checks);
  trace.detail("check", checked.detail);
  return { kind: "attempt", checked };
}

function settle(checked: CheckedReply, { purpose }: ModelTask): PassedReply | Refusal {
  switch (checked.kind) {
    case "passed":
      return checked;
    case "declined":
      return refuse(
        "EVIDENCE_NOT_ACQUIRED",
        purpose === "summarize" ? NOTHING_TO_TELL : NOT_ANSWERED,
      );
    case "violated": {
      const codes = [...new Set(checked.violations.map(({ code }) => code))];
      const remedy = codes.includes("CUT_SHORT") ? MORE_ROOM : ANOTHER_MODEL;
      return refuse(
        codeFor(codes),
        `The answer broke the rules twice: ${codes.join(", ")}. ${remedy}`,
      );
    }
  }
}

const NOT_ANSWERED =
  "The evidence that was read does not answer the question. Name a file that does, or index more.";
const NOTHING_TO_TELL =
  "The model found nothing to summarise in the file. Look whether it holds more than headings and lists.";
const MORE_ROOM =
  "Raise model.max_tokens (model.max_tokens_big_second for the big model), or model.num_ctx where the window is full.";
const ANOTHER_MODEL = "`nightdesk runs show` has both tries; a larger model may keep the rules.";

const ABOUT_CITATIONS: ReadonlySet<ViolationCode> = new Set([
  "CITATION_MISSING",
  "CITATION_UNKNOWN",
  "CITATION_MISPLACED",
  "QUOTE_NOT_FOUND",
  "QUOTE_STITCHED",
  "QUOTE_MISATTRIBUTED",
]);
const ABOUT_SUPPORT: ReadonlySet<ViolationCode> = new Set(["FIGURE_NOT_FOUND", "UNSUPPORTED"]);

/** A tool call says most, then a broken format, then what is cited, then what is said. */
function codeFor(codes: readonly ViolationCode[]): RefusalCode {
  if (codes.includes("TOOL_CALL")) return "UNEXPECTED_TOOL_CALL_SECOND_PASS";
  if (codes.every((code) => ABOUT_SUPPORT.has(code))) return "ANSWER_UNSUPPORTED";
  const onlyEvidence = codes.every((code) => ABOUT_CITATIONS.has(code) || ABOUT_SUPPORT.has(code));
  return onlyEvidence ? "CITATION_INVALID" : "SECOND_PASS_FORMAT_VIOLATION";
}

/** What the citations of an answer stand for, each once, in the order in which they are cited. */
export const citationsOf = (
  answer: PassedReply,
  { citations }: AnswerRules,
): readonly Citation[] => (citations === "off" ? [] : answer.citations);
