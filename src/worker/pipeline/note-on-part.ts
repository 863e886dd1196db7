import type { Refusal } from "../../shared/failure.ts";
import type { AnswerRun } from "./answer-whole.ts";
import { partRules } from "./answer-rules.ts";
import type { PassedReply } from "./check-reply.ts";
import { fenceBoundary, fenceLong } from "./fence-evidence.ts";
import { partFooter } from "./parts/part-footer.ts";
import { spansOf } from "./parts/part-node.ts";
import type { PartEvidence } from "./parts/part-node.ts";
import type { Reading } from "./pipeline-dependencies.ts";
import { NOTE_PART_PROMPT, OF_FILE, OF_NOTES } from "./prompts/note-part-prompt.ts";
import { renderPrompt } from "./prompts/prompt.ts";
import { secondPass } from "./second-pass.ts";
import type { SecondPass } from "./second-pass.ts";

/** Sentences of a note by a model without language. */
const SENTENCES = 3;

/** What in a part of a file bears on the question; EVIDENCE_NOT_ACQUIRED where nothing does. */
export async function noteOnPart(
  run: AnswerRun,
  file: Reading,
  { shown, sources }: PartEvidence,
): Promise<PassedReply | Refusal> {
  const { input, deps, answerers, notes, trace, signal } = run;
  const { question } = input;
  const { second, route } = answerers;
  const footer = partFooter(file, shown);
  const boundary = fenceBoundary(
    NOTE_PART_PROMPT.version,
    [file.sha256, ...spansOf(shown)],
    deps.fenceKey,
  );
  const rules = partRules(deps.settings.ask, { footer, question, evidence: sources });
  const subject = shown.every(({ summaryLevel }) => summaryLevel === null) ? OF_FILE : OF_NOTES;
  const values = { question, subject, footer, notes };
  const text = await fenceLong(shown, boundary, { aside: deps.aside, signal });
  const evidence = { text, shown };
  const prompt: SecondPass["prompt"] = (correction) =>
    renderPrompt(NOTE_PART_PROMPT, { values, boundary, evidence, correction });
  const task = { purpose: "answer", question, evidence: shown, sentences: SENTENCES } as const;
  const plan = { model: second, choice: route.second, task, rules, boundary, prompt };
  return secondPass(
    { pass: "part", ...plan },
    { calls: deps.calls, aside: deps.aside, trace, signal },
  );
}
