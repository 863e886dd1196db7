import { lstatSync, readdirSync, statSync } from "node:fs";
import type { Dirent } from "node:fs";
import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import { countSkipped, isHiddenName } from "../../shared/files/skipped-files.ts";
import type { DocumentFailure } from "../../shared/store/index/document-failures.ts";
import type { FileFacts } from "../../shared/store/index/documents.ts";
import { isSystemError, quotePath } from "../sandbox/names.ts";
import {
  addRules,
  charsOf,
  IGNORE_FILE,
  isIgnored,
  MOST_BYTES_OF_RULES,
  NO_RULES,
  readIgnoreFile,
  rulesBelow,
} from "./ignore-rules.ts";
import type { IgnoreRules } from "./ignore-rules.ts";
import { storablePath } from "./sources.ts";
import type { IndexSource } from "./sources.ts";

export type ListedFile = {
  /** Relative to the folder that was listed. */
  readonly relativePath: string;
  /** Undefined when it is no regular file, or its status can't be read: reading it then reports why. */
  readonly facts: FileFacts | undefined;
};

export type Listing =
  | { readonly kind: "missing" }
  | {
      readonly kind: "listed";
      /** In order of path. */
      readonly files: readonly ListedFile[];
      /** Folders below that can't be listed, so that their content is not known. */
      readonly unreadable: readonly string[];
      /** Files and folders that an ignore file leaves out. */
      readonly ignored: number;
      /** Numbers of files with other extensions that no ignore file leaves out, by the extension as `countSkipped` names it. */
      readonly skipped: ReadonlyMap<string, number>;
      /** Folders that can't be listed, and ignore files that can't be followed. */
      readonly failures: readonly DocumentFailure[];
    };

/** Timers and sockets wait no longer than this and one entry, which takes milliseconds with many rules. */
const LONGEST_TURN_MS = 20;

type ListedSource = Pick<IndexSource, "folder" | "label" | "oneDevice">;

/** Leaves out the packages that programs install. A rule of the source may include them again. */
const BUILT_IN_RULES = addRules(NO_RULES, ["node_modules/"]).map((rule) => ({ ...rule, chars: 0 }));

/**
 * The files of a source with one of the extensions (lower case, with the dot) that no ignore file leaves out. Hidden
 * files and folders are skipped, links to folders are not followed.
 */
export async function listFiles(
  source: ListedSource,
  extensions: ReadonlySet<string>,
): Promise<Listing> {
  const walk = startWalk(source, extensions);
  let startedAt = performance.now();
  for (let next = walk.folders.pop(); next !== undefined; next = walk.folders.pop()) {
    startedAt = await giveWay(startedAt);
    const found = readFolder(posix.join(source.folder, next.below));
    if (!Array.isArray(found)) {
      if (next.below === "") return { kind: "missing" };
      walk.unreadable.push(next.below);
      walk.failures.push(...formatUnlisted(posix.join(source.label, next.below), found.why));
      continue;
    }
    const rules = rulesInside(walk, next, found);
    if (rules === undefined) {
      walk.unreadable.push(next.below);
      continue;
    }
    for (const entry of found) {
      startedAt = await giveWay(startedAt);
      visitEntry(walk, { entry, rules, path: posix.join(next.below, entry.name) });
    }
  }
  const { files, unreadable, ignored, skipped, failures } = walk;
  return { kind: "listed", files: files.sort(byPath), unreadable, ignored, skipped, failures };
}

/** Lets timers and sockets run when the turn was long enough. Returns the start of the current turn. */
async function giveWay(startedAt: number): Promise<number> {
  if (performance.now() - startedAt < LONGEST_TURN_MS) return startedAt;
  await setImmediate();
  return performance.now();
}

/** A folder to list, with the rules of its parent: many folders wait, and own rules for each would fill the memory. */
type Folder = { readonly below: string; readonly outer: IgnoreRules };

type Walk = ReturnType<typeof startWalk>;

const startWalk = (
  { folder, label, oneDevice }: ListedSource,
  extensions: ReadonlySet<string>,
) => ({
  folder,
  label,
  device: oneDevice === true ? deviceOf(folder) : undefined,
  extensions,
  folders: [{ below: "", outer: BUILT_IN_RULES }] as Folder[],
  files: [] as ListedFile[],
  unreadable: [] as string[],
  failures: [] as DocumentFailure[],
  ignored: 0,
  skipped: new Map<string, number>(),
});

/** Undefined when the folder's own ignore file is refused. */
function rulesInside(
  walk: Walk,
  { below, outer }: Folder,
  entries: readonly Dirent[],
): IgnoreRules | undefined {
  const rules = rulesBelow(outer, posix.basename(below));
  if (!entries.some(({ name }) => name === IGNORE_FILE)) return rules;
  const path = posix.join(walk.label, below, IGNORE_FILE);
  const mostBytes = Math.max(0, MOST_BYTES_OF_RULES - charsOf(rules));
  const lines = readIgnoreFile(posix.join(walk.folder, below), path, mostBytes);
  if (!("kind" in lines)) return addRules(rules, lines);
  walk.failures.push({ path, code: lines.code, message: lines.message });
  return undefined;
}

function visitEntry(
  walk: Walk,
  { entry, rules, path }: { entry: Dirent; rules: IgnoreRules; path: string },
): void {
  if (isHiddenName(entry.name)) return;
  if (entry.isDirectory()) {
    if (isIgnored(rules, entry.name, "folder") || isElsewhere(walk, path)) walk.ignored += 1;
    else walk.folders.push({ below: path, outer: rules });
    return;
  }
  if (!walk.extensions.has(posix.extname(entry.name).toLowerCase())) {
    if (entry.isFile() && !isIgnored(rules, entry.name, "file")) {
      countSkipped(walk.skipped, entry.name);
    }
    return;
  }
  if (isIgnored(rules, entry.name, "file")) {
    walk.ignored += 1;
    return;
  }
  const listed = listEntry(walk.folder, path, entry);
  if (listed !== undefined) walk.files.push(listed);
}

const isElsewhere = ({ device, folder }: Walk, path: string): boolean =>
  device !== undefined && deviceOf(posix.join(folder, path)) !== device;

/** Undefined where the status can't be read: reading the file or folder reports why. */
const deviceOf = (path: string): number | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false })?.dev;
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undefined;
  }
};

function readFolder(path: string): Dirent[] | { readonly why: string } {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return { why: String(error.code) };
  }
}

function listEntry(folder: string, relativePath: string, entry: Dirent): ListedFile | undefined {
  try {
    const path = posix.join(folder, relativePath);
    const options = { bigint: true } as const;
    const status = entry.isSymbolicLink() ? statSync(path, options) : lstatSync(path, options);
    if (status.isDirectory()) return undefined;
    const facts = status.isFile() ? factsOf(status) : undefined;
    return { relativePath, facts };
  } catch {
    return { relativePath, facts: undefined };
  }
}

/** Inodes and devices are unsigned, the database's integers are not. */
export const factsOf = (status: {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly ino: bigint;
  readonly dev: bigint;
}): FileFacts => ({
  bytes: status.size,
  mtimeNs: status.mtimeNs,
  ctimeNs: status.ctimeNs,
  inode: BigInt.asIntN(64, status.ino),
  device: BigInt.asIntN(64, status.dev),
});

const byPath = (a: ListedFile, b: ListedFile): number =>
  a.relativePath < b.relativePath ? -1 : a.relativePath > b.relativePath ? 1 : 0;

/** Codes of a folder that was removed or replaced after its parent was listed: the next scan notices that. */
const GONE = new Set(["ENOENT", "ENOTDIR"]);

/**
 * The failure of a folder that can't be listed; none where it is gone.
 * @param path relative to the work root
 * @param why code of the operating system
 */
function formatUnlisted(path: string, why: string): readonly DocumentFailure[] {
  const isLost = hasInvalidUtf8(path);
  if (GONE.has(why) && !isLost) return [];
  const remedy = isLost
    ? "has a name that is not UTF-8: rename it"
    : `can't be listed (${why}): give the worker's user the right to, or name it in a .nightdeskignore`;
  const message = `The folder ${quotePath(path)} ${remedy}. What was indexed of it stays until then.`;
  return [{ path: storablePath(path), code: "FILE_READ_ERROR", message }];
}

/** Whether a name from disk holds the replacement character for bytes that are not UTF-8: such a name opens nothing. */
export const hasInvalidUtf8 = (path: string): boolean => path.includes("\uFFFD");
