import { posix } from "node:path";
import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { FileRules } from "./policy.ts";

/** Refuses characters that no path may hold, requested or on disk, because they can disguise a path. */
export function checkCharacters(path: string): Refusal | null {
  if (/[\p{Cc}\p{Cs}]/u.test(path)) {
    return refuse(
      "PATH_DENIED",
      `${quotePath(path)} holds a control character or half a surrogate pair: rename the file.`,
    );
  }
  if (path.includes("\\")) {
    return refuse(
      "PATH_DENIED",
      `${quotePath(path)} holds a backslash: separate folders with "/", and rename a file that has one.`,
    );
  }
  return null;
}

/** An extension that YAML takes without quotes. */
const USUAL = /^\.[a-z0-9_-]{1,15}$/;

/**
 * The extension and hidden rules for a path relative to its root, requested or real. The extension is the part
 * from the last dot of the file's name, in lower case; a part that starts with a dot is hidden.
 */
export function checkName(relativePath: string, rules: FileRules): Refusal | null {
  const extension = posix.extname(relativePath).toLowerCase();
  if (rules.extensions !== "any" && !rules.extensions.has(extension)) {
    const allowed = [...rules.extensions];
    const remedy = USUAL.test(extension)
      ? `to have it read as text, in nightdesk.yaml: security: { allowed_exts: [${[...allowed, extension].join(", ")}] }`
      : `security.allowed_exts allows ${allowed.join(" ")}.`;
    return refuse(
      "PATH_DENIED",
      `${quotePath(relativePath)} has ${extension === "" ? "no extension" : "an extension that is not allowed"}: ${remedy}`,
    );
  }
  if (rules.hidden === "deny" && /(^|\/)\./.test(relativePath)) {
    return refuse(
      "PATH_DENIED",
      `${quotePath(relativePath)} is hidden (a part starts with "."): security.deny_hidden_paths is on.`,
    );
  }
  return null;
}

const longest = 160;

/**
 * Formats a path for a message: quoted, with control, format (bidirectional overrides) and private
 * characters and lone surrogates as `\u{…}`, and cut in the middle if longer than 160 UTF-16 units.
 */
export function quotePath(path: string): string {
  const shown =
    path.length <= longest ? path : `${path.slice(0, longest / 2)}…${path.slice(-longest / 2)}`;
  const escaped = shown.replace(
    /[\p{C}\u2028\u2029"]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
  return `"${escaped}"`;
}

const missing = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]);
const forbidden = new Set(["EACCES", "EPERM"]);
const exhausted = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

/** Whether an error comes from a call of the operating system. */
export const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  typeof error === "object" && error !== null && "code" in error && "syscall" in error;

/**
 * Converts an error of the file system to a refusal: FILE_NOT_FOUND or FILE_READ_ERROR. Throws TOOL_ERROR if
 * the machine is out of descriptors or memory, and rethrows an error that is no system error.
 */
export function refuseSystemError(error: unknown, path: string): Refusal {
  if (!isSystemError(error)) throw error;
  const code = String(error.code);
  const quoted = quotePath(path);
  if (missing.has(code)) {
    const why = { ELOOP: " (its links form a loop)", ENAMETOOLONG: " (the name is too long)" }[
      code
    ];
    return refuse("FILE_NOT_FOUND", `There is no file ${quoted}${why ?? ""}.`);
  }
  if (exhausted.has(code)) {
    throw new Failure("TOOL_ERROR", `${quoted} can't be opened now (${code}): raise ulimit -n.`, {
      cause: error,
    });
  }
  const remedy = forbidden.has(code)
    ? "give the worker's user the right to read it"
    : "check the disk";
  return refuse("FILE_READ_ERROR", `${quoted} can't be read (${code}): ${remedy}.`);
}
