import type { RefusalCode } from "../../shared/failure.ts";
import type { Places } from "./places.ts";

/** A function that a process can find again: the module at this URL exports it under this name. */
export type ReaderFunction = { readonly home: string; readonly name: string };

/** Makes text of the bytes of a file in a process of its own, one file after the other. Throws for a fault of the machinery. */
export type ReadInChild = (
  reader: ReaderFunction,
  bytes: Buffer,
  encoding?: string,
) => Promise<Extraction>;

/** What the texts below a path from the work root are in that are no Unicode and do not say theirs. */
export type SourceEncoding = { readonly prefix: string; readonly encoding: string };

export type Extractor = {
  /** Name and version. Raised when the same bytes would become another text: what rests on the old one is stale. */
  readonly version: string;
  /** Versions that an extraction may name instead, of files that need another way to be read. */
  readonly others?: readonly string[];
  /**
   * Takes any bytes, however hostile; throws for a fault of the machinery alone.
   * @param read does the work in a process of its own, which formats with parsers of others have to use
   * @param encoding of its source
   */
  extract(bytes: Buffer, read: ReadInChild, encoding?: string): Promise<Extraction>;
};

/** The text of a file and where its parts stand in the file, or why it has none. */
export type Extraction = ExtractedText | Unreadable;

export type ExtractedText = {
  readonly kind: "text";
  readonly text: string;
  readonly places: Places;
  /** What the file says about itself outside of its text. */
  readonly metadata?: FileMetadata;
  /** One of `others`. */
  readonly extractor?: string;
  /** Files that the file holds, in order. */
  readonly attachments?: readonly Attachment[];
  /** How many more there are, beyond what is read of one file. */
  readonly attachmentsLeftOut?: number;
  readonly leftOut?: LeftOut;
  /** Pages, from 1, whose words are in a picture. */
  readonly pictured?: readonly number[];
  /** Pages, from 1, whose text lies on a picture of its words. */
  readonly layered?: readonly number[];
  /** Settings that the pictures of both were read with, once they were. */
  readonly readWith?: string;
};

/** Pages of which a picture is read. */
export const pagesToRead = (extracted: Extraction): readonly number[] => [
  ...(extracted.pictured ?? []),
  ...layeredIn(extracted),
];

/** Those whose text is checked by the picture that it lies on. */
export const layeredIn = (extracted: Extraction): readonly number[] =>
  extracted.kind === "text" ? (extracted.layered ?? []) : [];

/** What a person would see in the file and the text does not hold, counted by kind: `{ pictures: 2, "encrypted parts": 1 }`. */
export type LeftOut = { readonly [kind: string]: number };

/** A file that a mail or an archive holds. */
export type Attachment = {
  /** Its path below the file, such as `attachments/2/price-list.pdf`; no other attachment of the file has it. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Of its mail, as that says it. */
  readonly date?: string;
};

/** The same bytes, as the process of the parsers handed them over. */
export const attachedBytes = ({ bytes }: Pick<Attachment, "bytes">): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Names in the metadata of a file the pages whose text was not checked by the picture that it lies on. */
export const LAYERED_PAGES = "pages_over_pictures";

/** Stands in the version of an extractor before the settings that pictures were read with. */
export const READ_WITH = " read with ";

type MetadataValue = string | number | boolean | readonly string[];

/** `title` and `date` are those of the document; other names are the format's own. */
export type FileMetadata = { readonly [name: string]: MetadataValue };

export type Unreadable = {
  readonly kind: "unreadable";
  readonly code: RefusalCode;
  /** A clause that follows the path of the file, and what to do. */
  readonly why: string;
  /**
   * Whether the same bytes meet it again. `perhaps` of a limit of time or memory, which a busy machine may be the reason for;
   * `never` of what is due to the machine, as it was at that moment.
   */
  readonly lasts: "always" | "perhaps" | "never";
  /** Pages, from 1, whose words are in a picture. */
  readonly pictured?: readonly number[];
};

/** The text of a file, and the version of the extractor that made it. */
export type ExtractText = (
  path: string,
  bytes: Buffer,
) => Promise<(ExtractedText & { readonly extractor: string }) | Unreadable>;
