import type { Refusal } from "../../shared/failure.ts";
import type { RunTrace } from "../../shared/run-trace.ts";
import { ADMITTED, filePiece, rejected } from "./evidence-piece.ts";
import { gateReading } from "./gate-evidence.ts";
import type { PipelineDependencies, Reading } from "../evidence/types.ts";
import { readEvidence } from "./read-evidence.ts";

/**
 * Reads the whole of a file through the sandbox, and admits it as evidence.
 *
 * Refusals: those of the read, FILE_EMPTY, EVIDENCE_TRUNCATED (over ask.max_chars_full_read).
 */
export async function readWholeFile(
  path: string,
  deps: PipelineDependencies,
  trace: RunTrace,
): Promise<Reading | Refusal> {
  const reading = await trace.step("tool_call", () => read(path, deps, trace));
  if (reading.kind === "refused") return reading;
  const refusal = await trace.step("gate", () => gate(reading, deps, trace));
  return refusal ?? reading;
}

const read = (
  path: string,
  { settings, readTextFile }: PipelineDependencies,
  trace: RunTrace,
): Promise<Reading | Refusal> =>
  readEvidence(
    {
      path,
      args: { path },
      trailingText: "",
      firstReadChars: settings.ask.max_chars_full_read,
      fullReadChars: null,
    },
    readTextFile,
    trace,
  );

function gate(reading: Reading, deps: PipelineDependencies, trace: RunTrace): Refusal | null {
  const refusal = gateReading(reading, "whole_file");
  const verdict = refusal === null ? ADMITTED : rejected(refusal.code);
  trace.evidence([filePiece(reading, verdict, deps.previewChars)]);
  trace.detail("gate", { verdict: refusal?.code ?? "admitted", file: refusal === null });
  return refusal;
}
