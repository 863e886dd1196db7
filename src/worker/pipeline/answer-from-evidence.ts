import type { Refusal } from "../../shared/failure.ts";
import type { Outcome } from "../../shared/run-result.ts";
import { answerWhole } from "./answer-whole.ts";
import type { Answered, AnswerRun } from "./answer-whole.ts";
import type { AskRun, Answerers } from "./ask-run.ts";
import type { AdmittedEvidence } from "./gate-evidence.ts";
import { noteOnPart } from "./note-on-part.ts";
import { titleOf } from "./number-evidence.ts";
import { roomForEvidence } from "./parts/room-for-evidence.ts";
import { citationsOf } from "./second-pass.ts";
import { workInParts } from "./parts/work-in-parts.ts";

/**
 * Pass 2 and its check: the answer that rests on the admitted evidence, with its footer and citations. A file beyond
 * the model's window is gone through part by part first, and the answer rests on what was noted of each.
 */
export async function answerFromEvidence(
  run: AskRun,
  admitted: AdmittedEvidence,
  answerers: Answerers,
): Promise<Outcome> {
  const { text, ids } = answerers.notes;
  run.trace.memory(ids);
  const answered = await answerFromAdmitted({ ...run, admitted, answerers, notes: text });
  if (answered.kind === "refused") return answered;
  const { answer, rules } = answered;
  const citations = citationsOf(answer, rules);
  return { kind: "succeeded", answer: answer.text, scope: rules.footer, citations, summary: null };
}

function answerFromAdmitted(run: AnswerRun): Promise<Answered | Refusal> {
  const { admitted, answerers, input, notes, trace } = run;
  const { file, passages } = admitted;
  if (file === null) return answerWhole(run, { shown: [], sources: [] }, 1);
  const { second, route } = answerers;
  const beside = [input.question, notes, ...passages.map(({ text }) => text)];
  return workInParts<Answered>({
    reading: file,
    title: titleOf(file.text),
    room: roomForEvidence(second, route.second, beside),
    model: second.name,
    trace,
    askPart: (part) => noteOnPart(run, file, part),
    askWhole: (whole, parts) => answerWhole(run, whole, parts),
  });
}
