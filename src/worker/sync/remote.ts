import { hash } from "node:crypto";
import type { ListedFile } from "../../shared/store/index/remote-files.ts";

/** The part of a file that an earlier try downloaded, and the strong ETag of its content. */
export type Beginning = { readonly bytes: number; readonly etag: string };

/** The content of a file from the byte `from` on: behind the beginning, or 0. */
export type RemoteContent = {
  readonly kind: "content";
  readonly from: number;
  /** Size of the whole file; null if the server does not give it. */
  readonly bytes: number | null;
  /** With it a later try can request the rest; null if it can't. */
  readonly etag: string | null;
  /** A URL that names this version of the file for people. */
  readonly origin: string;
  /** @throws Failure SOURCE_UNAVAILABLE if it breaks off */
  readonly chunks: AsyncIterable<Uint8Array>;
};

/** Why the server, which does respond, has no content for one file. */
export type NoContent = { readonly kind: "none"; readonly reason: string };

export const GONE = "it was gone when it was to be fetched";

/**
 * A remote place whose files are mirrored. It throws only Failures: SOURCE_UNAVAILABLE for a fault that may pass,
 * SOURCE_DENIED and SOURCE_INVALID for one that an operator has to fix.
 */
export type Remote = {
  /**
   * All files, in parts; an id is unique within a part. It throws if the listing is incomplete: then no file counts as deleted.
   * An id consists of the names of folders and file, each percent-encoded, with slashes between them.
   */
  list(signal: AbortSignal): AsyncIterable<readonly ListedFile[]>;
  open(
    file: Pick<ListedFile, "id" | "version">,
    beginning: Beginning | null,
    signal: AbortSignal,
  ): Promise<RemoteContent | NoContent>;
  close(): Promise<void>;
};

/** The ETag if it is strong (equal for identical bytes only), otherwise null. */
export const strongTag = (etag: string | undefined): string | null =>
  etag !== undefined && /^"[\x21\x23-\x7e]{1,500}"$/.test(etag) ? etag : null;

/** The longest id that an index of the database takes. */
const MOST_ID_BYTES = 1_900;

/** A file of a listing; it is refused if its name is too long for a row. */
export function listedFile(
  id: string,
  { version, bytes }: Pick<ListedFile, "version" | "bytes">,
): ListedFile {
  if (Buffer.byteLength(id) <= MOST_ID_BYTES) return { id, version, bytes, refused: null };
  const shortened = `${id.slice(0, 600)}~${hash("sha256", id, "hex")}`;
  const refused = `its name is longer than ${MOST_ID_BYTES} bytes`;
  return { id: shortened, version, bytes, refused };
}
