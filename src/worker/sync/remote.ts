import { hash } from "node:crypto";
import type { ListedFile } from "../../shared/store/index/remote-files.ts";

/** The beginning of a file that an earlier try left, and the strong ETag of the content that it is of. */
export type Beginning = { readonly bytes: number; readonly etag: string };

/** The content of a file, from the byte on that follows the beginning, or from the first. */
export type RemoteContent = {
  readonly kind: "content";
  readonly from: number;
  /** Of the whole file; null where the place does not say. */
  readonly bytes: number | null;
  /** By which the rest of it can be asked for later; null where it can't. */
  readonly etag: string | null;
  /** Names this version of the file for a reader. */
  readonly origin: string;
  /** @throws Failure SOURCE_UNAVAILABLE where it breaks off */
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** Why a single file is not to be had, though the place answers. */
export type NoContent = { readonly kind: "none"; readonly reason: string };

export const GONE = "it was gone when it was to be fetched";

/**
 * A place whose files are mirrored. All of its failures are Failures: SOURCE_UNAVAILABLE for what may pass, SOURCE_DENIED and
 * SOURCE_INVALID for what an operator has to mend.
 */
export type Remote = {
  /**
   * All files, part by part, each id once a part. It throws where the listing is not whole, and nothing is taken for deleted then.
   * An id is made of the names of folders and file, each percent-encoded, with slashes between them.
   */
  list(signal: AbortSignal): AsyncIterable<readonly ListedFile[]>;
  open(
    file: Pick<ListedFile, "id" | "version">,
    beginning: Beginning | null,
    signal: AbortSignal,
  ): Promise<RemoteContent | NoContent>;
  close(): Promise<void>;
};

/** An ETag that says of two contents that they are the same to the byte; null for any other. */
export const strongTag = (etag: string | undefined): string | null =>
  etag !== undefined && /^"[\x21\x23-\x7e]{1,500}"$/.test(etag) ? etag : null;

/** Of an id; a key of the database takes no more. */
const MOST_ID_BYTES = 1_900;

/** A file of a listing; one whose name is too long for a row is not fetched. */
export function listedFile(
  id: string,
  { version, bytes }: Pick<ListedFile, "version" | "bytes">,
): ListedFile {
  if (Buffer.byteLength(id) <= MOST_ID_BYTES) return { id, version, bytes, refused: null };
  const shortened = `${id.slice(0, 600)}~${hash("sha256", id, "hex")}`;
  const refused = `its name is longer than ${MOST_ID_BYTES} bytes`;
  return { id: shortened, version, bytes, refused };
}
