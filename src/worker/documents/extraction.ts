import type { RefusalCode } from "../../shared/failure.ts";
import type { Places } from "./places.ts";

/** A function that another process can load: the module at URL `home` exports it as `name`. */
export type ReaderFunction = { readonly home: string; readonly name: string };

/** Extracts the text of a file in a child process, one file after the other. Throws for a fault of the machinery. */
export type ReadInChild = (
  reader: ReaderFunction,
  bytes: Buffer,
  encoding?: string,
) => Promise<Extraction>;

/** The encoding of files below a path (from the work root) that are no Unicode and name no encoding. */
export type SourceEncoding = { readonly prefix: string; readonly encoding: string };

export type Extractor = {
  /** Name and version. Raise the version when the same bytes give another text: it marks stored texts as stale. */
  readonly version: string;
  /** Other versions that an extraction may name, for files that are read in another way. */
  readonly others?: readonly string[];
  /**
   * Takes any bytes, however hostile; throws only for a fault of the machinery.
   * @param read runs a reader in a child process; formats that use third-party parsers must use it
   * @param encoding the configured encoding of the source
   */
  extract(bytes: Buffer, read: ReadInChild, encoding?: string): Promise<Extraction>;
};

/** The text of a file with the places of its parts in the file, or why there is no text. */
export type Extraction = ExtractedText | Unreadable;

export type ExtractedText = {
  readonly kind: "text";
  readonly text: string;
  readonly places: Places;
  /** Properties of the file outside of its text. */
  readonly metadata?: FileMetadata;
  /** One of the extractor's `others`. */
  readonly extractor?: string;
  /** Files that the file holds, in order. */
  readonly attachments?: readonly Attachment[];
  /** How many attachments exceed the limit of one file and are not read. */
  readonly attachmentsLeftOut?: number;
  readonly leftOut?: LeftOut;
  /** Pages, from 1, whose words are in a picture. */
  readonly pictured?: readonly number[];
  /** Pages, from 1, whose text layer lies on a picture of the same words. */
  readonly layered?: readonly number[];
  /** Settings of the OCR that read the `pictured` and `layered` pages; absent before. */
  readonly readWith?: string;
};

/** Pages that OCR has to read. */
export const pagesToRead = (extracted: Extraction): readonly number[] => [
  ...(extracted.pictured ?? []),
  ...layeredIn(extracted),
];

/** Pages whose text layer OCR checks against the picture below it. */
export const layeredIn = (extracted: Extraction): readonly number[] =>
  extracted.kind === "text" ? (extracted.layered ?? []) : [];

/** Counts by kind of content that a person sees in the file and the text lacks: `{ pictures: 2, "encrypted parts": 1 }`. */
export type LeftOut = { readonly [kind: string]: number };

/** A file that a mail or an archive holds. */
export type Attachment = {
  /** Path below the file, such as `attachments/2/price-list.pdf`, unique within the file. */
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Date of the mail, as the mail spells it. */
  readonly date?: string;
};

/** The bytes of an attachment as a Buffer, without a copy. */
export const attachedBytes = ({ bytes }: Pick<Attachment, "bytes">): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Key in the metadata for the pages whose text layer OCR has not checked. */
export const LAYERED_PAGES = "pages_over_pictures";

/** In the version of an extractor, stands before the settings of the OCR. */
export const READ_WITH = " read with ";

type MetadataValue = string | number | boolean | readonly string[];

/** `title` and `date` mean the same in every format; other names belong to one format. */
export type FileMetadata = { readonly [name: string]: MetadataValue };

export type Unreadable = {
  readonly kind: "unreadable";
  readonly code: RefusalCode;
  /** A clause that follows the path of the file, with the remedy. */
  readonly why: string;
  /**
   * Whether the same bytes fail again. `perhaps`: a limit of time or memory, which a busy machine can cause; `never`: a
   * fault of the machine at that moment.
   */
  readonly lasts: "always" | "perhaps" | "never";
  /** Pages, from 1, whose words are in a picture. */
  readonly pictured?: readonly number[];
  /** How many pages a scan has, with its blank ones; absent if unknown. */
  readonly pages?: number;
};

/** The text of a file, and the version of the extractor that made it. */
export type ExtractText = (
  path: string,
  bytes: Buffer,
) => Promise<(ExtractedText & { readonly extractor: string }) | Unreadable>;
