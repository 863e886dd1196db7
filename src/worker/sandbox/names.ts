import { isUtf8 } from "node:buffer";
import { posix } from "node:path";
import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { FileRules } from "./policy.ts";

/** Characters that no path may hold, asked for or found on disk: they hide what a path is. */
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

/**
 * The extension and hidden rules for a path relative to its root, asked for or real. The extension is what
 * follows the last dot of the file's name, in lower case; hidden is any part that starts with a dot.
 */
export function checkName(relativePath: string, rules: FileRules): Refusal | null {
  const extension = posix.extname(relativePath).toLowerCase();
  if (rules.extensions !== "any" && !rules.extensions.has(extension)) {
    const allowed = [...rules.extensions].join(" ");
    return refuse(
      "PATH_DENIED",
      `${quotePath(relativePath)} has ${extension === "" ? "no extension" : "an extension that is not allowed"}: ` +
        `security.allowed_exts allows ${allowed}.`,
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
 * A path as it may stand in a message: quoted, with control, format (bidirectional overrides) and private
 * characters and lone surrogates as `\u{…}`, and cut in the middle when longer than 160 UTF-16 units.
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

/**
 * Bytes as text, strictly UTF-8, or what is wrong with them. A byte order mark stays the first character, and
 * line ends stay as they are, so that offsets into the text are offsets into the file.
 */
export function decodeText(
  bytes: Buffer,
):
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "binary"; readonly why: string } {
  if (bytes.length >= 2 && [0xfeff, 0xfffe].includes(bytes.readUInt16BE(0))) {
    return { kind: "binary", why: "starts with the byte order mark of UTF-16 or UTF-32" };
  }
  const nul = bytes.indexOf(0);
  if (nul !== -1) return { kind: "binary", why: `holds a NUL at byte ${nul}, so it is not text` };
  const text = bytes.toString("utf8");
  if (isUtf8(bytes)) return { kind: "text", text };
  return { kind: "binary", why: `is not UTF-8 at byte ${findBadByte(bytes, text)}` };
}

/** Offset of the first byte that was replaced: a U+FFFD in the text which the file does not hold itself. */
function findBadByte(bytes: Buffer, text: string): number {
  const mark = Buffer.from("\uFFFD");
  let offset = 0;
  let from = 0;
  for (;;) {
    const index = text.indexOf("\uFFFD", from);
    offset += Buffer.byteLength(text.slice(from, index));
    if (!bytes.subarray(offset, offset + mark.length).equals(mark)) return offset;
    offset += mark.length;
    from = index + 1;
  }
}

/** The number of Unicode code points of a text, given the UTF-8 bytes it was decoded from. */
export function countCodePoints(text: string, utf8: Buffer): number {
  if (text.length === utf8.length) return text.length;
  // Only code points beyond U+FFFF take two UTF-16 units, and only they start with a byte from F0.
  let pairs = 0;
  for (const byte of utf8) if (byte >= 0xf0) pairs += 1;
  return text.length - pairs;
}
