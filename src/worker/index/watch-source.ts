import { hash } from "node:crypto";
import { posix } from "node:path";
import type { Database } from "../../shared/store/connection/database.ts";
import type { FileFacts } from "../../shared/store/index/documents.ts";
import {
  indexMovedFiles,
  moveDueFiles,
  recordScan,
  selectTaken,
  takeFiles,
} from "../../shared/store/index/watched-files.ts";
import type { FolderScan, Move, TakenFile } from "../../shared/store/index/watched-files.ts";
import type { LabelDecision } from "../../shared/store/index/watched-labels.ts";
import { factsOf, listFiles } from "./list-files.ts";
import type { ListedFile } from "./list-files.ts";
import { moveFile } from "./move-file.ts";
import { storablePath } from "./sources.ts";
import type { IndexSource } from "./sources.ts";
import { takeAttachments } from "./watch-attachments.ts";
import { labelMemory, workByLabels } from "./watch-labels.ts";
import type { LabelMemory } from "./watch-labels.ts";
import { jobOf, rulesOf, selectRule, textReader } from "./watch-rules.ts";
import type { Watch } from "./watch-rules.ts";

/** What a process remembers of a folder between two looks, so that a file is read again only when it changes. */
export type WatchMemory = {
  readonly resting: Map<string, { readonly facts: string; readonly sinceMs: number }>;
  readonly read: Map<string, string>;
  readonly labels: LabelMemory;
};

export const watchMemory = (): WatchMemory => ({
  resting: new Map(),
  read: new Map(),
  labels: labelMemory(),
});

export type WatchDeps = {
  readonly database: Database;
  readonly workroot: string;
  /** Extensions of files that may be read, lower case, with the dot. */
  readonly extensions: readonly string[];
};

/** The result of a look, for the log. */
export type LookOutcome = FolderScan & {
  readonly taken: number;
  /** Decisions about files whose classification has ended. */
  readonly decisions: readonly LabelDecision[];
  readonly moves: readonly Move[];
};

/** Files that one look reads; the next look continues. */
const MOST_READ = 200;

/**
 * Looks at a watched folder once: takes new files that are at rest, each with the job of the first rule that fits; gives files
 * whose classification has ended the job of the first rule for their label; moves files whose jobs have succeeded where their
 * rules say so, and indexes the sources again.
 */
export async function lookAtSource(
  deps: WatchDeps,
  { source, watch }: { readonly source: IndexSource; readonly watch: Watch },
  memory: WatchMemory,
): Promise<LookOutcome> {
  const { database, workroot } = deps;
  const listing = await listFiles(source, new Set(source.extensions ?? deps.extensions));
  if (listing.kind === "missing") {
    const look = { files: 0, restless: 0, problem: `there is no folder ${source.label}` };
    await recordScan(database, source.name, look);
    return { ...look, taken: 0, decisions: [], moves: [] };
  }
  const { due, restless } = selectResting(listing.files, watch.rest_s * 1_000, memory);
  const seen: WatchMemory["read"] = new Map();
  const read = await readFiles(source, due.slice(0, MOST_READ), { watch, seen });
  const known = await selectTaken(
    database,
    source.name,
    read.map(({ sha256 }) => sha256),
  );
  const fresh = read.filter(({ sha256 }) => !known.has(sha256));
  // Files come last: where a file and an attachment have the same bytes, the file is taken.
  const files = [...(await takeAttachments(fresh, { source, watch })), ...fresh];
  const batch = `${source.name} ${new Date().toISOString().slice(0, 10)}`;
  const taken =
    files.length === 0 ? 0 : await takeFiles(database, { source: source.name, batch, files });
  // Only now: a look that fails before reads its files again.
  for (const [path, facts] of seen) memory.read.set(path, facts);
  const decisions = await workByLabels(database, { source, watch }, batch, memory.labels);
  const places = { workroot, root: source.folder };
  const moves = await moveDueFiles(database, source.name, (file) => moveFile(file, places));
  const moved = moves.flatMap((move) => (move.kind === "moved" ? [move.path] : []));
  if (moved.length > 0) await indexMovedFiles(database, batch, moved);
  const look = { files: listing.files.length, restless, problem: null };
  await recordScan(database, source.name, look);
  return { ...look, taken, decisions, moves };
}

/**
 * Selects files that were not written for `restMs`: by their timestamps, which survive a restart, or because they have not
 * changed since this process first saw them, which helps where the clock of a file server is ahead of this machine's.
 */
function selectResting(
  files: readonly ListedFile[],
  restMs: number,
  memory: WatchMemory,
): { readonly due: readonly ListedFile[]; readonly restless: number } {
  const now = performance.now();
  const due: ListedFile[] = [];
  let restless = 0;
  const present = new Set(files.map(({ relativePath }) => relativePath));
  for (const path of memory.resting.keys()) if (!present.has(path)) memory.resting.delete(path);
  for (const path of memory.read.keys()) if (!present.has(path)) memory.read.delete(path);
  for (const file of files) {
    if (file.facts === undefined) continue;
    const facts = keyOf(file.facts);
    if (memory.read.get(file.relativePath) === facts) continue;
    const before = memory.resting.get(file.relativePath);
    const sinceMs = before?.facts === facts ? before.sinceMs : now;
    memory.resting.set(file.relativePath, { facts, sinceMs });
    if (now - sinceMs >= restMs || ageMs(file.facts) >= restMs) due.push(file);
    else restless += 1;
  }
  return { due, restless };
}

const keyOf = ({ bytes, mtimeNs, ctimeNs, inode }: FileFacts): string =>
  [bytes, mtimeNs, ctimeNs, inode].join(" ");

/** Every write sets ctime; a copy may keep the mtime of its original. */
const ageMs = ({ mtimeNs, ctimeNs }: FileFacts): number =>
  Date.now() - Number((mtimeNs > ctimeNs ? mtimeNs : ctimeNs) / 1_000_000n);

async function readFiles(
  source: IndexSource,
  files: readonly ListedFile[],
  { watch, seen }: { readonly watch: Watch; readonly seen: WatchMemory["read"] },
): Promise<readonly TakenFile[]> {
  const rules = rulesOf(watch.rules, { kind: "new" });
  const taken: TakenFile[] = [];
  for (const listed of files) {
    const { relativePath, facts } = listed;
    if (facts === undefined) continue;
    const file = await source.read(relativePath);
    // Written between the listing and the read: not at rest.
    if (file.kind !== "refused" && keyOf(factsOf(file.stat)) !== keyOf(facts)) continue;
    seen.set(relativePath, keyOf(facts));
    // The run that indexes the source reports files that can't be read.
    if (file.kind === "refused") continue;
    const path = posix.join(source.label, relativePath);
    if (storablePath(path) !== path) continue;
    const rule = await selectRule(rules, {
      relativePath,
      path,
      readText: textReader(source, path, file.bytes),
    });
    taken.push({
      sha256: hash("sha256", file.bytes, "hex"),
      path,
      bytes: facts.bytes,
      inode: facts.inode,
      mtimeNs: facts.mtimeNs,
      mailSha256: null,
      job: rule === undefined ? null : jobOf(rule, path),
      moveTo: rule?.move_to ?? null,
    });
  }
  return taken;
}
