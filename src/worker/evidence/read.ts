import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { RunTrace } from "../run-trace.ts";
import { inToolSpan } from "../../shared/metrics/traces.ts";
import { cleanRecord, cleanText } from "../text/clean-text.ts";
import { READ_TOOL } from "../../shared/config/tool-presets.ts";
import { gateReading } from "./gate.ts";
import { ADMITTED, filePiece, rejected } from "./piece.ts";
import type { PipelineDependencies, Reading } from "./types.ts";

/** A call of the read tool that was allowed, and how much of the file it reads. */
export type ReadPlan = {
  readonly path: string;
  /** Set for a document that the index found and that the question does not name: its path is exact. */
  readonly lookup?: "exact" | undefined;
  /** The arguments as the model wrote them, for the record. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly trailingText: string;
  /** Characters that the first read may return: as many as fit beside the answer. */
  readonly firstReadChars: number;
  /** Characters that a second read may return when the whole file is needed; null when a part is enough. */
  readonly fullReadChars: number | null;
};

const TRAILING_TEXT_CHARS = 200;

/** Reads the file through the sandbox, and again where the whole file is needed and the first read cut it. */
export async function readEvidence(
  plan: ReadPlan,
  readTextFile: PipelineDependencies["readTextFile"],
  trace: RunTrace,
): Promise<Reading | Refusal> {
  const first = await recordedRead(plan, plan.firstReadChars, { readTextFile, trace });
  if (first.kind === "refused" || !first.truncated || plan.fullReadChars === null) return first;
  if (plan.fullReadChars <= plan.firstReadChars) return first;
  const full = await recordedRead(plan, plan.fullReadChars, { readTextFile, trace });
  if (full.kind === "refused" || full.sha256 === first.sha256) return full;
  return refuse("EVIDENCE_INVALID", `${plan.path} changed while it was read. Run the job again.`);
}

async function recordedRead(
  { path, lookup, args, trailingText }: ReadPlan,
  maxChars: number,
  { readTextFile, trace }: Pick<PipelineDependencies, "readTextFile"> & { trace: RunTrace },
): Promise<Reading | Refusal> {
  const startedAt = performance.now();
  const reading = await inToolSpan(
    READ_TOOL,
    (read: Reading | Refusal) => (read.kind === "refused" ? read.code : null),
    () => readTextFile({ path, lookup, maxChars }),
  );
  trace.toolCall({
    name: READ_TOOL,
    args: { ...cleanRecord(args), path: cleanText(path), max_chars: maxChars },
    ...outcomeOf(reading),
    trailingText:
      trailingText === "" ? null : cleanText(trailingText.slice(0, TRAILING_TEXT_CHARS)),
    durationMs: performance.now() - startedAt,
  });
  return reading;
}

function outcomeOf(reading: Reading | Refusal): {
  errorCode: string | null;
  errorMessage: string | null;
  result: Record<string, unknown> | null;
} {
  if (reading.kind === "refused") {
    return { errorCode: reading.code, errorMessage: cleanText(reading.message), result: null };
  }
  const { path, sha256, bytes, charsFull, charsReturned, truncated } = reading;
  return {
    errorCode: null,
    errorMessage: null,
    result: {
      path: cleanText(path),
      sha256,
      bytes,
      chars_full: charsFull,
      chars_returned: charsReturned,
      truncated,
    },
  };
}

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
  const reading = await trace.step("tool_call", () => readOnce(path, deps, trace));
  if (reading.kind === "refused") return reading;
  const refusal = await trace.step("gate", () => gateWhole(reading, deps, trace));
  return refusal ?? reading;
}

const readOnce = (
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

function gateWhole(reading: Reading, deps: PipelineDependencies, trace: RunTrace): Refusal | null {
  const refusal = gateReading(reading, "whole_file");
  const verdict = refusal === null ? ADMITTED : rejected(refusal.code);
  trace.evidence([filePiece(reading, verdict, deps.previewChars)]);
  trace.detail("gate", { verdict: refusal?.code ?? "admitted", file: refusal === null });
  return refusal;
}
