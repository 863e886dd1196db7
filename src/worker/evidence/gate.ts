import { hash } from "node:crypto";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { AskInput } from "../../shared/job/job.ts";
import { UTF8 } from "../documents/formats/utf8.ts";
import type { Classification } from "../question/classify-question.ts";
import { countCodePoints, firstCodePoints } from "../text/clean-text.ts";
import { isNamed } from "../text/match-path.ts";
import { snapshotHash } from "./retrieve.ts";
import type { Snapshot } from "./retrieve.ts";
import type { AdmittedEvidence, Passage, Reading } from "./types.ts";

export type GateInput = {
  readonly classification: Classification;
  /** In reading order, each file once. */
  readonly readings: readonly Reading[];
  readonly snapshot: Snapshot;
  /** Passages of a named file that was cut, by position. */
  readonly ownPassages?: readonly Passage[];
  /** Code points that several files together may bring into an answer. */
  readonly mostChars: number;
};

/**
 * Decides which evidence the answer may rest on, or refuses; the model is never asked to guess. Pure.
 *
 * Refusals: EVIDENCE_INVALID (a piece contradicts itself), FILE_EMPTY, EVIDENCE_TRUNCATED (a file that is needed whole was cut,
 * or several files, which are all needed whole, are too long together), EVIDENCE_NOT_ACQUIRED (nothing admissible was read).
 */
export function gateEvidence(input: GateInput): AdmittedEvidence | Refusal {
  const { classification, readings, snapshot } = input;
  const need = readings.length > 1 ? "whole_file" : classification.need;
  for (const reading of readings) {
    const refusal = gateReading(reading, need);
    if (refusal !== null) return refusal;
  }
  if (classification.need !== "passages") return gateNamedFiles(input);
  if (readings.length === 0 && snapshot.passages.length === 0) return nothingFound();
  const fresh = snapshot.passages.filter(
    (passage) => !readings.some((reading) => isStale(passage, reading)),
  );
  return admit(readings, fresh);
}

/**
 * Where the question names files, all of them must have been read: passages never replace a file. A file that was cut is
 * admitted with its beginning and its own passages from behind the beginning.
 */
function gateNamedFiles(input: GateInput): AdmittedEvidence | Refusal {
  const { classification, readings, ownPassages = [] } = input;
  const { namedFiles } = classification;
  const unread = namedFiles.filter((named) => !readings.some(({ path }) => isNamed(path, [named])));
  if (unread.length === namedFiles.length) return nothingRead(shortenNames(namedFiles));
  if (unread.length > 0) {
    const read = shortenNames(readings.map(({ path }) => path));
    return refuse(
      "EVIDENCE_NOT_ACQUIRED",
      `${read} was read, and ${shortenNames(unread)} was not. Spell the names as they are on disk.`,
    );
  }
  const beyond = ownPassages.filter((passage) => isBeyond(passage, readings));
  return tooLongTogether(input) ?? admit(readings, beyond);
}

/** Several files are admitted whole or not at all: the answer would not show that one of them was cut. */
function tooLongTogether({ readings, mostChars }: GateInput): Refusal | null {
  const chars = readings.reduce((total, { charsReturned }) => total + charsReturned, 0);
  const [longest, ...others] = readings.toSorted((a, b) => b.charsReturned - a.charsReturned);
  if (chars <= mostChars || longest === undefined || others.length === 0) return null;
  return refuse(
    "EVIDENCE_TRUNCATED",
    `The ${readings.length} files hold ${chars} characters together, ${longest.path} alone ${longest.charsReturned}, ` +
      `and an answer takes in ${mostChars} of them. Raise ask.max_chars_full_read, or name fewer files.`,
  );
}

/** Whether a passage reaches beyond the part of its file that was read. */
export const isBeyond = (
  { path, endChar }: Pick<Passage, "path" | "endChar">,
  readings: readonly Pick<Reading, "path" | "charsReturned">[],
): boolean => readings.some((reading) => reading.path === path && endChar > reading.charsReturned);

/** Whether a passage was indexed from other bytes, or by another extractor, than the reading of the same file in this run. */
export const isStale = (
  { path, sha256, extractor }: Pick<Passage, "path" | "sha256" | "extractor">,
  reading: Pick<Reading, "path" | "sha256" | "extractor">,
): boolean =>
  path === reading.path && (sha256 !== reading.sha256 || extractor !== reading.extractor);

function admit(
  files: readonly Reading[],
  passages: readonly Passage[],
): AdmittedEvidence | Refusal {
  for (const passage of passages) {
    const broken = brokenPassage(passage);
    if (broken === null) continue;
    return refuse("EVIDENCE_INVALID", `A passage of ${passage.path} is not valid: ${broken}.`);
  }
  return { kind: "admitted", files, passages, snapshotHash: snapshotHash(passages) };
}

/** Limits names in a message: a question of a megabyte may hold one name of that length, or thousands of names. */
function shortenNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => firstCodePoints(name, MOST_NAME_CHARS));
  const rest = names.length - shown.length;
  return shown.join(", ") + (rest === 0 ? "" : ` and ${rest} more`);
}

const MOST_NAMES = 5;
const MOST_NAME_CHARS = 200;

export const nothingFound = (): Refusal =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    "No passage of the index fits the question. Index the documents, or name the file to read.",
  );

const indexEmpty = (): Refusal =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    "The index is empty, so that nothing was read. Run: nightdesk index, or name the file to read.",
  );

/** The refusal where the index holds no document within the limits of the question, or no document at all. */
export function nothingAllowed({
  path_prefix: path,
  ...others
}: AskInput["options"] = {}): Refusal {
  const limits = [
    ...(path === undefined ? [] : [`path ${JSON.stringify(path)}`]),
    ...(["source", "where", "since", "until"] as const)
      .filter((name) => others[name] !== undefined)
      .map((name) => `${name} ${JSON.stringify(others[name])}`),
  ].map((limit) => firstCodePoints(limit, MOST_NAME_CHARS));
  if (limits.length === 0) return indexEmpty();
  return refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `The index holds no document within ${limits.join(", ")}. Paths begin at the work root; ` +
      '`nightdesk sql "select path, source from documents limit 20"` shows some.',
  );
}

const nothingRead = (files: string): Refusal =>
  refuse(
    "EVIDENCE_NOT_ACQUIRED",
    `The question needs ${files}, and it was not read: the model did not ask for it. Ask with its whole path.`,
  );

/** Checks a reading against the evidence contract, and against the need. Null when it meets both. */
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

/** Names how a reading contradicts itself, or null. */
function brokenReading(reading: Reading): string | null {
  const { path, sha256, textSha256, bytes, charsFull, charsReturned, truncated, text } = reading;
  const isBytes = sha256 === textSha256;
  if (path === "") return "its path is missing";
  if (![sha256, textSha256].every((hash) => /^[0-9a-f]{64}$/.test(hash)))
    return "its sha256 is not 64 hex digits";
  if (reading.extractor === UTF8.version && !isBytes) return "its text is not its bytes";
  if (![bytes, charsFull, charsReturned].every(isCount)) return "its counts are not whole numbers";
  if (isBytes && charsFull > bytes) return "it holds more characters than bytes";
  if (charsReturned > charsFull) return "more characters were read than the file has";
  if (truncated !== charsReturned < charsFull) return "truncated contradicts the counts";
  if (countCodePoints(text) !== charsReturned) return "the text is not as long as it says";
  if (!truncated && hash("sha256", text) !== textSha256)
    return "its sha256 is not that of its text";
  return null;
}

/** Names how a passage contradicts itself, or null. */
function brokenPassage(passage: Passage): string | null {
  const { chunkKey, path, sha256, docChars, startChar, endChar, text, score } = passage;
  if (chunkKey === "" || path === "") return "its key or path is missing";
  if (!/^[0-9a-f]{64}$/.test(sha256)) return "its sha256 is not 64 hex digits";
  if (![docChars, startChar, endChar].every(isCount)) return "its offsets are not whole numbers";
  if (countCodePoints(text) !== endChar - startChar)
    return "its text is not as long as its offsets say";
  if (endChar > docChars) return "it ends behind its document";
  const { lineStart, lineEnd } = passage;
  if (!isCount(lineStart) || !isCount(lineEnd) || lineStart < 1 || lineEnd < lineStart)
    return "its last line is before its first";
  return Number.isFinite(score) ? null : "its score is not a number";
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
