import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { posix } from "node:path";
import { editDistance } from "../../shared/text/close-names.ts";
import { normaliseText } from "../../shared/text/normalise-text.ts";
import { checkCharacters, checkName, isSystemError, quotePath } from "./names.ts";
import { mayBegin } from "./policy.ts";
import { shownPath } from "./roots.ts";
import type { PinnedRoot, FileLocation } from "./roots.ts";
import type { DiskDescriptors } from "./descriptors.ts";
import type { Access } from "./visit-file.ts";
import { append } from "../../shared/group-by.ts";

const maxDistance = 2;
const maxSuggestions = 3;

/**
 * A sentence that suggests files and attachments whose names are closest to that of a path that was not found; empty if there
 * are none. The comparison ignores case, Unicode form, and whether a space, _ or - joins words. A name is close with at most two
 * edits and a third of the name's length, with another extension or an added one, or with more words before it. Equally close
 * names are ordered by the closeness of their paths, if the request has a folder, then by path.
 */
export function suggestNames(
  path: string,
  listing: NameListing,
  attachments: readonly KnownAttachment[] = [],
): string {
  const name = posix.basename(path);
  const wanted = foldName(name);
  const limit = Math.min(maxDistance, Math.floor(wanted.length / 3));
  const closeBy = (listed: string, pathsOf: () => readonly string[]): readonly CloseName[] => {
    const distance = distanceOf(wanted, foldName(listed), limit);
    if (distance > maxDistance) return [];
    return pathsOf().map((known) => ({ distance, listed, path: known, gap: gapOf(path, known) }));
  };
  const close = [
    ...[...listing.places].flatMap(([listed, places]) => closeBy(listed, () => places.map(shown))),
    ...attachments.flatMap((one) =>
      closeBy(posix.basename(one.path), () => (isListed(one.mail, listing) ? [one.path] : [])),
    ),
  ];
  close.sort((a, b) => a.distance - b.distance || a.gap - b.gap);
  const offers = close.slice(0, maxSuggestions).map((one) => suggestion(name, one));
  const cut =
    listing.cutAt === null
      ? ""
      : ` Only the first ${listing.cutAt} entries below the roots were looked at: name the file by its path.`;
  const quotes = close.some(
    ({ listed }) => listed.includes(" ") && endsWithWord(foldName(listed), wanted),
  )
    ? " In a question, a name with blanks is put into quotes."
    : "";
  return (offers.length === 0 ? "" : ` Did you mean ${offers.join(" or ")}?${quotes}`) + cut;
}

/** An attachment and its mail, by their shown paths. */
export type KnownAttachment = { readonly path: string; readonly mail: string };

type CloseName = {
  readonly distance: number;
  readonly listed: string;
  readonly path: string;
  readonly gap: number;
};

const shown = ({ root, relativePath }: FileLocation): string => shownPath(root, relativePath);

/** Whether the mail is still there and readable; otherwise its attachments are not suggested. */
const isListed = (mail: string, { places }: NameListing): boolean =>
  places.get(posix.basename(mail))?.some((place) => shown(place) === mail) === true;

/** The most edits that are counted: enough for a misspelt folder or mail, and another number of an attachment. */
const farthest = 8;

/** The number of edits between whole paths; 0 for a bare name, which has no folder to compare. */
const gapOf = (wanted: string, path: string): number =>
  wanted.includes("/") ? editDistance(foldName(wanted), foldName(path), farthest) : 0;

function distanceOf(wanted: string, listed: string, limit: number): number {
  const edits = editDistance(wanted, listed, limit);
  if (edits <= limit) return edits;
  const stem = stemOf(listed);
  const isSameFile = stem.length > 1 && (stem === wanted || stem === stemOf(wanted));
  return isSameFile || endsWithWord(listed, wanted) ? maxDistance : maxDistance + 1;
}

/** "Plan (neu).md" ends with "(neu).md": a question without quotes may name only the end of a name. */
const endsWithWord = (listed: string, wanted: string): boolean => listed.endsWith(` ${wanted}`);

const stemOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf(".")));
/** Folds "_" and "-" to a space, because a question may spell them so. */
const foldName = (name: string): string =>
  name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[\s_-]+/g, " ");

/** Explains a name that looks equal but has another Unicode form. */
function suggestion(name: string, { listed, path }: CloseName): string {
  const isTwin = listed !== name && listed.normalize("NFC") === name.normalize("NFC");
  const quoted = quotePath(path);
  return isTwin ? `${quoted} (the same letters in another Unicode form)` : quoted;
}

/** The files below the roots by bare name, each by its shown path, in the order of the paths. */
export type NameListing = {
  readonly places: ReadonlyMap<string, readonly FileLocation[]>;
  /** The same by bare name in form NFC, for a name that is spelled in another form than on disk. */
  readonly composed: ReadonlyMap<string, readonly FileLocation[]>;
  /** The same files by their shown paths, in order. */
  readonly paths: readonly string[];
  /** The limit at which the walk stopped, so that more files may exist; null for a complete listing. */
  readonly cutAt: number | null;
};

/** Enough for the files of one person; a walk of so many takes about two seconds. */
export const LISTED_ENTRIES = 200_000;

/**
 * Walks the roots, without following links to folders, for files that a bare name may mean. A listing only
 * finds names: each file is opened and checked like any other, so a stale or raced entry does no harm.
 */
export async function listNames(
  access: DiskAccess,
  roots: readonly PinnedRoot[],
  maxEntries: number,
): Promise<NameListing> {
  const files = new Map<string, FileLocation>();
  const folders: FileLocation[] = roots.map((root) => ({ root, relativePath: "" }));
  let left = maxEntries;
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for await (const entry of entriesOf(access, folder)) {
      left -= 1;
      if (left < 0) return listingOf(files, maxEntries);
      const relativePath = posix.join(folder.relativePath, entry.name);
      const place = { root: folder.root, relativePath };
      if (entry.isDirectory() && isOpenFolder(entry.name, access)) folders.push(place);
      else if (isCandidate(relativePath, access)) {
        files.set(shownPath(place.root, relativePath), place);
      }
    }
  }
  return listingOf(files, null);
}

type DiskAccess = Access & { readonly descriptors: DiskDescriptors };

async function* entriesOf(
  { descriptors }: DiskAccess,
  { root, relativePath }: FileLocation,
): AsyncGenerator<Dirent> {
  try {
    const path = `${descriptors.walkFrom(root)}/${relativePath}`;
    for await (const entry of await opendir(path, { bufferSize: 1024 })) yield entry;
  } catch (error) {
    // The folder was removed since its parent was read, or may not be listed: its names can't be meant.
    if (!isSystemError(error)) throw error;
  }
}

const isOpenFolder = (name: string, { rules }: Pick<Access, "rules">): boolean =>
  rules.hidden === "allow" || !name.startsWith(".");

export const isCandidate = (relativePath: string, { rules }: Pick<Access, "rules">): boolean =>
  checkCharacters(relativePath) === null && checkName(relativePath, rules) === null;

/** @param files by their shown paths */
export function listingOf(
  files: ReadonlyMap<string, FileLocation>,
  cutAt: number | null,
): NameListing {
  const places = new Map<string, FileLocation[]>();
  const composed = new Map<string, FileLocation[]>();
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [, place] of sorted) {
    const name = posix.basename(place.relativePath);
    append(places, name, place);
    append(composed, normaliseText(name, "NFC"), place);
  }
  return { places, composed, paths: sorted.map(([path]) => path), cutAt };
}

/** A listing that is made on request and cached for a while. */
export type CachedNames = {
  current(): Promise<NameListing>;
  /** For a lookup after a miss: made again, unless it is so young that misses alone would keep the disk busy. */
  renewed(): Promise<NameListing>;
  /** From a walk that begins after the call, for callers that count files and must not miss any. Waiting callers share it. */
  begunNow(): Promise<NameListing>;
};

/** Only the names with one of the prefixes. The same listing always gives the same result object. */
export function namesBelow(names: CachedNames, pathPrefixes: readonly string[]): CachedNames {
  let last: { readonly all: NameListing; readonly below: NameListing } | undefined;
  const cut = (all: NameListing): NameListing => {
    if (last?.all !== all) last = { all, below: listingBelow(all, pathPrefixes) };
    return last.below;
  };
  return {
    begunNow: async () => cut(await names.begunNow()),
    current: async () => cut(await names.current()),
    renewed: async () => cut(await names.renewed()),
  };
}

function listingBelow(
  { places, cutAt }: NameListing,
  pathPrefixes: readonly string[],
): NameListing {
  const files = [...places.values()].flat().map((place) => [shown(place), place] as const);
  return listingOf(new Map(files.filter(([path]) => mayBegin(path, pathPrefixes))), cutAt);
}

const keptMs = 5_000;
// Many misses in a row spend at most about one tenth of their time on listing.
const renewalFactor = 10;

/** `now` is a monotonic clock in milliseconds. Concurrent callers share one walk. */
export function cacheNames(list: () => Promise<NameListing>, now: () => number): CachedNames {
  type CachedListing = { listing: Promise<NameListing>; startedAt: number; costMs: number | null };
  let kept: CachedListing | null = null;
  let next: Promise<NameListing> | null = null;

  const make = async (): Promise<NameListing> => {
    const entry: CachedListing = { listing: list(), startedAt: now(), costMs: null };
    kept = entry;
    try {
      const listing = await entry.listing;
      entry.costMs = now() - entry.startedAt;
      return listing;
    } catch (error) {
      if (kept === entry) kept = null;
      throw error;
    }
  };
  const youngerThan = (limitMs: (costMs: number) => number): Promise<NameListing> => {
    if (kept === null) return make();
    const isYoung =
      kept.costMs === null || now() - kept.startedAt < kept.costMs + limitMs(kept.costMs);
    return isYoung ? kept.listing : make();
  };
  /** Waits for the current walk, because it may already have passed a folder that has changed since. */
  const makeNext = async (): Promise<NameListing> => {
    await (kept?.costMs === null ? kept.listing.catch(() => null) : null);
    next = null;
    return make();
  };
  return {
    begunNow: () => (next ??= makeNext()),
    current: () => youngerThan(() => keptMs),
    renewed: () => youngerThan((costMs) => Math.min(keptMs, costMs * renewalFactor)),
  };
}
