import type { Refusal } from "../../shared/failure.ts";
import type { AskInput } from "../../shared/job/job.ts";
import { passedOverFor } from "../../shared/job/passed-over.ts";
import type { RunTrace } from "../run-trace.ts";
import type { RunEnd } from "../../shared/job/settlement.ts";
import { callParts } from "../answer/call-model.ts";
import { gateEvidence, isStale, nothingAllowed, nothingFound } from "../evidence/gate.ts";
import type { GateInput } from "../evidence/gate.ts";
import { ADMITTED, chunkPiece, filePiece, rejected } from "../evidence/piece.ts";
import { limitsOf, rerankerOf, retrieve as retrievePassages } from "../evidence/retrieve.ts";
import type { Snapshot } from "../evidence/retrieve.ts";
import type { AdmittedEvidence, Passage, PipelineDependencies } from "../evidence/types.ts";
import { classifyQuestion } from "../question/classify-question.ts";
import type { Classification } from "../question/classify-question.ts";
import { createCheck as check, answerOutcome } from "./answer-request.ts";
import { filesOfJob, selectAnswerers } from "./ask-run.ts";
import type { AskRun, RetrievedContext } from "./ask-run.ts";
import { firstPass } from "./first-pass.ts";
import { secondPass } from "./second-pass.ts";
import { locateNamedFiles, toolCall } from "./tool-call.ts";
import { endOf, verify } from "./verification/verify.ts";

/**
 * The two-pass gated answer, step by step; the caller writes outcome and trace in one transaction. A named file that can't
 * be read ends the run before any model is called. Second pass and check alternate: a reply that breaks the rules is
 * requested once more.
 *
 * Returns a refusal as a value, with any code of the steps; throws Failure for a fault of the machinery and the
 * signal's reason after an abort.
 */
export async function answerQuestion(
  job: Pick<AskRun, "jobId" | "input" | "followed">,
  deps: PipelineDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<RunEnd> {
  const run: AskRun = { ...job, input: withFollowedQuestion(job), deps, trace, signal };
  const { question, options } = run.input;
  const asked = await classify(run);
  if (asked.kind === "refused") return asked;
  const snapshot = await retrieve(run, asked);
  if ("kind" in snapshot) return snapshot;
  const found = { ...asked, snapshot };
  const answerers = await selectAnswerers(question, options, run);
  const selection = await firstPass(run, found, answerers);
  const read = await toolCall(run, found, { selection, answerers });
  const admitted = await gate(run, { ...found, ...read });
  if (admitted.kind === "refused") return admitted;
  const notes = answerers.notes.text;
  const draft = await secondPass({ ...run, question, admitted, answerers, notes, check });
  if (draft.kind !== "draft") return draft;
  return endOf(await verify(draft, callParts(deps, run)), answerOutcome);
}

/** Puts the question that this one follows in front of it, for every search and every prompt. */
const withFollowedQuestion = ({ input, followed }: Pick<AskRun, "input" | "followed">): AskInput =>
  followed === undefined
    ? input
    : { ...input, question: `${followed.question}\n\n${input.question}` };

type LocatedQuestion = { readonly kind: "located" } & Pick<
  RetrievedContext,
  "classification" | "meant" | "toRead"
>;

/** Determines what evidence the question needs, and which files its names mean. */
async function classify(run: AskRun): Promise<LocatedQuestion | Refusal> {
  const classification = await run.trace.step("classify", () => classifyWords(run));
  const named = await locateNamedFiles(run, classification);
  return named.kind === "refused" ? named : { classification, ...named };
}

async function classifyWords(run: AskRun): Promise<Classification> {
  const { input, followed, deps, trace } = run;
  const { ask, security } = deps.settings;
  const settings = {
    about: filesOfJob(run),
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
    ...(followed === undefined ? {} : { followed }),
  });
  return classification;
}

/** The snapshot, or a refusal when no passage can admit an answer. */
async function retrieve(
  run: AskRun,
  { classification }: LocatedQuestion,
): Promise<Snapshot | Refusal> {
  const snapshot = await run.trace.step("retrieve", () => retrieveSnapshot(run));
  const isWithout = classification.need === "passages" && snapshot.passages.length === 0;
  return isWithout ? refuseWithoutPassages(run) : snapshot;
}

async function retrieveSnapshot({ input, deps, trace, signal }: AskRun): Promise<Snapshot> {
  const snapshot = await retrievePassages(input, deps, signal);
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

/** Names the reranker that ordered the passages, and the rank of each passage before. */
function rerankedDetail(passages: readonly Passage[]): Readonly<Record<string, unknown>> {
  const reranker = rerankerOf(passages);
  return reranker === null
    ? {}
    : { reranker, fused_ranks: passages.map(({ reranked }) => reranked?.fusedRank ?? null) };
}

/** Reports "nothing fits the question" only when the index holds something within the limits of the job. */
async function refuseWithoutPassages({ input, deps, trace }: AskRun): Promise<Refusal> {
  const holdsAny = await deps.holdsAny(limitsOf(input.options));
  trace.detail("retrieve", { holds_any: holdsAny });
  return holdsAny ? nothingFound() : nothingAllowed(input.options);
}

/** Admits or refuses the evidence that was read and found; records every piece with the reason. */
async function gate(
  run: AskRun,
  found: GatheredEvidence & { readonly refusal: Refusal | null },
): Promise<AdmittedEvidence | Refusal> {
  const { settings } = run.deps;
  const evidence =
    found.refusal ??
    (await run.trace.step("gate", () =>
      gateEvidence({
        ...found,
        classification: { ...found.classification, namedFiles: found.meant },
        mostChars: settings.ask.max_chars_full_read,
      }),
    ));
  recordEvidence(run, found, evidence);
  return evidence;
}

/** A replay recognizes by this text the passages that were not found only for the named file. */
export const NAMED_FILE_ONLY = "the question names a file: only a read of it admits";
const IN_BEGINNING = "the beginning of the file holds it";
const STALE = "the file has changed since it was indexed";

type GatheredEvidence = Omit<GateInput, "mostChars"> & Pick<RetrievedContext, "meant">;

/** Records every piece that was read: as admitted, or as rejected with the reason. */
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
