import { createHash } from "node:crypto";
import { posix } from "node:path";
import { createAtomicFile, openPartFile } from "../../shared/files/atomic-file.ts";
import type { AtomicFile } from "../../shared/files/atomic-file.ts";
import { Failure } from "../../shared/failure.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { recordFetched, recordPart, takePath } from "../../shared/store/index/remote-files.ts";
import type { WaitingFile } from "../../shared/store/index/remote-files.ts";
import { withTries } from "./http-place.ts";
import { localPlaces } from "./local-name.ts";
import { holdsBytes, isTaken, openPlace } from "./mirror-folder.ts";
import type { MirrorFolder, OpenedPlace } from "./mirror-folder.ts";
import type { Beginning, Remote, RemoteContent } from "./remote.ts";

export type Mirror = {
  readonly db: Queryable;
  readonly source: string;
  readonly remote: Remote;
  readonly folder: MirrorFolder;
  /** The limit for one file. */
  readonly maxFileBytes: number;
};

export type FileEnd =
  | { readonly kind: "fetched" | "same"; readonly bytes: number }
  | { readonly kind: "skipped"; readonly reason: string };

/** The download of a file of this size or more resumes where an earlier try ended. */
const RESUMED_FROM_BYTES = 1_000_000;

/**
 * Fetches one file into the mirror, where it appears whole or not at all, and records it. It tries again after a broken
 * connection; a later run resumes the part that was left.
 * @throws Failure as the remote; SOURCE_UNAVAILABLE while another process writes the file
 */
export async function fetchFile(
  mirror: Mirror,
  waiting: WaitingFile,
  signal: AbortSignal,
): Promise<FileEnd> {
  const reserved = await reservePlace(mirror, waiting);
  if (reserved === undefined)
    return { kind: "skipped", reason: "a link or something else stands where it would lie" };
  let partEtag = waiting.partEtag;
  const file = { ...waiting, path: reserved.path };
  try {
    return await withTries(signal, () =>
      fetchOnce({ mirror, file, place: reserved.place, signal }, partEtag, async (etag) => {
        if (etag === partEtag) return;
        partEtag = etag;
        await recordPart(mirror.db, mirror.source, file.remoteId, etag);
      }),
    );
  } finally {
    await reserved.place.folder.close();
  }
}

/** The path of an earlier try, or the best free path. It never overwrites a file that the mirror did not write. */
async function reservePlace(
  { db, source, folder }: Mirror,
  { remoteId: id, path, hasPath }: WaitingFile,
): Promise<{ readonly path: string; readonly place: OpenedPlace } | undefined> {
  if (path !== null && hasPath) {
    const place = await openPlace(folder, path, "make");
    return place === undefined ? undefined : { path, place };
  }
  for (const { path: below, key } of localPlaces(id)) {
    const wanted = posix.join(folder.root, below);
    const place = await openPlace(folder, wanted, "make");
    if (place === undefined) continue;
    const isFree =
      !(await isTaken(place.file)) && (await takePath(db, source, { id, path: wanted, key }));
    if (isFree) return { path: wanted, place };
    await place.folder.close();
  }
  return undefined;
}

type Fetch = {
  readonly mirror: Mirror;
  readonly file: WaitingFile & { readonly path: string };
  readonly place: OpenedPlace;
  readonly signal: AbortSignal;
};

async function fetchOnce(
  fetch: Fetch,
  partEtag: string | null,
  notePart: (etag: string | null) => Promise<void>,
): Promise<FileEnd> {
  const { mirror, file, signal } = fetch;
  const target = await openTarget(fetch);
  try {
    const beginning: Beginning | null =
      target.bytes > 0 && partEtag !== null ? { bytes: target.bytes, etag: partEtag } : null;
    const wanted = { id: file.remoteId, version: file.listedVersion };
    const content = await mirror.remote.open(wanted, beginning, signal);
    if (content.kind === "none") {
      await target.discard();
      return { kind: "skipped", reason: content.reason };
    }
    // Before its version is noted: a run that ends in between would go on from bytes of the one before.
    if (content.from === 0) await target.handle.truncate(0);
    await notePart(target.keep === undefined ? null : content.etag);
    const written = await writeContent(target, content, mirror);
    if (written === "too large") {
      await target.discard();
      const reason = `it has more than ${mirror.maxFileBytes} bytes (security.max_file_bytes)`;
      return { kind: "skipped", reason };
    }
    return await commitFetched(fetch, target, { ...written, origin: content.origin });
  } finally {
    await (target.keep ?? target.discard)();
  }
}

type Target = AtomicFile & { readonly bytes: number; keep?(): Promise<void> };

async function openTarget({ mirror, file, place }: Fetch): Promise<Target> {
  const { listedBytes } = file;
  if (listedBytes !== null && listedBytes < RESUMED_FROM_BYTES)
    return { ...(await createAtomicFile(place.file, "replace")), bytes: 0 };
  const part = await openPartFile(place.file);
  if (part !== "held") return part;
  throw new Failure(
    "SOURCE_UNAVAILABLE",
    `Source "${mirror.source}": another process fetches ${file.path}.`,
  );
}

type Written = { readonly bytes: number; readonly sha256: string };

async function writeContent(
  { handle }: Target,
  { from, bytes: whole, chunks }: RemoteContent,
  { source, maxFileBytes }: Mirror,
): Promise<Written | "too large"> {
  const digest = createHash("sha256");
  let bytes = from;
  if (from > 0)
    for await (const chunk of handle.createReadStream({
      start: 0,
      end: from - 1,
      autoClose: false,
    }))
      digest.update(chunk as Buffer);
  for await (const chunk of chunks) {
    bytes += chunk.byteLength;
    if (bytes > maxFileBytes) return "too large";
    digest.update(chunk);
    await handle.appendFile(chunk);
  }
  if (whole === null || bytes === whole) return { bytes, sha256: digest.digest("hex") };
  throw new Failure(
    "SOURCE_UNAVAILABLE",
    `Source "${source}": a file broke off after ${bytes} of ${whole} bytes.`,
  );
}

/** Puts the file into place and records it. If the mirror holds the same bytes, they stay, so that they are not indexed again. */
async function commitFetched(
  { mirror, file }: Fetch,
  target: Target,
  written: Written & { readonly origin: string },
): Promise<FileEnd> {
  const { path, sha256, listedVersion: version, remoteId: id } = file;
  const { bytes } = written;
  const isSame = written.sha256 === sha256 && (await holdsBytes(mirror.folder, path, bytes));
  await (isSame ? target.discard() : target.commit());
  await recordFetched(mirror.db, mirror.source, { id, version, ...written });
  return { kind: isSame ? "same" : "fetched", bytes };
}
