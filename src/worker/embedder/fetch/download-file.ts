import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { Failure } from "../../../shared/failure.ts";
import type { ModelFolder } from "../transformers/model-files.ts";
import { createModelFile } from "./model-folder.ts";
import { openRemoteFile } from "./model-hub.ts";
import type { ModelHub, RemoteFile } from "./model-hub.ts";

/** A host that sends nothing for so long has forgotten us. */
const IDLE_MS = 60_000;
/** And one that sends so little wants to be waited for. */
const LEAST_BYTES_A_MS = 10;
/** As long as a timer goes. */
const LONGEST_MS = 2 ** 31 - 1;

export type Download = {
  readonly hub: ModelHub;
  readonly commit: string;
  readonly file: RemoteFile;
  readonly folder: ModelFolder;
};

/**
 * Downloads a file beside its place, and puts it there when size and hash are those that the hub told: at the place
 * stands a whole file or none.
 * @param onBytes called with what has come so far
 * @throws Failure MODEL_UNREACHABLE, NOT_FOUND, MODEL_OUTPUT_INVALID
 */
export async function downloadFile(
  download: Download,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const { folder, file } = download;
  const part = await createModelFile(folder, file.path);
  try {
    await storeChecked(part.handle, receive(download, onBytes), file);
    await part.commit();
  } finally {
    await part.discard();
  }
}

async function* receive(
  { hub, commit, file }: Download,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  const waiting = new AbortController();
  const stop = (): void => {
    waiting.abort();
  };
  const longestMs = Math.min(LONGEST_MS, IDLE_MS + Math.ceil(file.bytes / LEAST_BYTES_A_MS));
  const timer = setTimeout(stop, IDLE_MS);
  const longest = setTimeout(stop, longestMs);
  try {
    const response = await openRemoteFile(hub, commit, file.path, waiting.signal);
    let bytes = 0;
    for await (const piece of response as AsyncIterable<Buffer>) {
      timer.refresh();
      bytes += piece.length;
      // More than was told is never asked for: a file without an end would fill the disk.
      if (bytes > file.bytes) throw damaged(file, `more than ${file.bytes} bytes`);
      onBytes(bytes);
      yield piece;
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure(
      "MODEL_UNREACHABLE",
      `The download of ${file.path} broke off. Run it again.`,
      {
        cause: error,
      },
    );
  } finally {
    clearTimeout(timer);
    clearTimeout(longest);
  }
}

async function storeChecked(
  handle: FileHandle,
  content: AsyncIterable<Uint8Array>,
  file: RemoteFile,
): Promise<void> {
  const hash = startHash(file);
  let bytes = 0;
  for await (const piece of content) {
    hash.update(piece);
    bytes += piece.length;
    await handle.write(piece);
  }
  if (bytes !== file.bytes) throw damaged(file, `${bytes} bytes instead of ${file.bytes}`);
  if (hash.digest("hex") !== file.hash.hex) throw damaged(file, "another content");
}

/** Git hashes a file behind a header that holds its size. */
export const startHash = ({ hash, bytes }: RemoteFile): Hash =>
  hash.kind === "sha256" ? createHash("sha256") : createHash("sha1").update(`blob ${bytes}\0`);

const damaged = ({ path }: RemoteFile, what: string): Failure =>
  new Failure(
    "MODEL_OUTPUT_INVALID",
    `The host sent ${path} otherwise than it had told (${what}); nothing of it was kept. Run it again, or name another ` +
      "host with --host.",
  );
