import type { Refusal } from "../../shared/failure.ts";
import type { AskInput } from "../../shared/job.ts";
import { routeModels } from "../../shared/route-models.ts";
import type { Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { callParts, modelOf, modelUse } from "../answer/call-model.ts";
import { partFooter, roomForEvidence, mapReduce } from "../answer/map-reduce.ts";
import { notesFor } from "../answer/notes.ts";
import { spansOf } from "../answer/parts.ts";
import type { PartEvidence } from "../answer/parts.ts";
import { renderPrompt } from "../answer/prompt.ts";
import { NOTE_OF_FILE, NOTE_PART_PROMPT, OF_NOTES } from "../answer/prompts.ts";
import type { RepairPlan } from "../answer/repair-loop.ts";
import { fenceBoundary, fenceLong } from "../evidence/fence.ts";
import { gateEvidence, isStale, nothingAllowed, nothingFound } from "../evidence/gate.ts";
import type { GateInput } from "../evidence/gate.ts";
import { titleOf } from "../evidence/number.ts";
import { ADMITTED, chunkPiece, filePiece, rejected } from "../evidence/piece.ts";
import { limitsOf, retrieve } from "../evidence/retrieve.ts";
import type { Snapshot } from "../evidence/retrieve.ts";
import type {
  AdmittedEvidence,
  Passage,
  PipelineDependencies,
  Reading,
} from "../evidence/types.ts";
import { classifyQuestion } from "../question/classify-question.ts";
import type { Classification } from "../question/classify-question.ts";
import type { PassedReply } from "../verify/check-reply.ts";
import { answerOnce, askForAnswer, citationsOf, partRules } from "./answer-whole.ts";
import type { Answered, Answerers, AnswerRun, AskRun, RetrievedContext } from "./answer-whole.ts";
import { firstPass } from "./first-pass.ts";
import type { Selection } from "./first-pass.ts";
import { readSelected, refuseNamedFile } from "./read-selected.ts";

/**
 * The two-pass gated answer, in eight steps: classify, retrieve, first pass, tool call, gate, second pass, check, persist.
 * The sixth and the seventh take turns in repair-loop.ts; the eighth is the caller's, who writes the outcome and the trace
 * in one transaction. A named file that can't be read ends the run before any model is asked.
 *
 * Returns a refusal as a value, with any code of the steps; throws Failure for a fault of the machinery and the
 * signal's reason after an abort.
 */
export async function answerQuestion(
  job: { readonly jobId: string; readonly input: AskInput },
  deps: PipelineDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Outcome> {
  const run: AskRun = { ...job, deps, trace, signal };
  const classification = await trace.step("classify", () => classify(run));
  const barred = await refuseNamedFile(run, classification);
  if (barred !== null) return barred;
  const snapshot = await trace.step("retrieve", () => retrieveSnapshot(run));
  const found = { classification, snapshot };
  if (classification.need === "passages" && snapshot.passages.length === 0) {
    return refuseWithoutPassages(run);
  }

  const answerers = await chooseModels(run);
  const selection = await trace.step("first_pass", () => selectTool(run, found, answerers));
  if (selection.kind === "refused") return withoutEvidence(run, found, selection);

  const reading = await readSelected(run, found, { selection, answerers });
  if (reading?.kind === "refused") return withoutEvidence(run, found, reading);

  const evidence = await trace.step("gate", () => gateEvidence({ ...found, reading }));
  recordEvidence(run, { ...found, reading }, evidence);
  if (evidence.kind === "refused") return evidence;

  const { text: notes, ids } = answerers.notes;
  trace.memory(ids);
  const answered = await answerAndCheck({ ...run, admitted: evidence, answerers, notes });
  return answered.kind === "refused" ? answered : succeeded(answered);
}

async function classify({ input, deps, trace }: AskRun): Promise<Classification> {
  const { ask, security } = deps.settings;
  const settings = {
    allowedExts: security.allowed_exts,
    summaryTriggers: ask.summary_triggers,
    fullTriggers: ask.read_full_on_thorough ? ask.full_evidence_triggers : [],
    extent: input.options?.full === true ? "full" : "as_needed",
  } as const;
  const classification = await classifyQuestion(input.question, settings, deps.knownFiles);
  const { need, namedFiles, wholeBecause, knownFiles } = classification;
  trace.detail("classify", {
    need,
    named_files: namedFiles,
    whole_because: wholeBecause,
    known_files: knownFiles,
  });
  return classification;
}

async function retrieveSnapshot({ input, deps, trace, signal }: AskRun): Promise<Snapshot> {
  const snapshot = await retrieve(input, deps, signal);
  const { passages, hash } = snapshot;
  trace.detail("retrieve", {
    passages: passages.length,
    files: new Set(passages.map(({ path }) => path)).size,
    snapshot: hash,
    scores: passages.map(({ score }) => score),
  });
  return snapshot;
}

/** That nothing fits the question is said only where there is something that it could have fitted. */
async function refuseWithoutPassages({ input, deps, trace }: AskRun): Promise<Refusal> {
  const holdsAny = await deps.holdsAny(limitsOf(input.options));
  trace.detail("retrieve", { holds_any: holdsAny });
  return holdsAny ? nothingFound() : nothingAllowed(input.options);
}

async function chooseModels({ input, deps, trace, signal }: AskRun): Promise<Answerers> {
  const route = routeModels(input.question, deps.settings.model, {
    route: input.options?.route,
    model: input.options?.model,
  });
  const first = await modelOf(route.first, deps.models, signal);
  const second = await modelOf(route.second, deps.models, signal);
  trace.models([modelUse("first", first, route.first), modelUse("second", second, route.second)]);
  return { route, first, second, notes: await notesFor(second, deps, trace) };
}

const selectTool = (
  { input, deps, trace, signal }: AskRun,
  found: RetrievedContext,
  { route, first }: Answerers,
): Promise<Selection | Refusal> => {
  const { question } = input;
  const { fenceKey } = deps;
  const plan = { question, ...found, model: first, choice: route.first, fenceKey };
  return firstPass(plan, callParts(deps, { trace, signal }));
};

/** A refusal before the gate: what was found goes on record as not admitted. */
function withoutEvidence(run: AskRun, found: RetrievedContext, refusal: Refusal): Refusal {
  recordEvidence(run, { ...found, reading: null }, refusal);
  return refusal;
}

const succeeded = ({ answer, rules }: Answered): Outcome => ({
  kind: "succeeded",
  answer: answer.text,
  scope: rules.footer,
  citations: citationsOf(answer, rules),
  summary: null,
});

/**
 * Second pass and check: the answer that rests on the admitted evidence, with its footer and citations. A file beyond
 * the model's window is gone through part by part first, and the answer rests on what was noted of each.
 */
function answerAndCheck(run: AnswerRun): Promise<Answered | Refusal> {
  const { admitted, answerers, input, notes, trace } = run;
  const { file, passages } = admitted;
  if (file === null) return answerOnce(run, { shown: [], sources: [] }, 1);
  const { second, route } = answerers;
  const beside = [input.question, notes, ...passages.map(({ text }) => text)];
  return mapReduce<Answered>({
    reading: file,
    title: titleOf(file.text),
    room: roomForEvidence(second, route.second, beside),
    model: second.name,
    trace,
    askPart: (part) => extractNotes(run, file, part),
    askWhole: (whole, parts) => answerOnce(run, whole, parts),
  });
}

/** Sentences of a note by a model without language. */
const SENTENCES = 3;

/** What in a part of a file bears on the question; EVIDENCE_NOT_ACQUIRED where nothing does. */
async function extractNotes(
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

const NAMED_FILE_ONLY = "the question names a file: only a read of it admits";
const STALE = "the file has changed since it was indexed";

/** Puts every piece that was read on record: admitted, or rejected with the reason. */
function recordEvidence(
  { deps, trace }: AskRun,
  { reading, snapshot }: GateInput,
  evidence: AdmittedEvidence | Refusal,
): void {
  const isRefused = evidence.kind === "refused";
  const keys = isRefused ? [] : evidence.passages.map(({ chunkKey }) => chunkKey);
  const chunks = snapshot.passages.map((passage) => {
    const isAdmitted = keys.includes(passage.chunkKey);
    const verdict = isAdmitted ? ADMITTED : rejected(reasonFor(passage, reading, evidence));
    return chunkPiece(passage, verdict, deps.previewChars);
  });
  const verdict = isRefused ? rejected(evidence.code) : ADMITTED;
  const file = reading === null ? [] : [filePiece(reading, verdict, deps.previewChars)];
  trace.evidence([...file, ...chunks]);
  trace.detail("gate", {
    verdict: isRefused ? evidence.code : "admitted",
    file: !isRefused && evidence.file !== null,
    passages: keys.length,
    rejected: chunks.length - keys.length,
  });
}

function reasonFor(
  passage: Passage,
  reading: Reading | null,
  evidence: AdmittedEvidence | Refusal,
): string {
  if (reading !== null && isStale(passage, reading)) return STALE;
  return evidence.kind === "refused" ? evidence.code : NAMED_FILE_ONLY;
}
