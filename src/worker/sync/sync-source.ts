import { posix } from "node:path";
import type { RunTrace } from "../run-trace.ts";
import {
  endListing,
  holdGone,
  measureMirror,
  recordLost,
  recordListing,
  recordSkipped,
  selectGone,
  selectWaiting,
} from "../../shared/store/index/remote-files.ts";
import type { ListedFile, WaitingFile } from "../../shared/store/index/remote-files.ts";
import { fetchFile } from "./fetch-file.ts";
import type { Mirror } from "./fetch-file.ts";
import { decodeName } from "./local-name.ts";
import { holdsBytes, removeFile } from "./mirror-folder.ts";

export type Sync = Mirror & {
  readonly runId: string;
  /** Extensions of mirrored files, in lower case with the dot. */
  readonly extensions: ReadonlySet<string>;
  /** Limits of the whole mirror. */
  readonly mostFiles: number;
  readonly mostBytes: number;
  /** The most bytes that this run may fetch. */
  readonly runBytes: number;
  readonly deletions: "held where many" | "accepted";
  readonly report: (filesDone: number) => void;
  /** Set when a file of the mirror was fetched or deleted. */
  readonly changes: { any: boolean };
};

/** Numbers of files; `bytes` is the number of fetched bytes. */
export type SyncSummary = {
  readonly listed: number;
  readonly fetched: number;
  readonly bytes: number;
  readonly unchanged: number;
  readonly skipped: number;
  readonly deleted: number;
  /** Deleted at the source; they stay in the mirror until somebody accepts the deletion. */
  readonly held: number;
  /** Left to the next run, because this one reached `runBytes`. */
  readonly waiting: number;
  /** Files whose metadata (title, tags, dates) differs from that in the index. */
  readonly described: number;
};

/** The longest time for one part of a listing, or one file. */
const LONGEST_STEP_MS = 60 * 60_000;

/**
 * Brings a mirror up to date: lists all remote files, deletes those that are gone, fetches new and changed ones.
 * It records each file when it is done, so that the next run continues a run that ended early.
 * @throws Failure as the remote
 */
export async function syncSource(
  sync: Sync,
  trace: RunTrace,
  signal: AbortSignal,
): Promise<SyncSummary> {
  const listed = await trace.step("list_remote", () => listRemote(sync, trace, signal));
  const deleted = await trace.step("settle_gone", () => settleGone(sync, signal));
  const fetched = await trace.step("fetch_files", () => fetchWaiting(sync, trace, signal));
  const mirror = await measureMirror(sync.db, sync.source);
  const { unchanged, skipped, waiting, held, described } = mirror;
  return { listed, ...fetched, unchanged, skipped, deleted, held, waiting, described };
}

/** @returns the number of remote files */
async function listRemote(sync: Sync, trace: RunTrace, signal: AbortSignal): Promise<number> {
  const { db, source, folder, remote } = sync;
  let listed = 0;
  trace.mayTake(LONGEST_STEP_MS);
  for await (const files of remote.list(signal)) {
    signal.throwIfAborted();
    trace.mayTake(LONGEST_STEP_MS);
    const unique = [...new Map(files.map((file) => [file.id, withRefusal(sync, file)])).values()];
    listed += unique.length;
    const unchanged = await recordListing(db, sync, unique);
    const missing: string[] = [];
    for (const { remoteId, path, bytes } of unchanged)
      if (!(await holdsBytes(folder, path, bytes))) missing.push(remoteId);
    if (missing.length > 0) await recordLost(db, source, missing, "waiting");
    sync.report(listed);
  }
  return listed;
}

/** Refuses a file whose extension or size the mirror does not take. */
function withRefusal({ extensions, maxFileBytes }: Sync, file: ListedFile): ListedFile {
  const name = decodeName(file.id.split("/").at(-1) ?? "");
  const extension = posix.extname(name).toLowerCase();
  if (file.refused !== null) return file;
  if (!extensions.has(extension))
    return { ...file, refused: "its ending is none that the source reads" };
  if (file.bytes === null || file.bytes <= maxFileBytes) return file;
  return {
    ...file,
    refused: `it has more than ${maxFileBytes} bytes (security.max_file_bytes)`,
  };
}

/** More deletions at once than both limits are more likely a fault than intended. */
const FEW_DELETIONS = 10;
const SHARE_OF_DELETIONS = 0.2;

/** Call it only after a complete listing. @returns the number of deleted files */
async function settleGone(sync: Sync, signal: AbortSignal): Promise<number> {
  const { db, source, folder } = sync;
  const { gone, mirrored } = await endListing(db, sync);
  const isLarge = gone > FEW_DELETIONS && gone > SHARE_OF_DELETIONS * mirrored;
  if (isLarge && sync.deletions !== "accepted") {
    const reason = `${gone} of ${mirrored} files are gone there; nightdesk sync ${source} --accept-deletions deletes them here`;
    await holdGone(db, sync, reason);
    return 0;
  }
  for (;;) {
    const files = await selectGone(db, sync);
    if (files.length === 0) return gone;
    for (const { path } of files) {
      signal.throwIfAborted();
      await removeFile(folder, path);
      sync.changes.any = true;
    }
    const ids = files.map(({ remoteId }) => remoteId);
    await recordLost(db, source, ids, "deleted");
  }
}

type Fetched = Pick<SyncSummary, "fetched" | "bytes">;

async function fetchWaiting(sync: Sync, trace: RunTrace, signal: AbortSignal): Promise<Fetched> {
  const { db, source } = sync;
  const held = await measureMirror(db, source);
  let [fetched, bytes, after] = [0, 0, ""];
  for (;;) {
    const files = await selectWaiting(db, sync, after);
    for (const file of files) {
      signal.throwIfAborted();
      trace.mayTake(LONGEST_STEP_MS);
      const room = roomFor(sync, file, { ...held, fetched: bytes });
      if (room === "none in this run") continue;
      const end = room === "free" ? await fetchFile(sync, file, signal) : room;
      if (end.kind === "skipped") {
        await recordSkipped(db, source, file.remoteId, end.reason);
        continue;
      }
      bytes += end.bytes;
      held.bytes += end.bytes - (file.bytes ?? 0);
      if (file.sha256 === null) held.files += 1;
      if (end.kind === "fetched") {
        fetched += 1;
        sync.changes.any = true;
      }
      sync.report(fetched);
    }
    const last = files.at(-1);
    if (last === undefined) return { fetched, bytes };
    after = last.remoteId;
  }
}

type Room = "free" | "none in this run" | { readonly kind: "skipped"; readonly reason: string };

/** A file of unknown size counts as empty until it is fetched. */
function roomFor(
  { mostFiles, mostBytes, runBytes }: Sync,
  { listedBytes, sha256, bytes: replaced }: WaitingFile,
  held: { readonly files: number; readonly bytes: number; readonly fetched: number },
): Room {
  const bytes = listedBytes ?? 0;
  if (sha256 === null && held.files >= mostFiles)
    return { kind: "skipped", reason: `the mirror holds ${mostFiles} files (remote.max_files)` };
  if (held.bytes - (replaced ?? 0) + bytes > mostBytes)
    return { kind: "skipped", reason: `the mirror would be larger than remote.max_mb` };
  return held.fetched > 0 && held.fetched + bytes > runBytes ? "none in this run" : "free";
}
