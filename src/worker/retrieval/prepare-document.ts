import { hash } from "node:crypto";
import { posix } from "node:path";
import type { ChunkToWrite, DocumentToWrite } from "../../shared/db/index/write-documents.ts";
import { cleanForDatabase } from "../../shared/terminal-text.ts";
import { countCodePoints } from "../sandbox/code-points.ts";
import { chunkKey } from "./chunk-key.ts";
import { type Chunk, chunkText, type ChunkSettings, type TextFormat } from "./chunk/chunk-text.ts";
import { shortenTitle } from "./chunk/shorten-title.ts";
import { type Frontmatter, readFrontmatter } from "./frontmatter.ts";
import { searchableText } from "./searchable-text.ts";

export type ReadDocument = {
  readonly kind: "document";
  readonly source: string;
  /** Relative to the work root. */
  readonly path: string;
  readonly bytes: Buffer;
  /** The bytes, decoded. */
  readonly text: string;
  readonly sha256: string;
  readonly facts: DocumentToWrite["facts"];
  readonly settled: boolean;
};

/** Everything that is stored of a document: title, metadata and chunks with their keys. Pure. */
export function prepareDocument(document: ReadDocument, settings: ChunkSettings): DocumentToWrite {
  const { path, text, bytes, sha256, facts, settled } = document;
  const format = formatOf(path, text);
  const frontmatter: Frontmatter =
    format === "markdown"
      ? readFrontmatter(text)
      : { state: "absent", json: null, firstLine: 0, title: null };
  const chunked = chunkText(text, format, frontmatter.firstLine, settings);
  const title = titleOf(frontmatter.title ?? chunked.title);
  return {
    path,
    sha256,
    chars: countCodePoints(text, bytes),
    facts,
    settled,
    title,
    metadataState: frontmatter.state,
    metadata: frontmatter.json,
    chunks: nameChunks(chunked.chunks, { source: document.source, path, title }),
  };
}

/** YAML can spell what neither Postgres nor a terminal takes. */
function titleOf(title: string | null): string | null {
  const clean = cleanForDatabase(shortenTitle(title ?? ""));
  return clean === "" ? null : clean;
}

function nameChunks(
  chunks: readonly Chunk[],
  document: { readonly source: string; readonly path: string; readonly title: string | null },
): ChunkToWrite[] {
  const seen = new Map<string, number>();
  return chunks.map((chunk) => {
    const sha256 = hash("sha256", chunk.text, "hex");
    const name = { ...document, headingPath: chunk.headingPath, sha256 };
    const twin = chunkKey({ ...name, occurrence: 0 });
    const occurrence = seen.get(twin) ?? 0;
    seen.set(twin, occurrence + 1);
    return {
      ...chunk,
      sha256,
      key: occurrence === 0 ? twin : chunkKey({ ...name, occurrence }),
      searchable: searchableText(chunk, document),
    };
  });
}

function formatOf(path: string, text: string): TextFormat {
  const extension = posix.extname(path).toLowerCase();
  if (extension === ".md" || extension === ".markdown") return "markdown";
  return extension === ".json" && isJson(text) ? "json" : "plain";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
    return true;
  } catch {
    return false;
  }
}
