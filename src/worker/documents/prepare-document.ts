import { hash } from "node:crypto";
import { sketchText, sketchToHex } from "../../shared/files/near-duplicates.ts";
import { foldSharpS } from "../../shared/text/normalise-text.ts";
import { chunkProof } from "../../shared/store/index/totals.ts";
import type { Vocabulary } from "../../shared/store/index/vocabulary.ts";
import type { ChunkToWrite, DocumentToWrite } from "../../shared/store/index/write-documents.ts";
import { cleanForDatabase } from "../../shared/terminal/styled-text.ts";
import { familyKey, supersededPaths } from "../../shared/files/version-family.ts";
import { countCodePoints } from "../text/clean-text.ts";
import { searchableTextOf } from "../text/searchable-text.ts";
import { secretsIn } from "../text/secrets.ts";
import type { SearchableDocument } from "../text/searchable-text.ts";
import { chunkText } from "./chunk-text.ts";
import type { Chunk, ChunkSettings } from "./chunk-text.ts";
import { shortenTitle } from "./cut-span.ts";
import type { FileMetadata } from "./extraction.ts";
import { datesOf } from "./document-date.ts";
import { formatOf } from "./formats/registry.ts";
import { withFileMetadata } from "./frontmatter.ts";
import type { Frontmatter } from "./frontmatter.ts";
import type { Places } from "./places.ts";

export type ReadDocument = {
  readonly kind: "document";
  readonly source: string;
  /** Relative to the work root. */
  readonly path: string;
  readonly text: string;
  /** Version of the extractor that made the text, and the places of the text in the file. */
  readonly extractor: string;
  readonly places: Places;
  readonly metadata?: FileMetadata;
  readonly sha256: string;
  /** For an attachment: the date of its mail. */
  readonly mailDate?: string | undefined;
  /** Bytes of the file, or its text, if they are stored. */
  readonly content?: Buffer | undefined;
} & Pick<DocumentToWrite, "facts" | "settled" | "mail" | "attachments" | "leftOut">;

export type PreparedDocument = Omit<DocumentToWrite, "replace" | "chunks"> &
  Pick<Frontmatter, "danger"> & { readonly chunks: readonly ChunkToWrite[] };

/** Everything that is stored of a document: title, metadata and chunks with their keys. */
export function prepareDocument(
  document: ReadDocument,
  settings: ChunkSettings,
  vocabulary: Pick<Vocabulary, "wordsOf">,
): PreparedDocument {
  const { path, text, extractor, places, metadata, sha256, mailDate } = document;
  const { facts, settled, mail, attachments, leftOut } = document;
  const format = formatOf(path, text);
  const written = format.parseFrontmatter(text);
  const frontmatter = withFileMetadata(written, metadata);
  const chunked = chunkText(text, { format, firstLine: frontmatter.firstLine, places }, settings);
  const title = titleOf(frontmatter.title ?? chunked.title);
  const chunks = nameChunks(
    chunked.chunks,
    { source: document.source, path, title, labels: labelsOf(frontmatter) },
    vocabulary,
  );
  return {
    danger: frontmatter.danger,
    path,
    sha256,
    extractor,
    chars: countCodePoints(text),
    facts,
    settled,
    mail,
    attachments,
    leftOut,
    title,
    metadataState: frontmatter.state,
    metadataProblem: frontmatter.problem,
    metadata: frontmatter.json,
    dates: datesOf({
      path,
      text,
      frontmatter: written.json,
      metadata,
      format: format.name,
      mailDate,
    }),
    family: familyKey(path),
    supersedes: supersededPaths(path, written.supersedes.map(cleanForDatabase)),
    secrets: secretsIn(text),
    sketch: sketchOf(chunks),
    chunksSha256: chunkProof(sha256, chunks),
    chunks,
  };
}

/** How much of a text the sketch for near-duplicates covers, in UTF-16 units. */
const MOST_SKETCHED = 200_000;

function sketchOf(chunks: readonly Chunk[]): string | null {
  let text = "";
  for (const chunk of chunks) {
    text += `${chunk.text}\n`;
    if (text.length >= MOST_SKETCHED) break;
  }
  const sketch = sketchText(text.slice(0, MOST_SKETCHED));
  return sketch === null ? null : sketchToHex(sketch);
}

const LABEL_CHARS = 500;

/** Aliases and tags as one text, which every chunk carries. */
const labelsOf = ({ labels }: Frontmatter): string =>
  cleanForDatabase(labels.join(" ").slice(0, LABEL_CHARS).toWellFormed());

/** Cleans a title: YAML can spell characters that neither Postgres nor a terminal takes. */
function titleOf(title: string | null): string | null {
  const clean = cleanForDatabase(shortenTitle(title ?? ""));
  return clean === "" ? null : clean;
}

function nameChunks(
  chunks: readonly Chunk[],
  document: SearchableDocument & { readonly source: string },
  vocabulary: Pick<Vocabulary, "wordsOf">,
): ChunkToWrite[] {
  const seen = new Map<string, number>();
  const searchableText = searchableTextOf(document);
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
      words: vocabulary.wordsOf([searchableText(chunk), chunk.text].map(foldSharpS)),
    };
  });
}

/**
 * The key of a chunk, which changes only if something that is searched or embedded of it changes. Each field is
 * prefixed with its length, so that no two lists of fields hash the same text.
 * @param fields source, path, title, headings, labels, SHA-256 of the text, and which of equal chunks it is
 */
export function chunkKey(fields: {
  readonly source: string;
  readonly path: string;
  readonly title: string | null;
  readonly headingPath: string | null;
  /** Aliases and tags. */
  readonly labels: string;
  readonly sha256: string;
  readonly occurrence: number;
}): string {
  const { source, path, title, headingPath, labels, sha256, occurrence } = fields;
  const text = [source, path, title ?? "", headingPath ?? "", labels, sha256, String(occurrence)]
    .map((field) => `${field.length}:${field}`)
    .join("");
  return hash("sha256", text, "hex").slice(0, 32);
}
