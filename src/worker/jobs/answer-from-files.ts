import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { PartRecord } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { callParts } from "../answer/call-model.ts";
import {
  FEWEST_ROOM,
  isOverflow,
  mapReduce,
  partFooter,
  roomForEvidence,
} from "../answer/map-reduce.ts";
import { joinEvidence, spansOf } from "../answer/parts.ts";
import type { PartEvidence } from "../answer/parts.ts";
import { renderPrompt } from "../answer/prompt.ts";
import { NOTE_OF_FILE, NOTE_PART_PROMPT, OF_NOTES } from "../answer/prompts.ts";
import type { RepairPlan } from "../answer/repair-loop.ts";
import { FENCE_CHARS, fenceBoundary, fenceLong } from "../evidence/fence.ts";
import { titleOf } from "../evidence/number.ts";
import type { Reading } from "../evidence/types.ts";
import type { PassedReply } from "../verify/check-reply.ts";
import { answerOnce, askForAnswer, partRules } from "./answer-whole.ts";
import type { Answered, AnswerRun } from "./answer-whole.ts";

/**
 * Second pass and check: the answer that rests on the admitted evidence, with its footer and citations. A file beyond
 * the model's window is gone through part by part first, and the answer rests on what was noted of each.
 */
export function answerFromEvidence(run: AnswerRun): Promise<Answered | Refusal> {
  const [file, ...others] = run.admitted.files;
  if (file === undefined) return answerOnce(run, { shown: [], sources: [] }, 1);
  return others.length === 0 ? answerFromFile(run, file) : answerFromFiles(run);
}

/**
 * The answer to a question from one file: at once, or from notes on its parts where it is beyond the model's window.
 * Refusals: those of `mapReduce` and `answerOnce`.
 */
const answerFromFile = (run: AnswerRun, file: Reading): Promise<Answered | Refusal> =>
  mapReduce<Answered>({
    ...partsRun(run, file, run.trace),
    room: roomFor(run),
    askWhole: (whole, parts) => answerOnce(run, whole, parts),
  });

/**
 * The answer to a question from all of several files. What fits the model's window is shared fairly between them: a file
 * within its share is shown whole, a longer one by notes on its parts. Where the prompt overflows all the same, because
 * the text is dense, there is half as much for each.
 *
 * Refusals: those of `answerOnce` and of the notes, CONTEXT_OVERFLOW (not even short notes of all fit together),
 * EVIDENCE_NOT_ACQUIRED (the model finds nothing in any of them).
 */
async function answerFromFiles(run: AnswerRun): Promise<Answered | Refusal> {
  const { files } = run.admitted;
  const length = files.reduce((total, { text }) => total + text.length, 0);
  for (let room = roomFor(run); ; room = Math.floor(Math.min(room, length) / 2)) {
    const fitted = await fitFiles(run, room);
    if ("kind" in fitted) return fitted;
    const answer = await answerFrom(run, fitted);
    if (!isOverflow(answer)) {
      // Those of a try that overflowed are no part of what the answer rests on.
      recordParts(run.trace, fitted);
      return answer;
    }
    if (room < FEWEST_ROOM) return tooManyFor(run);
  }
}

const tooManyFor = ({ admitted: { files }, answerers }: AnswerRun): Refusal =>
  refuse(
    "CONTEXT_OVERFLOW",
    `The window of "${answerers.second.name}" is too small for ${files.length} files at once: ` +
      `${files.map(({ path }) => path).join(", ")}. Raise model.num_ctx, or name fewer of them.`,
  );

async function answerFrom(
  run: AnswerRun,
  fitted: readonly FittedFile[],
): Promise<Answered | Refusal> {
  const whole = joinEvidence(fitted.map(({ evidence }) => evidence));
  const parts = fitted.reduce((total, { parts: ofFile }) => total + leavesIn(ofFile), 0);
  if (whole.shown.length > 0) return answerOnce(run, whole, Math.max(1, parts));
  return refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `The model found nothing to go by in any of the ${fitted.length} files.`,
  );
}

/** The stretches of a file itself; above them stand notes on notes. */
const leavesIn = (parts: readonly PartRecord[]): number =>
  parts.filter(({ level }) => level === 0).length;

/** A file as the last prompt shows it, with the parts that it was read in; none where it is shown whole. */
type FittedFile = {
  readonly kind: "fitted";
  readonly evidence: PartEvidence;
  readonly parts: readonly PartRecord[];
};

async function fitFiles(run: AnswerRun, room: number): Promise<readonly FittedFile[] | Refusal> {
  const { files } = run.admitted;
  const lengths = files.map(({ text }) => text.length);
  const shares = shareFairly(lengths, room - files.length * FENCE_CHARS);
  const fitted: FittedFile[] = [];
  for (const [at, file] of files.entries()) {
    const fit = await fitFile(run, file, shares[at] ?? 0);
    if (fit.kind === "refused") return fit;
    fitted.push(fit);
  }
  return fitted;
}

/** Nothing of a file in which the model finds nothing is shown: others may answer. */
async function fitFile(run: AnswerRun, file: Reading, room: number): Promise<FittedFile | Refusal> {
  const parts: PartRecord[] = [];
  const plan = partsRun(run, file, { part: (part) => void parts.push(part) });
  const fitted = await mapReduce<FittedFile>({
    ...plan,
    room,
    askWhole: async (evidence) => ({ kind: "fitted", evidence, parts }),
  });
  if (fitted.kind === "fitted" || fitted.code !== "EVIDENCE_NOT_ACQUIRED") return fitted;
  return { kind: "fitted", evidence: { shown: [], sources: [] }, parts };
}

/** The parts of all files, level by level, and within a level in the order of reading. */
function recordParts(trace: RunTrace, fitted: readonly FittedFile[]): void {
  const parts = fitted.flatMap(({ parts: ofFile }) => ofFile);
  const levels = [...new Set(parts.map(({ level }) => level))].sort((one, other) => one - other);
  for (const level of levels) {
    const layer = parts.filter((part) => part.level === level);
    for (const [ordinal, part] of layer.entries()) trace.part({ ...part, ordinal });
  }
}

/**
 * How much of a room each of several texts may take: a short one what it needs, and what those leave is divided equally
 * between the others. Units are those of the lengths.
 */
export function shareFairly(lengths: readonly number[], room: number): number[] {
  const shares = lengths.map(() => 0);
  let left = room;
  let others = lengths.length;
  for (const at of [...lengths.keys()].sort((a, b) => (lengths[a] ?? 0) - (lengths[b] ?? 0))) {
    const share = Math.min(lengths[at] ?? 0, Math.floor(left / others));
    shares[at] = share;
    left -= share;
    others -= 1;
  }
  return shares;
}

const roomFor = ({ admitted, answerers, question, notes }: AnswerRun): number =>
  roomForEvidence(answerers.second, answerers.route.second, [
    question,
    notes,
    ...[...admitted.passages, ...(admitted.outputs ?? [])].map(({ text }) => text),
  ]);

const partsRun = (run: AnswerRun, file: Reading, trace: Pick<RunTrace, "part">) => ({
  reading: file,
  title: titleOf(file.text),
  model: run.answerers.second.name,
  trace,
  askPart: (part: PartEvidence) => extractNotes(run, file, part),
});

/** Sentences of a note by a model without language. */
const SENTENCES = 3;

/** What in a part of a file bears on the question; EVIDENCE_NOT_ACQUIRED where nothing does. */
async function extractNotes(
  run: AnswerRun,
  file: Reading,
  { shown, sources }: PartEvidence,
): Promise<PassedReply | Refusal> {
  const { question, deps, answerers, notes, trace, signal } = run;
  const { second, route } = answerers;
  const footer = partFooter(file, shown);
  const boundary = fenceBoundary(
    NOTE_PART_PROMPT.version,
    [file.sha256, ...spansOf(shown)],
    deps.fenceKey,
  );
  const rules = partRules(deps.settings.ask, { footer, question, evidence: sources });
  const subject = shown.every(({ summaryLevel }) => summaryLevel === null)
    ? NOTE_OF_FILE
    : OF_NOTES;
  const values = { question, subject, footer, notes };
  const text = await fenceLong(shown, boundary, { offload: deps.offload, signal });
  const evidence = { text, shown };
  const prompt: RepairPlan<unknown>["prompt"] = (correction) =>
    renderPrompt(NOTE_PART_PROMPT, { values, boundary, evidence, correction });
  const task = { purpose: "answer", question, evidence: shown, sentences: SENTENCES } as const;
  const plan = { model: second, choice: route.second, task, rules, boundary, prompt };
  return askForAnswer({ pass: "part", ...plan }, callParts(deps, { trace, signal }));
}
