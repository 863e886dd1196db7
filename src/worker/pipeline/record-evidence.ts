import type { Refusal } from "../../shared/failure.ts";
import type { AskRun } from "./ask-run.ts";
import { ADMITTED, chunkPiece, filePiece, rejected } from "./evidence-piece.ts";
import type { AdmittedEvidence, GateInput } from "./gate-evidence.ts";

const NAMED_FILE_ONLY = "the question names a file: only a read of it admits";

/** Puts every piece that was read on record: admitted, or rejected with the reason. */
export function recordEvidence(
  { deps, trace }: AskRun,
  { reading, snapshot }: GateInput,
  evidence: AdmittedEvidence | Refusal,
): void {
  const isRefused = evidence.kind === "refused";
  const keys = isRefused ? [] : evidence.passages.map(({ chunkKey }) => chunkKey);
  const reason = isRefused ? evidence.code : NAMED_FILE_ONLY;
  const chunks = snapshot.passages.map((passage) => {
    const verdict = keys.includes(passage.chunkKey) ? ADMITTED : rejected(reason);
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
