import { fitPieces } from "../../evidence/fence.ts";
import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import type { InvestigateInput } from "../../../shared/job/job.ts";
import type { RunTrace } from "../../run-trace.ts";
import type { RunEnd } from "../../../shared/job/settlement.ts";
import { callParts } from "../../answer/call-model.ts";
import { roomForEvidence } from "../../answer/map-reduce.ts";
import { gateReading, nothingFound } from "../../evidence/gate.ts";
import { ADMITTED, chunkPiece, filePiece, outputPiece, rejected } from "../../evidence/piece.ts";
import { snapshotHash } from "../../evidence/retrieve.ts";
import type { AdmittedEvidence } from "../../evidence/types.ts";
import { firstCodePoints } from "../../text/clean-text.ts";
import { neutraliseText } from "../../text/neutralise-text.ts";
import { createCheck as check, answerOutcome } from "../answer-request.ts";
import { secondPass } from "../second-pass.ts";
import { endOf, verify } from "../verification/verify.ts";
import { lookAround, openExploration, PASSAGES_ALONE } from "./look-around.ts";
import type {
  LoopEnd,
  InvestigateDependencies,
  InvestigateRun,
  Exploration,
} from "./look-around.ts";
import { openGrant } from "./open-grant.ts";
import { admissibleEvidence, hasGivenFiles, hasServerEvidence, noteOf } from "./record.ts";
import type { InvestigationRecord } from "./record.ts";

/**
 * An investigation: grant, look around, gate, second pass, check, verify. Each step of looking around is one call of a model
 * or of a tool, committed before and after, so that a run that is lost, parked or handed back continues where it stopped. No
 * text that the model writes on the way is returned: the second pass makes the answer, from the evidence that was found.
 *
 * Returns a refusal as a value: TOOL_UNAVAILABLE, TOOL_DENIED, APPROVAL_DENIED, APPROVAL_EXPIRED, STAGNATED, MODEL_UNSUPPORTED,
 * INVALID_ARGS and those of an answer. Throws Failure APPROVAL_PENDING or REVIEW_PENDING when a person has to decide.
 */
export async function investigate(
  input: InvestigateInput,
  deps: InvestigateDependencies,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<RunEnd> {
  const run: InvestigateRun = { input, deps, trace, signal };
  const grant = await trace.step("grant", () => openGrant(input, deps));
  if ("kind" in grant) return grant;
  const looking = await openExploration(run, grant);
  const ended = await lookAround(run, looking);
  const admitted = await gate(run, looking, ended);
  if (admitted.kind === "refused") return admitted;
  const { answerers, record } = looking;
  const notes = answerers.notes.text + notesOf(record, admitted);
  const question = input.task;
  const draft = await secondPass({ ...run, question, admitted, answerers, notes, check });
  if (draft.kind !== "draft") return draft;
  return endOf(await verify(draft, callParts(deps, run)), answerOutcome);
}

/** Admits the evidence that was found, or refuses it; records every piece with the reason. */
export async function gate(
  run: InvestigateRun,
  looking: Exploration,
  ended: LoopEnd | Refusal,
): Promise<AdmittedEvidence | Refusal> {
  const admitted =
    ended.kind === "refused"
      ? ended
      : await run.trace.step("gate", () => admit(run, looking, ended));
  recordEvidence(run, looking.record, admitted);
  return admitted;
}

/**
 * Selects the evidence that the answer may rest on: pieces that are sound and fit. Long files are read in parts; passages that
 * no such file contains are shown whole or not at all, passages that the model read on purpose first. Outputs of tools come before passages, but the
 * model wrote the commands: an answer may rest on outputs only if a file was given to the command, or if the configuration of
 * a server says that its results are evidence.
 */
function admit(
  { input, deps }: InvestigateRun,
  { record: { evidence, steps }, answerers: { second, route, notes } }: Exploration,
  { why }: LoopEnd,
): AdmittedEvidence | Refusal {
  const found = admissibleEvidence(evidence);
  const sound = found.files.filter((file) => gateReading(file, "whole_file") === null);
  const files = fitPieces(sound, deps.settings.ask.max_chars_full_read);
  const room = roomForEvidence(second, route.second, [input.task, notes.text]);
  const inOrder = found.passages
    .filter(({ path }) => !files.some((file) => file.path === path))
    .sort((one, other) => Number(one.source !== null) - Number(other.source !== null));
  const shown: ReadonlySet<object> = new Set(
    fitPieces([...found.outputs, ...inOrder], files.length === 0 ? room : room / 2),
  );
  const passages = found.passages.filter((passage) => shown.has(passage));
  const outputs = found.outputs.filter((output) => shown.has(output));
  const restsOnMore = outputs.length > 0 && (hasGivenFiles(steps) || hasServerEvidence(steps));
  if (files.length === 0 && passages.length === 0 && !restsOnMore) {
    return refuseNothingFound(input.options?.path_prefix, why);
  }
  return { kind: "admitted", files, passages, outputs, snapshotHash: snapshotHash(passages) };
}

function refuseNothingFound(folder: string | undefined, why: string): Refusal {
  if (folder === undefined && why === PASSAGES_ALONE) return nothingFound();
  const found =
    folder === undefined
      ? "Nothing was found to rest an answer on"
      : `Nothing was found below ${JSON.stringify(folder)}, which is all that this job may see`;
  const where =
    folder === undefined
      ? ""
      : ' Paths begin at the work root; `nightdesk sql "select path from documents limit 20"` shows some.';
  return refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `${found}. Why it ended: ${why}. \`nightdesk runs show\` has its steps.${where}`,
  );
}

/** Records all evidence that was found: as admitted, or as rejected with the reason. */
function recordEvidence(
  { deps, trace }: InvestigateRun,
  { evidence }: InvestigationRecord,
  admitted: AdmittedEvidence | Refusal,
): void {
  const isRefused = admitted.kind === "refused";
  const isAdmitted = (piece: object): boolean =>
    !isRefused &&
    (
      [...admitted.files, ...admitted.passages, ...(admitted.outputs ?? [])] as readonly object[]
    ).includes(piece);
  const verdictOn = (piece: object) => (isAdmitted(piece) ? ADMITTED : rejected(why));
  const why = isRefused ? admitted.code : "another piece holds it, or it has no room";
  trace.evidence(
    evidence.map(({ evidence: piece }) => {
      switch (piece.kind) {
        case "file":
          return filePiece(piece.reading, verdictOn(piece.reading), deps.previewChars);
        case "passage":
          return chunkPiece(piece.passage, verdictOn(piece.passage), deps.previewChars);
        case "output":
          return outputPiece(piece.output, verdictOn(piece.output), deps.previewChars);
      }
    }),
  );
}

/** The notes of the model, and the call behind each output. They are no evidence, and the prompt says so. */
function notesOf(
  { steps }: InvestigationRecord,
  { outputs = [] }: Pick<AdmittedEvidence, "outputs">,
): string {
  const calls = outputs.map(
    ({ label, call }) => `${label}, is of the call: ${firstCodePoints(call, MOST_CALL_CHARS)}`,
  );
  const lines = [...steps.flatMap(noteOf), ...calls];
  if (lines.length === 0) return "";
  return `

Notes from the search, which are no evidence and can't be cited:
${lines.map((line) => `- ${neutraliseText(line).replaceAll("\n", "\n  ")}`).join("\n")}`;
}

const MOST_CALL_CHARS = 300;
