import { hash } from "node:crypto";
import { posix } from "node:path";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { decodeText } from "../sandbox/decode-text.ts";
import type { IndexSource } from "./bind-sources.ts";
import { factsOf, type ListedFile } from "./list-files.ts";
import type { ReadDocument } from "./prepare-document.ts";

/** Reads one listed file through the sandbox, or says why it can't be indexed. */
export async function readDocument(
  source: IndexSource,
  { relativePath }: ListedFile,
): Promise<ReadDocument | Refusal> {
  const file = await source.read(relativePath);
  if (file.kind === "refused") return file;
  const path = posix.join(source.label, relativePath);
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
  };
}
