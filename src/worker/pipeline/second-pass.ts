import { refuse } from "../../shared/failure.ts";
import type { Refusal, RefusalCode } from "../../shared/failure.ts";
import type { Citation, ReplyRecord } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import type { Model, ModelTask } from "../model/model.ts";
import { callModel } from "./call-model.ts";
import { checkAnswer } from "./check-answer.ts";
import type { AnswerRules, CheckedAnswer, PassedAnswer, ViolationCode } from "./check-answer.ts";
import { neutraliseText } from "./neutralise-text.ts";
import { correctionText } from "./prompts/correction.ts";
import type { Prompt } from "./prompts/prompt.ts";
import type { ModelChoice } from "./route-models.ts";

export type SecondPass = {
  readonly pass: Extract<ReplyRecord["pass"], "second" | "part">;
  readonly model: Model;
  readonly choice: ModelChoice;
  readonly task: ModelTask;
  readonly rules: AnswerRules;
  readonly boundary: string;
  /** The prompt, with what was wrong with a first try; the empty text on that first try. */
  prompt(correction: string): Prompt;
};

/**
 * The model answers, the answer is checked, and a violation gets one more try that shows the model what was
 * wrong. Tools are forbidden.
 *
 * Refusals: EVIDENCE_NOT_ACQUIRED (the model says that the evidence does not answer), CONTEXT_OVERFLOW,
 * UNEXPECTED_TOOL_CALL_SECOND_PASS, SECOND_PASS_FORMAT_VIOLATION, CITATION_INVALID.
 */
export async function secondPass(
  plan: SecondPass,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<PassedAnswer | Refusal> {
  const first = await attempt(plan, plan.prompt(""), trace, signal);
  if (first.kind === "refused") return first;
  if (first.checked.kind !== "violated") return settle(first.checked);
  const messages = first.checked.violations.map(({ message }) => neutraliseText(message));
  const correction = correctionText(plan.boundary, neutraliseText(first.draft), messages);
  const retry = { ...plan, pass: plan.pass === "part" ? "part" : "retry" } as const;
  const second = await attempt(retry, plan.prompt(correction), trace, signal);
  return second.kind === "refused" ? second : settle(second.checked);
}

type Attempt = {
  readonly kind: "attempt";
  readonly draft: string;
  readonly checked: CheckedAnswer;
};

async function attempt(
  { pass, model, choice, task, rules }: Omit<SecondPass, "pass"> & Pick<ReplyRecord, "pass">,
  prompt: Prompt,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Attempt | Refusal> {
  const reply = await trace.step("second_pass", () =>
    callModel({ pass, model, choice, prompt, task }, trace, signal),
  );
  trace.detail("second_pass", {
    pass,
    model: model.name,
    why: choice.why,
    prompt_version: prompt.version,
    prompt_sha256: prompt.sha256,
    ...(reply.kind === "refused" ? { refused: reply.code } : { done_reason: reply.doneReason }),
  });
  if (reply.kind === "refused") return reply;
  const checked = await trace.step("check", () => checkAnswer(reply, rules));
  trace.detail("check", detailOf(checked));
  return { kind: "attempt", draft: reply.text, checked };
}

function detailOf(checked: CheckedAnswer): Record<string, unknown> {
  switch (checked.kind) {
    case "passed":
      return {
        verdict: "passed",
        footer: checked.footer,
        cited: checked.cited,
        quotes: checked.quotes.length,
      };
    case "declined":
      return { verdict: "declined" };
    case "violated":
      return { verdict: "violated", violations: checked.violations.map(({ code }) => code) };
  }
}

function settle(checked: CheckedAnswer): PassedAnswer | Refusal {
  switch (checked.kind) {
    case "passed":
      return checked;
    case "declined":
      return refuse(
        "EVIDENCE_NOT_ACQUIRED",
        "The evidence that was read does not answer the question. Name a file that does, or index more.",
      );
    case "violated": {
      const codes = [...new Set(checked.violations.map(({ code }) => code))];
      return refuse(codeFor(codes), `The answer broke the rules twice: ${codes.join(", ")}.`);
    }
  }
}

const ABOUT_EVIDENCE: ReadonlySet<ViolationCode> = new Set([
  "CITATION_MISSING",
  "CITATION_UNKNOWN",
  "QUOTE_NOT_FOUND",
]);

function codeFor(codes: readonly ViolationCode[]): RefusalCode {
  if (codes.includes("TOOL_CALL")) return "UNEXPECTED_TOOL_CALL_SECOND_PASS";
  const onlyEvidence = codes.every((code) => ABOUT_EVIDENCE.has(code));
  return onlyEvidence ? "CITATION_INVALID" : "SECOND_PASS_FORMAT_VIOLATION";
}

/** What the cited numbers stand for, in the order in which they are cited. */
export const citationsOf = (
  { cited, quotes }: PassedAnswer,
  { evidence }: AnswerRules,
): Citation[] =>
  cited.flatMap((number) => {
    const block = evidence.find((candidate) => candidate.number === number);
    if (block === undefined) return [];
    const { path, headingPath, chunkKey, lineStart, lineEnd } = block;
    const quote = quotes.find(({ foundIn }) => foundIn === number)?.quote;
    const citation = { path, heading: headingPath, chunkKey, lineStart, lineEnd };
    return [quote === undefined ? citation : { ...citation, quote }];
  });
