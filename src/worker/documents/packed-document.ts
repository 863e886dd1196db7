import { deserialize, serialize } from "node:v8";
import { createWordNumbers } from "../../shared/store/index/vocabulary.ts";
import type { Vocabulary } from "../../shared/store/index/vocabulary.ts";
import { joinKeys, PACKED_SLICE, sliceChunks } from "../../shared/store/index/write-documents.ts";
import type {
  ChunkSlice,
  ChunkToWrite,
  DocumentChunks,
} from "../../shared/store/index/write-documents.ts";
import type { PureWork } from "../offload/offload.ts";
import type { ChunkSettings } from "./chunk-text.ts";
import { prepareDocument } from "./prepare-document.ts";
import type { PreparedDocument, ReadDocument } from "./prepare-document.ts";

/** A prepared document as a thread returns it, serialized: bytes are copied in milliseconds, very many small values in seconds. */
export type PackedDocument = Omit<PreparedDocument, "chunks"> & {
  readonly chunks: Omit<DocumentChunks, "slices"> & {
    /** Each a `PackedSlice` as `serialize` writes it. */
    readonly packed: readonly Uint8Array[];
  };
};

/** Consecutive chunks. Their words are indexes into `spellings`. */
type PackedSlice = {
  readonly chunks: readonly ChunkToWrite[];
  readonly spellings: readonly string[];
};

type DocumentToPack = {
  readonly document: ReadDocument;
  readonly settings: ChunkSettings;
};

export function packDocument({ document, settings }: DocumentToPack): PackedDocument {
  const words = createWordNumbers();
  const { chunks, ...facts } = prepareDocument(document, settings, words);
  const packed = Array.from(sliceChunks(chunks, PACKED_SLICE), (slice) =>
    packSlice(slice, words.texts),
  );
  return {
    ...facts,
    chunks: { kind: "packed", count: chunks.length, keys: joinKeys(chunks), packed },
  };
}

/** Prepares a document of any length. */
export const PREPARE: PureWork<DocumentToPack, PackedDocument> = {
  home: import.meta.url,
  run: packDocument,
};

function packSlice(chunks: readonly ChunkToWrite[], texts: readonly string[]): Uint8Array {
  const { numberOf, texts: spellings } = createWordNumbers();
  const renumbered = chunks.map((chunk) => ({
    ...chunk,
    words: chunk.words.map((word) => numberOf(texts[word] ?? "")),
  }));
  const slice: PackedSlice = { chunks: renumbered, spellings };
  return serialize(slice);
}

/**
 * The chunks of a packed document, unpacked slice by slice during iteration: unpacking all at once would block the event
 * loop, and so would the garbage collection after it.
 * @param vocabularyOf gives the vocabulary of the next slice, which grows with each
 */
export const unpackChunks = (
  { packed, ...chunks }: PackedDocument["chunks"],
  vocabularyOf: () => Vocabulary,
): DocumentChunks => ({
  ...chunks,
  slices: {
    *[Symbol.iterator]() {
      for (const bytes of packed) yield unpackSlice(bytes, vocabularyOf());
    },
  },
});

function unpackSlice(bytes: Uint8Array, vocabulary: Vocabulary): ChunkSlice {
  const { chunks, spellings } = deserialize(bytes) as PackedSlice;
  const numbers = spellings.map((word) => vocabulary.numberOf(word));
  return {
    chunks: chunks.map((chunk) => ({
      ...chunk,
      words: chunk.words.map((word) => numbers[word] ?? 0),
    })),
    vocabulary,
  };
}
