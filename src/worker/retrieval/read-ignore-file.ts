import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { posix } from "node:path";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { decodeText } from "../sandbox/decode-text.ts";

/** Rules in gitignore syntax for the folder that holds it and all below. */
export const IGNORE_FILE = ".nightdeskignore";

const MAX_BYTES = 65_536;
// A link could lead anywhere, and a FIFO planted there would never end.
const OPEN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The patterns of a folder's ignore file, one a line. Refused when it can't be read or trusted: what it would leave
 * out is not known then.
 * @param folder absolute
 * @param shown the file's path for messages
 */
export function readIgnoreFile(folder: string, shown: string): readonly string[] | Refusal {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(posix.join(folder, IGNORE_FILE), OPEN);
    if (!fstatSync(descriptor).isFile()) return refuseFile(shown, "is no regular file");
    const buffer = Buffer.allocUnsafe(MAX_BYTES + 1);
    const bytes = readSync(descriptor, buffer, 0, buffer.length, 0);
    if (bytes > MAX_BYTES) return refuseFile(shown, `is over ${MAX_BYTES} bytes`);
    const decoded = decodeText(buffer.subarray(0, bytes));
    return decoded.kind === "text"
      ? checkPatterns(decoded.text, shown)
      : refuseFile(shown, decoded.why);
  } catch {
    return refuseFile(shown, "can't be read");
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Each `*` can match any number of characters: a name could be tried in as many ways as the power of their number. */
const MOST_STARS = 3;

function checkPatterns(text: string, shown: string): readonly string[] | Refusal {
  const patterns = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const greedy = patterns.findIndex(isGreedy);
  if (greedy === -1) return patterns;
  return refuseFile(shown, `has more than ${MOST_STARS} * in one name, on line ${greedy + 1}`);
}

const isGreedy = (pattern: string): boolean =>
  pattern.split("/").some((part) => part !== "**" && part.split("*").length - 1 > MOST_STARS) ||
  pattern.split("**").length - 1 > MOST_STARS;

const refuseFile = (shown: string, why: string): Refusal =>
  refuse(
    "FILE_READ_ERROR",
    `"${shown}" ${why}, so its folder is left as it was: mend or remove the file.`,
  );
