import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { posix } from "node:path";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { decodeText } from "../sandbox/names.ts";

/** Rules in gitignore syntax for the folder that holds it and all below. */
export const IGNORE_FILE = ".nightdeskignore";

/** Of all that hold in a folder together, since each name in it is compared with each of their characters. */
export const MOST_BYTES_OF_RULES = 65_536;
// A link could lead anywhere, and a FIFO planted there would never end.
const OPEN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * The patterns of a folder's ignore file, one a line. Refused when it can't be read or trusted: what it would leave
 * out is not known then.
 * @param folder absolute
 * @param shown the file's path for messages
 * @param mostBytes what the files of the folders above leave of MOST_BYTES_OF_RULES
 */
export function readIgnoreFile(
  folder: string,
  shown: string,
  mostBytes: number,
): readonly string[] | Refusal {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(posix.join(folder, IGNORE_FILE), OPEN);
    if (!fstatSync(descriptor).isFile()) return refuseFile(shown, "is no regular file");
    const buffer = Buffer.allocUnsafe(mostBytes + 1);
    const bytes = readSync(descriptor, buffer, 0, buffer.length, 0);
    if (bytes > mostBytes) return refuseFile(shown, tooLong(mostBytes));
    const decoded = decodeText(buffer.subarray(0, bytes));
    return decoded.kind === "text" ? linesOf(decoded.text) : refuseFile(shown, decoded.why);
  } catch {
    return refuseFile(shown, "can't be read");
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** A line ends as one of Unix or of Windows does. */
const linesOf = (text: string): readonly string[] => text.replace(/^\uFEFF/, "").split(/\r?\n/);

const tooLong = (mostBytes: number): string =>
  mostBytes === MOST_BYTES_OF_RULES
    ? `is over ${MOST_BYTES_OF_RULES} bytes`
    : `is over ${MOST_BYTES_OF_RULES} bytes together with those of the folders above it`;

const refuseFile = (shown: string, why: string): Refusal =>
  refuse(
    "FILE_READ_ERROR",
    `"${shown}" ${why}, so its folder is left as it was: mend or remove the file.`,
  );
