import { posix } from "node:path";
import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { normaliseText } from "../../shared/text/normalise-text.ts";
import type { ExtractedText } from "../documents/extraction.ts";
import { checkCharacters, checkName, quotePath } from "./names.ts";
import { mayBegin } from "./policy.ts";
import type { SecurityPolicy } from "./policy.ts";
import { below, placesOf, shownPath } from "./roots.ts";
import type { PinnedRoot, FileLocation } from "./roots.ts";
import { suggestNames } from "./suggest-names.ts";
import type { CachedNames, KnownAttachment, NameListing } from "./suggest-names.ts";
import { visitFile } from "./visit-file.ts";
import type { OpenFile } from "./descriptors.ts";
import type { Access, Visited } from "./visit-file.ts";

export type Named = {
  readonly path: string;
  /** Looks only at this path from the work root: for a stored path, which no person spelled. */
  readonly lookup?: "exact" | undefined;
  /** The hash of the recorded bytes: if the file is gone or has other bytes, the database's copy is used. */
  readonly sha256?: string | undefined;
};

/** The path as requested, and as an absolute path. */
type RequestedPath = { readonly path: string; readonly absolute: string };

/**
 * Visits the one file that a path, spelled by a person, means: checks 2 to 15. A path with a slash is relative to the
 * work root; if nothing is there, to the one allowed root that has such a file; and if none has, it means the one
 * file whose path is equal in another Unicode form.
 */
export async function findFile<T>(
  search: Search,
  named: Named,
  visit: (file: OpenFile) => T,
): Promise<Visited<T>> {
  if (!search.isListed) return findOnce(search, named, visit);
  await search.listing.current();
  const found = await findOnce(search, named, visit);
  if (!isMissing(found)) return found;
  await search.listing.renewed();
  return findOnce(search, named, visit);
}

async function findOnce<T>(
  search: Search,
  { path, lookup }: Named,
  visit: (file: OpenFile) => T,
): Promise<Visited<T>> {
  const isPlain = lookup === "exact" && !posix.isAbsolute(path);
  const parsed = parsePath(isPlain ? `./${path}` : path, search.policy);
  if (parsed.kind === "refused") return parsed;
  if (parsed.kind === "bare") return findByName(search, parsed.name, visit);
  const wanted = { path, absolute: parsed.absolute };
  const places = placesOf(wanted.absolute, search.roots);
  const exact = visitExactly(search, wanted, places, visit);
  if (exact?.kind === "visited") return exact;
  if (exact === null || isMissing(exact)) {
    const found = lookup === "exact" ? null : await findElsewhere(search, wanted, visit);
    if (found !== null) return found;
    return exact === null ? refuseOutside(search, wanted) : withListed(search, path, exact);
  }
  const isBarred = places.every((place) => !hasAllowedName(search, place));
  if (search.anywhere !== null || !isBarred) return exact;
  return refuseFolder(search, places) ?? withListed(search, path, exact);
}

/** Whether a path within the grant leads to a file that may not be read; false for a file that is gone. */
export function leadsOut(search: Search, path: string): boolean {
  if (!mayBegin(path, search.access.rules.pathPrefixes)) return false;
  const places = placesOf(posix.join(search.policy.securityRoot, path), search.roots);
  const visited = visitFirst(search, places, () => null);
  return visited.kind === "refused" && visited.code === "PATH_DENIED";
}

/** Whether the path of a file that is gone, relative to the work root, may be read. Pure. */
export function checkPlace(search: Search, path: string): boolean {
  const { policy, access, roots } = search;
  return (
    mayBegin(path, access.rules.pathPrefixes) &&
    checkCharacters(path) === null &&
    placesOf(posix.join(policy.securityRoot, path), roots).some((place) =>
      hasAllowedName(search, place),
    )
  );
}

const findElsewhere = async <T>(
  search: Search,
  wanted: RequestedPath,
  visit: (file: OpenFile) => T,
): Promise<Visited<T> | null> =>
  findInRoots(search, wanted, visit) ?? findComposed(search, wanted, visit);

/** Null if the path lies in no allowed root. */
function visitExactly<T>(
  search: Search,
  { absolute }: RequestedPath,
  places: readonly FileLocation[],
  visit: (file: OpenFile) => T,
): Visited<T> | null {
  if (search.anywhere === null)
    return places.length === 0 ? null : visitFirst(search, places, visit);
  const { root, access } = search.anywhere;
  return visitFile(access, { root, relativePath: absolute.slice(1) }, visit);
}

const hasAllowedName = ({ access }: Search, { relativePath }: FileLocation): boolean =>
  checkName(relativePath, access.rules) === null;

const withListed = async (search: Search, path: string, refusal: Refusal): Promise<Refusal> =>
  withNames(search, refusal, path, await search.listing.current());

/** Roots may be nested: the outer root may allow what the inner one refuses. */
function visitFirst<T>(
  { access }: Search,
  places: readonly FileLocation[],
  visit: (file: OpenFile) => T,
): Visited<T> {
  const refusals: Refusal[] = [];
  for (const place of places) {
    const outcome = checkName(place.relativePath, access.rules) ?? visitFile(access, place, visit);
    if (outcome.kind === "visited") return outcome;
    refusals.push(outcome);
  }
  return refusals[0] ?? refuse("FILE_NOT_FOUND", "There is no such file.");
}

/**
 * The file at this path below one allowed root, if nothing is there below the work root. A file that a root refuses to
 * open is no candidate, as for a bare name; if no root opens one, the first refusal. Null if no root has such a file.
 */
function findInRoots<T>(
  search: Search,
  wanted: RequestedPath,
  visit: (file: OpenFile) => T,
): Visited<T> | null {
  const { access } = search;
  const relativePath = belowWorkroot(search, wanted);
  if (relativePath === null) return null;
  const places = placesInRoots(search, relativePath).filter((place) =>
    hasAllowedName(search, place),
  );
  const files = distinctFiles(access, places);
  if (files.length > 0) {
    return isTaken(search, wanted) ? null : visitOnly(access, wanted.path, files, visit);
  }
  const refusals = places.flatMap((place): readonly Refusal[] => {
    const outcome = visitFile(access, place, () => null);
    return outcome.kind === "refused" && !isMissing(outcome) ? [outcome] : [];
  });
  return refusals[0] ?? null;
}

const placesInRoots = ({ roots }: Search, relativePath: string): readonly FileLocation[] =>
  roots.map((root) => ({ root, relativePath }));

/** The file whose path is equal in another Unicode form, relative to the work root or else to an allowed root. */
async function findComposed<T>(
  search: Search,
  wanted: RequestedPath,
  visit: (file: OpenFile) => T,
): Promise<Visited<T> | null> {
  const relativePath = belowWorkroot(search, wanted);
  if (relativePath === null) return null;
  const { composed } = await search.listing.current();
  const path = normaliseText(relativePath, "NFC");
  const listed = composed.get(posix.basename(path)) ?? [];
  const having = (pathOf: (place: FileLocation) => string): readonly FileLocation[] =>
    listed.filter((place) => normaliseText(pathOf(place), "NFC") === path);
  const places = having(({ root, relativePath }) => shownPath(root, relativePath));
  if (places.length > 0) return visitOnly(search.access, wanted.path, places, visit);
  const inRoots = having(({ relativePath }) => relativePath);
  if (inRoots.length === 0 || isTaken(search, wanted)) return null;
  return visitOnly(search.access, wanted.path, inRoots, visit);
}

/** Null for a path that is absolute or leaves the work root: it is not looked up below the allowed roots. */
function belowWorkroot({ policy }: Search, { path, absolute }: RequestedPath): string | null {
  return posix.isAbsolute(path) ? null : below(policy.securityRoot, absolute);
}

/** Whether something exists, or may exist, at the requested path: then no file elsewhere replaces it. */
const isTaken = ({ access }: Search, { absolute }: RequestedPath): boolean =>
  access.descriptors.isTaken(absolute);

/** The refusal of a folder whose name has no allowed extension; null if it is no folder, or hidden. */
function refuseFolder({ access }: Search, places: readonly FileLocation[]): Refusal | null {
  const rules = { ...access.rules, extensions: "any" } as const;
  const folder = places.find((place) => {
    if (checkName(place.relativePath, rules) !== null) return false;
    const outcome = visitFile(access, place, () => null);
    return outcome.kind === "refused" && outcome.code === "PATH_IS_DIRECTORY";
  });
  if (folder === undefined) return null;
  const shown = quotePath(shownPath(folder.root, folder.relativePath) || ".");
  return refuse(
    "PATH_DENIED",
    `${shown} is a folder, and what is read is a file: name a file in it. All of its files are taken by ` +
      "nightdesk summarize and nightdesk extract, and nightdesk ask --path asks about them.",
  );
}

/** Suggests the right spelling, because paths are often relative to another folder. */
async function refuseOutside(search: Search, { path, absolute }: RequestedPath): Promise<Refusal> {
  const { policy, roots } = search;
  const relativePath = below(policy.securityRoot, absolute);
  const places = relativePath === null ? [] : placesInRoots(search, relativePath);
  const folder = refuseFolder(search, places);
  if (folder !== null) return folder;
  const found = places.find((place) => visitFirst(search, [place], () => null).kind === "visited");
  const hint =
    found !== undefined
      ? ` Did you mean ${quotePath(shownPath(found.root, found.relativePath))}?`
      : suggestNames(path, await search.listing.current(), await search.attachments());
  const labels = roots.map((root) => quotePath(shownPath(root, "") || ".")).join(", ");
  return refuse(
    "PATH_DENIED",
    `${quotePath(path)} lies in none of the allowed roots (${labels}): paths are relative to the work root, or to one of them.${hint}`,
  );
}

const shownMatches = 10;

/**
 * Visits the file that a bare name means at any depth below the roots: one with exactly that name, or else the only one
 * whose name is equal in another Unicode form.
 */
async function findByName<T>(
  search: Search,
  name: string,
  visit: (file: OpenFile) => T,
): Promise<Visited<T>> {
  const denied = checkName(name, search.access.rules);
  if (denied !== null) {
    return withNames(search, denied, name, await search.listing.current());
  }
  const outcome = visitListed(search, name, await search.listing.current(), visit);
  if (!isMissing(outcome)) return outcome;
  const listing = await search.listing.renewed();
  const again = visitListed(search, name, listing, visit);
  if (!isMissing(again)) return again;
  return withNames(search, again, name, listing);
}

/** Adds the names of similar files and attachments to a refusal. */
async function withNames(
  { attachments }: Search,
  { code, message }: Refusal,
  path: string,
  listing: NameListing,
): Promise<Refusal> {
  return refuse(code, message + suggestNames(path, listing, await attachments()));
}

function visitListed<T>(
  search: Search,
  name: string,
  listing: NameListing,
  visit: (file: OpenFile) => T,
): Visited<T> {
  const places = listing.places.get(name) ?? listing.composed.get(normaliseText(name, "NFC")) ?? [];
  const visited = visitOnly(search.access, name, places, visit);
  if (visited !== null) return visited;
  const [first] = places;
  if (first !== undefined) return visitFile(search.access, first, visit);
  return refuse(
    "FILE_NOT_FOUND",
    `There is no file named ${quotePath(name)} below the allowed roots.`,
  );
}

/**
 * Visits the only file among the places that can be opened. Null if there is none; AMBIGUOUS_PATH for several.
 * @param wanted the requested path
 */
function visitOnly<T>(
  access: Access,
  wanted: string,
  places: readonly FileLocation[],
  visit: (file: OpenFile) => T,
): Visited<T> | null {
  const [only, ...others] = places.length > 1 ? distinctFiles(access, places) : places;
  if (only === undefined) return null;
  return others.length === 0
    ? visitFile(access, only, visit)
    : refuseAmbiguous(access, wanted, [only, ...others]);
}

/** One place for each file that can be opened: links inside a root, and nested roots, name a file twice. */
function distinctFiles(access: Access, places: readonly FileLocation[]): FileLocation[] {
  const byPath = new Map<string, FileLocation>();
  for (const place of places) {
    const located = visitFile(access, place, (file) => file.path);
    if (located.kind === "visited" && !byPath.has(located.value)) {
      byPath.set(located.value, place);
    }
  }
  return [...byPath.values()];
}

function refuseAmbiguous(access: Access, wanted: string, places: readonly FileLocation[]): Refusal {
  const shown = places.slice(0, shownMatches).flatMap((place) => {
    const located = visitFile(access, place, (file) => quotePath(file.path));
    return located.kind === "visited" ? [located.value] : [];
  });
  const more = places.length > shownMatches ? ` and ${places.length - shownMatches} more` : "";
  return refuse(
    "AMBIGUOUS_PATH",
    `${quotePath(wanted)} fits ${places.length} files: ${shown.join(", ")}${more}. Name one by its path.`,
  );
}

const isMissing = (outcome: Visited<unknown>): outcome is Refusal =>
  outcome.kind === "refused" && outcome.code === "FILE_NOT_FOUND";

/** The meaning of a path before the disk is read: a name to look up, or one absolute path. */
type ParsedPath =
  | { readonly kind: "bare"; readonly name: string }
  | { readonly kind: "placed"; readonly absolute: string };

/**
 * Checks 2 and the first half of 3, on the text alone. A path with a `/` is anchored at the security root and
 * normalized lexically (`a/../b`, `./`, a trailing slash); a path without one is a bare name.
 */
function parsePath(path: string, policy: SecurityPolicy): ParsedPath | Refusal {
  const denied = checkCharacters(path) ?? checkAnchor(path, policy);
  if (denied !== null) return denied;
  if (posix.isAbsolute(path)) return { kind: "placed", absolute: tidy(path) };
  if (!path.includes("/") && path !== "." && path !== "..") return { kind: "bare", name: path };
  const mayLeave = policy.allowAnyPath || !policy.rootsMustBeWithinSecurityRoot;
  if (!mayLeave && climbsOut(path)) {
    return refuse(
      "PATH_DENIED",
      `${quotePath(path)} climbs out of the work root: paths are relative to the work root and stay in it.`,
    );
  }
  return { kind: "placed", absolute: tidy(posix.join(policy.securityRoot, path)) };
}

function checkAnchor(path: string, policy: SecurityPolicy): Refusal | null {
  if (/^(~|[a-z]:|\/\/)/i.test(path)) {
    return refuse(
      "PATH_DENIED",
      `${quotePath(path)} starts like a home folder, a drive or a network share: ` +
        `name the file relative to the work root.`,
    );
  }
  if (posix.isAbsolute(path) && policy.denyAbsolutePaths && !policy.allowAnyPath) {
    return refuse(
      "PATH_DENIED",
      `${quotePath(path)} is absolute and security.deny_absolute_paths is on: ` +
        `name the file relative to the work root.`,
    );
  }
  return null;
}

/** True if some `..` leads above the start, even if a later part returns (`../root/x`). */
function climbsOut(path: string): boolean {
  let depth = 0;
  for (const part of path.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return true;
  }
  return false;
}

const tidy = (absolute: string): string => posix.resolve("/", absolute);

export type KeptText = Pick<ExtractedText, "text" | "places" | "leftOut"> & {
  readonly extractor: string;
};

/** The context of the lookup of a path. */
export type Search = {
  readonly policy: SecurityPolicy;
  readonly access: Access;
  readonly roots: readonly PinnedRoot[];
  readonly listing: CachedNames;
  /** Whether only the listing knows which files exist: then it is made before a lookup, and again after a miss. */
  readonly isListed: boolean;
  /** The database's copy by hash: the bytes, or the text that was extracted from them; null if it has neither. */
  readonly kept: (sha256: string) => Promise<Buffer | KeptText | null>;
  /** Known attachments of mails; they are only suggested when no file has the name. */
  readonly attachments: () => Promise<readonly KnownAttachment[]>;
  /** The whole file system as one root, for `allow_any_path`. */
  readonly anywhere: { readonly root: PinnedRoot; readonly access: Access } | null;
};
