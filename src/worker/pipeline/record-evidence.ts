import type { Refusal } from "../../shared/failure.ts";
import type { AskRun } from "./ask-run.ts";
import { ADMITTED, chunkPiece, filePiece, rejected } from "./evidence-piece.ts";
import { isStale } from "./gate-evidence.ts";
import type { AdmittedEvidence, GateInput } from "./gate-evidence.ts";
import type { Passage, Reading } from "./pipeline-dependencies.ts";

const NAMED_FILE_ONLY = "the question names a file: only a read of it admits";
const STALE = "the file has changed since it was indexed";

/** Puts every piece that was read on record: admitted, or rejected with the reason. */
export function recordEvidence(
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
