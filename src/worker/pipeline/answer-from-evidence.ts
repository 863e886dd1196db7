import type { Outcome } from "../../shared/run-result.ts";
import type { AskRun, Answerers } from "./ask-run.ts";
import type { AnswerRules } from "./check-answer.ts";
import { fenceBoundary, fenceEvidence } from "./fence-evidence.ts";
import type { AdmittedEvidence } from "./gate-evidence.ts";
import { numberEvidence } from "./number-evidence.ts";
import { ANSWER_PROMPT } from "./prompts/answer-prompt.ts";
import { renderPrompt } from "./prompts/prompt.ts";
import { scopeFooter } from "./scope-footer.ts";
import { citationsOf, secondPass } from "./second-pass.ts";

/** Sentences that a model without language puts together; a language model is asked for few. */
const SENTENCES = 3;

/** Pass 2 and its check: the answer that rests on the admitted evidence, with its footer and citations. */
export async function answerFromEvidence(
  { jobId, input, deps, trace, signal }: AskRun,
  admitted: AdmittedEvidence,
  { route, second }: Answerers,
): Promise<Outcome> {
  const { question } = input;
  const evidence = numberEvidence(admitted);
  const footer = scopeFooter(admitted);
  const boundary = fenceBoundary(jobId, hashesOf(admitted), deps.fenceKey);
  const fenced = fenceEvidence(evidence, boundary);
  const rules = { footer, evidence, citations: citationRule(deps.settings.ask.citations) };
  const answer = await secondPass(
    {
      pass: "second",
      model: second,
      choice: route.second,
      task: { purpose: "answer", question, evidence, sentences: SENTENCES },
      rules,
      boundary,
      prompt: (correction) =>
        renderPrompt(ANSWER_PROMPT, { boundary, question, evidence: fenced, footer, correction }),
    },
    trace,
    signal,
  );
  if (answer.kind === "refused") return answer;
  const citations = citationsOf(answer, rules);
  return { kind: "succeeded", answer: answer.text, scope: footer, citations, summary: null };
}

const hashesOf = ({ file, snapshotHash }: AdmittedEvidence): string[] => [
  ...(file === null ? [] : [file.sha256]),
  snapshotHash,
];

const citationRule = ({
  enabled,
  strict,
}: {
  readonly enabled: boolean;
  readonly strict: boolean;
}): AnswerRules["citations"] => {
  if (!enabled) return "off";
  return strict ? "required" : "known";
};
