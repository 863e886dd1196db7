import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { isNamed } from "./check-tool-call-path.ts";
import type { Classification } from "./classify-question.ts";
import { countCodePoints } from "./code-points.ts";
import type { Passage, Reading } from "./pipeline-dependencies.ts";
import { snapshotHash } from "./retrieve.ts";
import type { Snapshot } from "./retrieve.ts";

/** What an answer may rest on. The snapshot hash is of the admitted passages. */
export type AdmittedEvidence = {
  readonly kind: "admitted";
  readonly file: Reading | null;
  readonly passages: readonly Passage[];
  readonly snapshotHash: string;
};

export type GateInput = {
  readonly classification: Classification;
  readonly reading: Reading | null;
  readonly snapshot: Snapshot;
};

/**
 * Decides what evidence the answer may rest on, or refuses; the model is never asked to guess. Pure.
 *
 * Refusals: EVIDENCE_INVALID (a piece contradicts itself), FILE_EMPTY, EVIDENCE_TRUNCATED (the whole file is
 * needed and was cut), EVIDENCE_NOT_ACQUIRED (nothing admissible was read).
 */
export function gateEvidence(input: GateInput): AdmittedEvidence | Refusal {
  const { classification, reading, snapshot } = input;
  if (reading !== null) {
    const refusal = gateReading(reading, classification.need);
    if (refusal !== null) return refusal;
  }
  if (classification.need !== "passages") return gateNamedFiles(input);
  if (reading === null && snapshot.passages.length === 0) return nothingRead("");
  return admit(reading, snapshot.passages);
}

/**
 * Where the question names files, one of them must have been read; a further one may be there by its passages,
 * unless whole files are needed. Passages of other documents do not count.
 */
function gateNamedFiles({
  classification,
  reading,
  snapshot,
}: GateInput): AdmittedEvidence | Refusal {
  const { need, namedFiles } = classification;
  const unread = namedFiles.filter((named) => reading === null || !isNamed(reading.path, [named]));
  if (reading === null || unread.length === namedFiles.length)
    return nothingRead(namedFiles.join(", "));
  const passages =
    need === "whole_file" ? [] : snapshot.passages.filter(({ path }) => isNamed(path, unread));
  const missing = unread.filter((named) => !passages.some(({ path }) => isNamed(path, [named])));
  if (missing.length > 0) {
    return refuse(
      "EVIDENCE_NOT_ACQUIRED",
      `One run reads one file: ${reading.path} was read, and ${missing.join(", ")} was not. ` +
        `Ask about each on its own.`,
    );
  }
  return admit(reading, passages);
}

function admit(file: Reading | null, passages: readonly Passage[]): AdmittedEvidence | Refusal {
  for (const passage of passages) {
    const broken = brokenPassage(passage);
    if (broken === null) continue;
    return refuse("EVIDENCE_INVALID", `A passage of ${passage.path} is not valid: ${broken}.`);
  }
  return { kind: "admitted", file, passages, snapshotHash: snapshotHash(passages) };
}

const nothingRead = (files: string): Refusal =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    files === ""
      ? "No passage of the index fits the question. Index the documents, or name the file to read."
      : `The question needs ${files}, and the model did not read it.`,
  );

/** The evidence contract of a file, and what the need asks on top. Null when it is met. */
export function gateReading(reading: Reading, need: Classification["need"]): Refusal | null {
  const broken = brokenReading(reading);
  if (broken !== null) {
    return refuse("EVIDENCE_INVALID", `The evidence from ${reading.path} is not valid: ${broken}.`);
  }
  if (reading.text.trim() === "") {
    return refuse("FILE_EMPTY", `${reading.path} holds no text. Name a file with text in it.`);
  }
  if (need === "whole_file" && reading.truncated) {
    return refuse(
      "EVIDENCE_TRUNCATED",
      `The whole of ${reading.path} is needed, and ${reading.charsReturned} of its ${reading.charsFull} ` +
        `characters were read. Raise ask.max_chars_full_read.`,
    );
  }
  return null;
}

function brokenReading(reading: Reading): string | null {
  const { path, sha256, charsFull, charsReturned, truncated, text } = reading;
  if (path === "") return "its path is missing";
  if (!/^[0-9a-f]{64}$/.test(sha256)) return "its sha256 is not 64 hex digits";
  if (!isCount(charsFull) || !isCount(charsReturned)) return "its counts are not whole numbers";
  if (charsReturned > charsFull) return "more characters came than it holds";
  if (truncated !== charsReturned < charsFull) return "truncated contradicts the counts";
  if (countCodePoints(text) !== charsReturned) return "the text is not as long as it says";
  return null;
}

function brokenPassage({
  chunkKey,
  path,
  sha256,
  startChar,
  endChar,
  text,
}: Passage): string | null {
  if (chunkKey === "" || path === "") return "its key or path is missing";
  if (!/^[0-9a-f]{64}$/.test(sha256)) return "its sha256 is not 64 hex digits";
  if (!isCount(startChar) || !isCount(endChar)) return "its offsets are not whole numbers";
  if (countCodePoints(text) !== endChar - startChar)
    return "its text is not as long as its offsets say";
  return null;
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
