import type { Refusal } from "../../shared/failure.ts";
import type { AskInput } from "../../shared/job.ts";
import { passedOverFor } from "../../shared/passed-over.ts";
import type { Outcome } from "../../shared/run-result.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { callParts } from "../answer/call-model.ts";
import { gateEvidence, isStale, nothingAllowed, nothingFound } from "../evidence/gate.ts";
import type { GateInput } from "../evidence/gate.ts";
import { ADMITTED, chunkPiece, filePiece, rejected } from "../evidence/piece.ts";
import { limitsOf, rerankerOf, retrieve } from "../evidence/retrieve.ts";
import type { Snapshot } from "../evidence/retrieve.ts";
import type { AdmittedEvidence, Passage, PipelineDependencies } from "../evidence/types.ts";
import { classifyQuestion } from "../question/classify-question.ts";
import type { Classification } from "../question/classify-question.ts";
import { READ_WHOLE_FILE } from "../tools/read-text-file.ts";
import { answerFromEvidence } from "./answer-from-files.ts";
import { selectAnswerers, succeeded } from "./answer-whole.ts";
import type { Answerers, AskRun, RetrievedContext } from "./answer-whole.ts";
import { firstPass } from "./first-pass.ts";
import type { Selection } from "./first-pass.ts";
import { locateNamedFiles, readSelected } from "./read-selected.ts";

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
  const named = await locateNamedFiles(run, classification);
  if (named.kind === "refused") return named;
  const snapshot = await trace.step("retrieve", () => retrieveSnapshot(run));
  const { meant, toRead } = named;
  const found = { classification, meant, toRead, snapshot };
  if (classification.need === "passages" && snapshot.passages.length === 0) {
    return refuseWithoutPassages(run);
  }

  const { question, options } = run.input;
  const answerers = await selectAnswerers(question, options, run);
  const selection = await trace.step("first_pass", () => selectTool(run, found, answerers));
  if (selection.kind === "refused")
    return withoutEvidence(run, { ...found, readings: [] }, selection);

  const { refusal, ...read } = await readSelected(run, found, { selection, answerers });
  if (refusal !== null) return withoutEvidence(run, { ...found, ...read }, refusal);

  const evidence = await trace.step("gate", () => gate(run, { ...found, ...read }));
  recordEvidence(run, { ...found, ...read }, evidence);
  if (evidence.kind === "refused") return evidence;

  const { text: notes, ids } = answerers.notes;
  trace.memory(ids);
  const answered = await answerFromEvidence({
    ...run,
    question,
    admitted: evidence,
    answerers,
    notes,
  });
  return answered.kind === "refused" ? answered : succeeded(answered);
}

async function classify({ input, deps, trace }: AskRun): Promise<Classification> {
  const { ask, security } = deps.settings;
  const settings = {
    path: input.path,
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
  const { passages, hash, passedOver } = snapshot;
  trace.detail("retrieve", {
    passages: passages.length,
    files: new Set(passages.map(({ path }) => path)).size,
    snapshot: hash,
    scores: passages.map(({ score }) => score),
    ...rerankedDetail(passages),
    ...(passedOver.length === 0
      ? {}
      : { passed_over: passedOver.map(({ passage: { path }, newer }) => ({ path, newer })) }),
  });
  return snapshot;
}

/** Which reranker ordered the passages, and where each stood before. */
function rerankedDetail(passages: readonly Passage[]): Readonly<Record<string, unknown>> {
  const reranker = rerankerOf(passages);
  return reranker === null
    ? {}
    : { reranker, fused_ranks: passages.map(({ reranked }) => reranked?.fusedRank ?? null) };
}

/** That nothing fits the question is said only where there is something that it could have fitted. */
async function refuseWithoutPassages({ input, deps, trace }: AskRun): Promise<Refusal> {
  const holdsAny = await deps.holdsAny(limitsOf(input.options));
  trace.detail("retrieve", { holds_any: holdsAny });
  return holdsAny ? nothingFound() : nothingAllowed(input.options);
}

/** Where the job gives the file, no model is asked which to read, and its path stands in no prompt for one. */
const selectTool = async (
  { input, deps, trace, signal }: AskRun,
  found: RetrievedContext,
  { route, first }: Answerers,
): Promise<Selection | Refusal> => {
  const { question, path } = input;
  if (path !== undefined) {
    trace.detail("first_pass", { selected: "path" });
    const call = {
      kind: "call",
      name: READ_WHOLE_FILE.name,
      args: { path },
      trailingText: "",
    } as const;
    return { kind: "call", call };
  }
  const { fenceKey } = deps;
  const plan = { question, ...found, model: first, choice: route.first, fenceKey };
  return firstPass(plan, callParts(deps, { trace, signal }));
};

/** A refusal before the gate: what was found and read goes on record as not admitted. */
function withoutEvidence(run: AskRun, found: GatheredEvidence, refusal: Refusal): Refusal {
  recordEvidence(run, found, refusal);
  return refusal;
}

const gate = ({ deps }: AskRun, found: GatheredEvidence): AdmittedEvidence | Refusal =>
  gateEvidence({
    ...found,
    classification: { ...found.classification, namedFiles: found.meant },
    mostChars: deps.settings.ask.max_chars_full_read,
  });

/** A replay tells by it which passages of a named file were not found for that file alone. */
export const NAMED_FILE_ONLY = "the question names a file: only a read of it admits";
const IN_BEGINNING = "the beginning of the file holds it";
const STALE = "the file has changed since it was indexed";

type GatheredEvidence = Omit<GateInput, "mostChars"> & Pick<RetrievedContext, "meant">;

/** Puts every piece that was read on record: admitted, or rejected with the reason. */
function recordEvidence(
  { deps, trace }: AskRun,
  { readings, ownPassages = [], snapshot }: GatheredEvidence,
  evidence: AdmittedEvidence | Refusal,
): void {
  const isRefused = evidence.kind === "refused";
  const keys = isRefused ? [] : evidence.passages.map(({ chunkKey }) => chunkKey);
  const known = new Set(snapshot.passages.map(({ chunkKey }) => chunkKey));
  const beside = ownPassages.filter(({ chunkKey }) => !known.has(chunkKey));
  const chunks = [...snapshot.passages, ...beside].map((passage) => {
    const isAdmitted = keys.includes(passage.chunkKey);
    const read = { readings, ownPassages };
    const verdict = isAdmitted ? ADMITTED : rejected(reasonFor(passage, read, evidence));
    return chunkPiece(passage, verdict, deps.previewChars);
  });
  const older = snapshot.passedOver.map(({ passage, newer }) =>
    chunkPiece(passage, rejected(passedOverFor(newer)), deps.previewChars),
  );
  const verdict = isRefused ? rejected(evidence.code) : ADMITTED;
  const files = readings.map((reading) => filePiece(reading, verdict, deps.previewChars));
  trace.evidence([...files, ...chunks, ...older]);
  trace.detail("gate", {
    verdict: isRefused ? evidence.code : "admitted",
    files: isRefused ? 0 : evidence.files.length,
    passages: keys.length,
    rejected: chunks.length - keys.length,
  });
}

function reasonFor(
  passage: Passage,
  { readings, ownPassages = [] }: Pick<GatheredEvidence, "readings" | "ownPassages">,
  evidence: AdmittedEvidence | Refusal,
): string {
  if (readings.some((reading) => isStale(passage, reading))) return STALE;
  if (evidence.kind === "refused") return evidence.code;
  const isOwn = ownPassages.some(({ chunkKey }) => chunkKey === passage.chunkKey);
  return isOwn ? IN_BEGINNING : NAMED_FILE_ONLY;
}
