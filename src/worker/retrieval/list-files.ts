import { type Dirent, lstatSync, readdirSync, statSync } from "node:fs";
import { posix } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { FileFacts } from "../../shared/db/index/document-facts.ts";

export type ListedFile = {
  /** Below the folder that was listed. */
  readonly relativePath: string;
  /** Undefined when it is no regular file, or its status can't be read: then reading it says why. */
  readonly facts: FileFacts | undefined;
};

export type Listing =
  | { readonly kind: "missing" }
  | {
      readonly kind: "listed";
      /** In order of path. */
      readonly files: readonly ListedFile[];
      /** Folders below that can't be listed: what lies in them is not known. */
      readonly unreadable: readonly string[];
    };

/** Gives way to timers and sockets after this many entries. */
const ENTRIES_PER_TURN = 500;

/**
 * The files below a folder with one of the extensions (lower case, with the dot). Hidden files and folders are
 * skipped, links to folders are not followed.
 */
export async function listFiles(folder: string, extensions: ReadonlySet<string>): Promise<Listing> {
  const files: ListedFile[] = [];
  const unreadable: string[] = [];
  const folders = [""];
  let entries = 0;
  for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
    const found = readFolder(posix.join(folder, below));
    if (found === undefined && below === "") return { kind: "missing" };
    if (found === undefined) unreadable.push(below);
    for (const entry of found ?? []) {
      if (entry.name.startsWith(".")) continue;
      const relativePath = posix.join(below, entry.name);
      if (entry.isDirectory()) folders.push(relativePath);
      else if (extensions.has(posix.extname(entry.name).toLowerCase())) {
        const listed = listEntry(folder, relativePath, entry);
        if (listed !== undefined) files.push(listed);
      }
      entries += 1;
      if (entries % ENTRIES_PER_TURN === 0) await setImmediate();
    }
  }
  return { kind: "listed", files: files.sort(byPath), unreadable };
}

function readFolder(path: string): Dirent[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return undefined;
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
