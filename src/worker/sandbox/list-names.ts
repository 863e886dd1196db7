import { opendir } from "node:fs/promises";
import { posix } from "node:path";
import type { Dirent } from "node:fs";
import { normaliseText } from "../../shared/normalise-text.ts";
import { checkCharacters, checkName } from "./check-name.ts";
import { type PinnedRoot, type Place, shownPath } from "./pinned-root.ts";
import { isSystemError } from "./refuse-system-error.ts";
import type { Ground } from "./visit-file.ts";

/** The files below the roots by bare name, each by its shown path, in the order of the paths. */
export type NameListing = {
  readonly places: ReadonlyMap<string, readonly Place[]>;
  /** The same by bare name in form NFC, for a name that is spelled in another form than on disk. */
  readonly composed: ReadonlyMap<string, readonly Place[]>;
  /** The same files by their shown paths, in order. */
  readonly paths: readonly string[];
  /** Set when the walk stopped at its bound, so that a file not listed may exist. */
  readonly cutAt: number | null;
};

/** Enough for any pile that one person keeps; a walk of it takes about two seconds. */
export const LISTED_ENTRIES = 200_000;

/**
 * Walks the roots, without following links to folders, for files that a bare name may mean. A listing only
 * finds names: each file is opened and decided like any other, so a stale or raced entry can do no harm.
 */
export async function listNames(
  ground: Ground,
  roots: readonly PinnedRoot[],
  maxEntries: number,
): Promise<NameListing> {
  const files = new Map<string, Place>();
  const folders: Place[] = roots.map((root) => ({ root, relativePath: "" }));
  let left = maxEntries;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for await (const entry of entriesOf(ground, folder)) {
      left -= 1;
      if (left < 0) return listingOf(files, maxEntries);
      const relativePath = posix.join(folder.relativePath, entry.name);
      const place = { root: folder.root, relativePath };
      if (entry.isDirectory() && isOpenFolder(entry.name, ground)) folders.push(place);
      else if (isCandidate(relativePath, ground)) {
        files.set(shownPath(place.root, relativePath), place);
      }
    }
  }
  return listingOf(files, null);
}

async function* entriesOf(
  { descriptors }: Ground,
  { root, relativePath }: Place,
): AsyncGenerator<Dirent> {
  try {
    const path = `${descriptors.walkFrom(root)}/${relativePath}`;
    for await (const entry of await opendir(path, { bufferSize: 1024 })) yield entry;
  } catch (error) {
    // Removed since its parent was read, or not ours to list: the names in it can't be meant.
    if (!isSystemError(error)) throw error;
  }
}

const isOpenFolder = (name: string, { rules }: Ground): boolean =>
  rules.hidden === "allow" || !name.startsWith(".");

const isCandidate = (relativePath: string, { rules }: Ground): boolean =>
  checkCharacters(relativePath) === null && checkName(relativePath, rules) === null;

function listingOf(files: ReadonlyMap<string, Place>, cutAt: number | null): NameListing {
  const places = new Map<string, Place[]>();
  const composed = new Map<string, Place[]>();
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, place] of sorted) {
    const name = posix.basename(place.relativePath);
    append(places, name, place);
    append(composed, normaliseText(name, "NFC"), place);
  }
  return { places, composed, paths: sorted.map(([path]) => path), cutAt };
}

function append(places: Map<string, Place[]>, name: string, place: Place): void {
  const others = places.get(name);
  if (others === undefined) places.set(name, [place]);
  else others.push(place);
}
