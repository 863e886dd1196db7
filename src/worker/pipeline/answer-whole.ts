import type { Refusal } from "../../shared/failure.ts";
import { answerRules, citationRule } from "./answer-rules.ts";
import type { AskRun, Answerers } from "./ask-run.ts";
import type { AnswerRules } from "./check-answer.ts";
import type { PassedReply } from "../answer/check-reply.ts";
import { fenceBoundary, fenceLong } from "./fence-evidence.ts";
import type { AdmittedEvidence } from "./gate-evidence.ts";
import { numberPassages } from "./number-evidence.ts";
import { wholeFooter } from "./parts/part-footer.ts";
import { spansOf } from "./parts/part-node.ts";
import type { PartEvidence } from "./parts/part-node.ts";
import { ANSWER_FROM_NOTES_PROMPT } from "./prompts/answer-from-notes-prompt.ts";
import { ANSWER_PROMPT } from "./prompts/answer-prompt.ts";
import { renderPrompt } from "./prompts/prompt.ts";
import { secondPass } from "../answer/second-pass.ts";
import type { SecondPass } from "../answer/second-pass.ts";

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

/** Sentences that a model without language puts together; a language model is asked for few. */
const SENTENCES = 3;

/**
 * The answer to the question from all of the evidence: the file at once (`parts` 1), or what was noted of so many parts
 * of it, and the passages. It is checked against the words of the file either way.
 */
export async function answerWhole(
  run: AnswerRun,
  fromFile: PartEvidence,
  parts: number,
): Promise<Answered | Refusal> {
  const { input, deps, admitted, answerers, trace, signal } = run;
  const { question } = input;
  const passages = numberPassages(admitted.passages, fromFile.shown.length + 1);
  const shown = [...fromFile.shown, ...passages];
  const { ask } = deps.settings;
  const rules = answerRules(ask, {
    footer: wholeFooter({ ...admitted, parts }),
    question,
    evidence: [...fromFile.sources, ...passages],
    citations: citationRule(ask.citations),
  });
  const { second: model, route } = answerers;
  const task = { purpose: "answer", question, evidence: shown, sentences: SENTENCES } as const;
  const asked = await promptsFor(run, fromFile, { shown, footer: rules.footer, parts });
  const plan = { pass: "second", model, choice: route.second, task, rules, ...asked } as const;
  const answer = await secondPass(plan, { calls: deps.calls, aside: deps.aside, trace, signal });
  return answer.kind === "refused" ? answer : { kind: "answered", answer, rules };
}

async function promptsFor(
  { input, deps, admitted, notes, signal }: AnswerRun,
  fromFile: PartEvidence,
  { shown, footer, parts }: Pick<PartEvidence, "shown"> & { footer: string; parts: number },
): Promise<Pick<SecondPass, "boundary" | "prompt">> {
  const { file, snapshotHash } = admitted;
  const ofFile = file === null ? [] : [file.sha256, ...spansOf(fromFile.shown)];
  const template = parts === 1 ? ANSWER_PROMPT : ANSWER_FROM_NOTES_PROMPT;
  const boundary = fenceBoundary(template.version, [...ofFile, snapshotHash], deps.fenceKey);
  const values = { question: input.question, footer, notes };
  const text = await fenceLong(shown, boundary, { aside: deps.aside, signal });
  const evidence = { text, shown };
  return {
    boundary,
    prompt: (correction) => renderPrompt(template, { values, boundary, evidence, correction }),
  };
}
