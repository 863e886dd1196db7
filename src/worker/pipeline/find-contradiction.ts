import { createHash } from "node:crypto";
import { countCodePoints } from "./text/code-points.ts";
import type { Passage, Reading } from "../evidence/types.ts";

/** What of a reading contradicts itself, or null. */
export function brokenReading(reading: Reading): string | null {
  const { path, sha256, bytes, charsFull, charsReturned, truncated, text } = reading;
  if (path === "") return "its path is missing";
  if (!/^[0-9a-f]{64}$/.test(sha256)) return "its sha256 is not 64 hex digits";
  if (![bytes, charsFull, charsReturned].every(isCount)) return "its counts are not whole numbers";
  if (charsFull > bytes) return "it holds more characters than bytes";
  if (charsReturned > charsFull) return "more characters came than it holds";
  if (truncated !== charsReturned < charsFull) return "truncated contradicts the counts";
  if (countCodePoints(text) !== charsReturned) return "the text is not as long as it says";
  if (!truncated && hashOf(text) !== sha256) return "its sha256 is not that of its text";
  return null;
}

/** A file that was read whole is its text: the sandbox takes nothing but strict UTF-8. */
const hashOf = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

/** What of a passage contradicts itself, or null. */
export function brokenPassage(passage: Passage): string | null {
  const { chunkKey, path, sha256, docChars, startChar, endChar, text, score } = passage;
  if (chunkKey === "" || path === "") return "its key or path is missing";
  if (!/^[0-9a-f]{64}$/.test(sha256)) return "its sha256 is not 64 hex digits";
  if (![docChars, startChar, endChar].every(isCount)) return "its offsets are not whole numbers";
  if (countCodePoints(text) !== endChar - startChar)
    return "its text is not as long as its offsets say";
  if (endChar > docChars) return "it ends behind its document";
  const { lineStart, lineEnd } = passage;
  if (!isCount(lineStart) || !isCount(lineEnd) || lineStart < 1 || lineEnd < lineStart)
    return "its lines run backwards";
  return Number.isFinite(score) ? null : "its score is not a number";
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0;
