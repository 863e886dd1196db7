import { hash } from "node:crypto";
import { posix } from "node:path";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { decodeText, quotePath } from "../sandbox/names.ts";
import type { IndexSource } from "./bind-sources.ts";
import { factsOf, type ListedFile } from "./list-files.ts";
import { isTooLong, storablePath } from "./long-path.ts";
import { hasLostBytes } from "./lost-bytes.ts";
import type { ReadDocument } from "./prepare-document.ts";

/** The coarsest clock of a file system in use: a write within it may leave the times of the write before. */
const CLOCK_STEP_MS = 2_000;

/** A name that is not UTF-8 was listed, and can't be found again by what it was decoded to. */
const withLostBytes = (refusal: Refusal, path: string): Refusal =>
  refusal.code === "FILE_NOT_FOUND" && hasLostBytes(path)
    ? refuse("PATH_DENIED", `${quotePath(path)} has a name that is not UTF-8: rename the file.`)
    : refusal;

/** Reads one listed file through the sandbox, or says why it can't be indexed. */
export async function readDocument(
  source: IndexSource,
  { relativePath }: ListedFile,
): Promise<ReadDocument | Refusal> {
  const path = posix.join(source.label, relativePath);
  if (isTooLong(path)) {
    return refuse(
      "FILE_READ_ERROR",
      `"${storablePath(path)}" is too long a path: 2,000 bytes fit.`,
    );
  }
  const readAt = Date.now();
  const file = await source.read(relativePath);
  if (file.kind === "refused") return withLostBytes(file, path);
  // A link may lead elsewhere in the same allowed root, and still out of the source.
  if (source.label !== "" && !file.path.startsWith(`${source.label}/`)) {
    return refuse("PATH_DENIED", `"${path}" is a link that leads out of source "${source.name}".`);
  }
  const decoded = decodeText(file.bytes);
  if (decoded.kind === "binary") {
    return refuse("FILE_READ_ERROR", `"${path}" ${decoded.why}: save it as UTF-8 text.`);
  }
  return {
    kind: "document",
    source: source.name,
    path,
    bytes: file.bytes,
    text: decoded.text,
    sha256: hash("sha256", file.bytes, "hex"),
    facts: factsOf(file.stat),
    // Every write sets ctime, and nobody can set it back.
    settled: Number(file.stat.ctimeNs / 1_000_000n) < readAt - CLOCK_STEP_MS,
  };
}
