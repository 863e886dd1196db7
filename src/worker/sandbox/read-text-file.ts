import { createHash } from "node:crypto";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { checkPath, checkMaxChars } from "./check-arguments.ts";
import { countCodePoints, firstCodePoints } from "./code-points.ts";
import { decodeText } from "./decode-text.ts";
import { findFile, type Named } from "./find-file.ts";
import { quotePath } from "./quote-path.ts";
import { readBytes } from "./read-bytes.ts";
import type { Search } from "./search.ts";

/** What the tool `read_text_file` gives. Characters are Unicode code points. */
export type Reading =
  | {
      readonly kind: "read";
      /** Relative to the security root, as spelled on disk. */
      readonly path: string;
      /** Lower-case hex, of the file's bytes: `sha256sum` confirms it. */
      readonly sha256: string;
      readonly bytes: number;
      readonly charsFull: number;
      readonly charsReturned: number;
      readonly truncated: boolean;
      /** The first `charsReturned` characters; a byte order mark is the first of them. */
      readonly text: string;
    }
  | Refusal;

export type ReadArguments = Named & {
  /** In code points. */
  readonly maxChars: number;
};

/** Finds, opens and reads a file as text: all the checks of policy.ts. */
export async function readTextFile(
  search: Search,
  { path, maxChars, lookup }: ReadArguments,
): Promise<Reading> {
  const invalid = checkPath(path) ?? checkMaxChars(maxChars);
  if (invalid !== null) return invalid;
  const { descriptors, rules } = search.ground;
  const found = await findFile(search, { path, lookup }, (file): Reading => {
    const bytes = descriptors.withReadable(file.descriptor, (readable) =>
      readBytes(file, readable, rules.maxBytes),
    );
    return Buffer.isBuffer(bytes) ? describeText(file.path, bytes, maxChars) : bytes;
  });
  return found.kind === "refused" ? found : found.value;
}

function describeText(path: string, bytes: Buffer, maxChars: number): Reading {
  const decoded = decodeText(bytes);
  if (decoded.kind === "binary") {
    return refuse("FILE_READ_ERROR", `${quotePath(path)} ${decoded.why}: save it as UTF-8 text.`);
  }
  const charsFull = countCodePoints(decoded.text, bytes);
  const truncated = charsFull > maxChars;
  return {
    kind: "read",
    path,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    bytes: bytes.length,
    charsFull,
    charsReturned: truncated ? maxChars : charsFull,
    truncated,
    text: truncated ? firstCodePoints(decoded.text, maxChars) : decoded.text,
  };
}
