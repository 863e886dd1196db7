import { Failure, refuse, type Refusal } from "../../shared/failure.ts";
import { quotePath } from "./quote-path.ts";

const missing = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]);
const forbidden = new Set(["EACCES", "EPERM"]);
const exhausted = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

/** An error that a call of the operating system gave. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  typeof error === "object" && error !== null && "code" in error && "syscall" in error;

/**
 * What an error of the file system means for a file: FILE_NOT_FOUND or FILE_READ_ERROR. Throws TOOL_ERROR when
 * the machine is out of descriptors or memory, and anything that is no system error as it is.
 */
export function refuseSystemError(error: unknown, path: string): Refusal {
  if (!isSystemError(error)) throw error;
  const code = String(error.code);
  const asked = quotePath(path);
  if (missing.has(code)) {
    const why = { ELOOP: " (its links form a loop)", ENAMETOOLONG: " (the name is too long)" }[
      code
    ];
    return refuse("FILE_NOT_FOUND", `There is no file ${asked}${why ?? ""}.`);
  }
  if (exhausted.has(code)) {
    throw new Failure("TOOL_ERROR", `${asked} can't be opened now (${code}): raise ulimit -n.`, {
      cause: error,
    });
  }
  const remedy = forbidden.has(code)
    ? "give the worker's user the right to read it"
    : "check the disk";
  return refuse("FILE_READ_ERROR", `${asked} can't be read (${code}): ${remedy}.`);
}
