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
import type { Ground } from "./visit-file.ts";
import { append } from "../../shared/group-by.ts";

const maxDistance = 2;
const maxSuggestions = 3;

/**
 * A sentence that offers the files of a listing, and the attachments of its mails, whose names are closest to that of a path
 * that was not found (case, Unicode form, and which of blank, _ and - joins words ignored; at most two edits, a third of the
 * name, or the same name with another ending, with one at all, or with words before it), or nothing. Of names that are as
 * close the one whose path is closest comes first, where a path was asked for; then ties go by path.
 */
export function suggestNames(
  path: string,
  listing: NameListing,
  attachments: readonly KnownAttachment[] = [],
): string {
  const name = posix.basename(path);
  const wanted = fold(name);
  const limit = Math.min(maxDistance, Math.floor(wanted.length / 3));
  const closeBy = (listed: string, pathsOf: () => readonly string[]): readonly CloseName[] => {
    const distance = distanceOf(wanted, fold(listed), limit);
    if (distance > maxDistance) return [];
    return pathsOf().map((known) => ({ distance, listed, path: known, away: away(path, known) }));
  };
  const close = [
    ...[...listing.places].flatMap(([listed, places]) => closeBy(listed, () => places.map(shown))),
    ...attachments.flatMap((one) =>
      closeBy(posix.basename(one.path), () => (isListed(one.mail, listing) ? [one.path] : [])),
    ),
  ];
  close.sort((a, b) => a.distance - b.distance || a.away - b.away);
  const offers = close.slice(0, maxSuggestions).map((one) => offer(name, one));
  const cut =
    listing.cutAt === null
      ? ""
      : ` Only the first ${listing.cutAt} entries below the roots were looked at: name the file by its path.`;
  const quotes = close.some(
    ({ listed }) => listed.includes(" ") && endsWithWord(fold(listed), wanted),
  )
    ? " In a question, a name with blanks is put into quotes."
    : "";
  return (offers.length === 0 ? "" : ` Did you mean ${offers.join(" or ")}?${quotes}`) + cut;
}

/** What lies in a mail, both by their shown paths. */
export type KnownAttachment = { readonly path: string; readonly mail: string };

type CloseName = {
  readonly distance: number;
  readonly listed: string;
  readonly path: string;
  readonly away: number;
};

const shown = ({ root, relativePath }: FileLocation): string => shownPath(root, relativePath);

/** Of a mail that is gone, or may not be read any more, nothing is offered. */
const isListed = (mail: string, { places }: NameListing): boolean =>
  places.get(posix.basename(mail))?.some((place) => shown(place) === mail) === true;

/** Enough for a misspelt folder or mail, and another number of an attachment. */
const farthest = 8;

/** How many letters a whole path differs in; of a name alone nothing says where it lies. */
const away = (asked: string, path: string): number =>
  asked.includes("/") ? editDistance(fold(asked), fold(path), farthest) : 0;

function distanceOf(wanted: string, listed: string, limit: number): number {
  const edits = editDistance(wanted, listed, limit);
  if (edits <= limit) return edits;
  const stem = stemOf(listed);
  const isSameFile = stem.length > 1 && (stem === wanted || stem === stemOf(wanted));
  return isSameFile || endsWithWord(listed, wanted) ? maxDistance : maxDistance + 1;
}

/** "Plan (neu).md" of "(neu).md": what a question names without quotes may be the end of a name. */
const endsWithWord = (listed: string, wanted: string): boolean => listed.endsWith(` ${wanted}`);

const stemOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf(".")));
/** What a question spells with a blank may have "_" or "-" on disk. */
const fold = (name: string): string =>
  name
    .normalize("NFC")
    .toLowerCase()
    .replace(/[\s_-]+/g, " ");

/** Twins that look alike are told apart in words. */
function offer(name: string, { listed, path }: CloseName): string {
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
  ground: DiskGround,
  roots: readonly PinnedRoot[],
  maxEntries: number,
): Promise<NameListing> {
  const files = new Map<string, FileLocation>();
  const folders: FileLocation[] = roots.map((root) => ({ root, relativePath: "" }));
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

type DiskGround = Ground & { readonly descriptors: DiskDescriptors };

async function* entriesOf(
  { descriptors }: DiskGround,
  { root, relativePath }: FileLocation,
): AsyncGenerator<Dirent> {
  try {
    const path = `${descriptors.walkFrom(root)}/${relativePath}`;
    for await (const entry of await opendir(path, { bufferSize: 1024 })) yield entry;
  } catch (error) {
    // Removed since its parent was read, or not ours to list: the names in it can't be meant.
    if (!isSystemError(error)) throw error;
  }
}

const isOpenFolder = (name: string, { rules }: Pick<Ground, "rules">): boolean =>
  rules.hidden === "allow" || !name.startsWith(".");

export const isCandidate = (relativePath: string, { rules }: Pick<Ground, "rules">): boolean =>
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

/** A listing that is made when asked for and kept for a while. */
export type CachedNames = {
  current(): Promise<NameListing>;
  /** After a miss: made anew, unless it is so young that misses alone would keep the disk busy. */
  renewed(): Promise<NameListing>;
  /** Of a walk that begins after the call: for who counts files and may miss none. Askers meanwhile share it. */
  begunNow(): Promise<NameListing>;
};

/** The names that begin so alone. The same listing gives the same one. */
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
// A flood of misses spends at most about one tenth of its time on listing.
const renewalFactor = 10;

/** `now` is a monotonic clock in milliseconds. Askers at the same time share one walk. */
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
  /** One walk at a time: that which goes on may be past a folder that has changed since. */
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
