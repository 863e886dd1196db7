import { normaliseText } from "../../../shared/normalise-text.ts";

/**
 * The files that may be read, by their names alone: whatever is hidden or denied is unknown here. Each answer is the
 * path of a file that bears it out.
 */
export type KnownFiles = {
  /** A file of just this name, or whose path ends with this one. */
  exactly(name: string): string | undefined;
  /** A file whose name is this one but for its case, its form of Unicode, and one letter. */
  closeTo(name: string): string | undefined;
  /** Files whose name is this one and an ending, whatever the case, as README.md is of README. */
  withEnding(name: string): readonly string[];
  /** A file below this folder, which lies in the work root or at most two levels deeper. */
  below(folder: string): string | undefined;
  /** Names, and ends of paths, that hold blanks, by what follows the last blank. */
  afterBlank(lastWord: string): readonly SpacedName[];
};

/** A name in words, case and form of Unicode folded. */
export type SpacedName = { readonly words: readonly string[]; readonly path: string };

type Named = { readonly folded: string; readonly path: string };

const FOLDER_LEVELS = 3;

/** One form and one case, so that spellings of a name compare. */
export const foldName = (name: string): string => normaliseText(name, "NFC").toLowerCase();

const baseOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/**
 * An index over a listing of files; made in one walk through it.
 *
 * @param paths from the work root, with `/`
 */
export function knownFilesOf(paths: readonly string[]): KnownFiles {
  const byName = new Map<string, string[]>();
  const byStem = new Map<string, string[]>();
  const byLength = new Map<number, Named[]>();
  const folders = new Map<string, string>();
  const spaced = new Map<string, SpacedName[]>();
  for (const path of paths) {
    const base = baseOf(path);
    const folded = foldName(base);
    append(byName, base, path);
    append(byStem, folded.slice(0, Math.max(0, folded.lastIndexOf("."))), path);
    append(byLength, folded.length, { folded, path });
    for (const folder of path.split("/", FOLDER_LEVELS + 1).slice(0, -1)) {
      if (!folders.has(folder)) folders.set(folder, path);
    }
    if (/\s/.test(path)) for (const name of endsOf(path)) append(spaced, name.words.at(-1), name);
  }
  return {
    exactly: (name) => byName.get(baseOf(name))?.find((path) => endsWithPath(path, name)),
    closeTo: (name) => closest(foldName(baseOf(name)), byLength),
    withEnding: (name) => byStem.get(foldName(name)) ?? [],
    below: (folder) => folders.get(folder),
    afterBlank: (lastWord) => spaced.get(foldName(lastWord)) ?? [],
  };
}

function append<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

const endsWithPath = (path: string, end: string): boolean =>
  path === end || path.endsWith(`/${end.replace(/^(?:\.\/)+/, "")}`);

/** "a/b c/d.md" may be named so, as "b c/d.md", and by no shorter end that has a blank. */
function endsOf(path: string): SpacedName[] {
  const parts = foldName(path).split("/");
  return parts.flatMap((_, index) => {
    const words = parts.slice(index).join("/").trim().split(/\s+/);
    return words.length > 1 ? [{ words, path }] : [];
  });
}

function closest(
  folded: string,
  byLength: ReadonlyMap<number, readonly Named[]>,
): string | undefined {
  for (const length of [folded.length, folded.length - 1, folded.length + 1]) {
    const file = byLength.get(length)?.find((known) => isOneEditAway(known.folded, folded));
    if (file !== undefined) return file.path;
  }
  return undefined;
}

/** The same, or with one letter put in, left out, exchanged, or swapped with its neighbour. */
export function isOneEditAway(one: string, other: string): boolean {
  if (one.length > other.length) return isOneEditAway(other, one);
  if (other.length - one.length > 1) return false;
  let start = 0;
  while (start < one.length && one[start] === other[start]) start += 1;
  if (one.length < other.length) return one.slice(start) === other.slice(start + 1);
  if (one.slice(start + 1) === other.slice(start + 1)) return true;
  const isSwapped = one[start] === other[start + 1] && one[start + 1] === other[start];
  return isSwapped && one.slice(start + 2) === other.slice(start + 2);
}
