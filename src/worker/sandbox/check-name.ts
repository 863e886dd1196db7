import { posix } from "node:path";
import { refuse, type Refusal } from "../../shared/failure.ts";
import type { FileRules } from "./policy.ts";
import { quotePath } from "./quote-path.ts";

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
