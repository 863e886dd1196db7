import { lstatSync } from "node:fs";
import { posix } from "node:path";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { normaliseText } from "../../shared/normalise-text.ts";
import { checkName } from "./check-name.ts";
import { distinctFiles, findByName, isMissing, visitOnly, withNames } from "./find-by-name.ts";
import { parsePath } from "./parse-path.ts";
import { below, type Place, placesOf, shownPath } from "./pinned-root.ts";
import { quotePath } from "./quote-path.ts";
import { isSystemError } from "./refuse-system-error.ts";
import type { Search } from "./search.ts";
import { suggestNames } from "./suggest-names.ts";
import { type OpenFile, visitFile, type Visited } from "./visit-file.ts";

export type Named = {
  readonly path: string;
  /** Only what lies at the path from the work root: for a path that is on record, and that nobody spelled. */
  readonly lookup?: "exact" | undefined;
};

/** As it was asked for and as one absolute place. */
type Asked = { readonly path: string; readonly absolute: string };

/**
 * Visits the one file that a path means as a question spells it: checks 2 to 15. A path with a slash counts from the
 * work root; where nothing lies there, from the one allowed root that has such a file; and where none has, it is the one
 * file whose path is the same in another form of Unicode.
 */
export async function findFile<T>(
  search: Search,
  { path, lookup }: Named,
  visit: (file: OpenFile) => T,
): Promise<Visited<T>> {
  const parsed = parsePath(
    lookup === "exact" && !path.includes("/") ? `./${path}` : path,
    search.policy,
  );
  if (parsed.kind === "refused") return parsed;
  if (parsed.kind === "bare") return findByName(search, parsed.name, visit);
  const asked = { path, absolute: parsed.absolute };
  const places = placesOf(asked.absolute, search.roots);
  const exact = visitExactly(search, asked, places, visit);
  if (exact?.kind === "visited") return exact;
  if (exact === null || isMissing(exact)) {
    const found = lookup === "exact" ? null : await findElsewhere(search, asked, visit);
    if (found !== null) return found;
    return exact === null ? refuseOutside(search, asked) : withListed(search, path, exact);
  }
  const isBarred = places.every((place) => !hasAllowedName(search, place));
  if (search.anywhere !== null || !isBarred) return exact;
  return refuseFolder(search, places) ?? withListed(search, path, exact);
}

const findElsewhere = async <T>(
  search: Search,
  asked: Asked,
  visit: (file: OpenFile) => T,
): Promise<Visited<T> | null> =>
  findInRoots(search, asked, visit) ?? findComposed(search, asked, visit);

/** Null where the path lies in no allowed root. */
function visitExactly<T>(
  search: Search,
  { absolute }: Asked,
  places: readonly Place[],
  visit: (file: OpenFile) => T,
): Visited<T> | null {
  if (search.anywhere === null)
    return places.length === 0 ? null : visitFirst(search, places, visit);
  const { root, ground } = search.anywhere;
  return visitFile(ground, { root, relativePath: absolute.slice(1) }, visit);
}

const hasAllowedName = ({ ground }: Search, { relativePath }: Place): boolean =>
  checkName(relativePath, ground.rules) === null;

const withListed = async (search: Search, path: string, refusal: Refusal): Promise<Refusal> =>
  withNames(refusal, posix.basename(path), await search.listing.current());

/** Roots may lie in one another: what the inner one refuses, the outer may allow. */
function visitFirst<T>(
  { ground }: Search,
  places: readonly Place[],
  visit: (file: OpenFile) => T,
): Visited<T> {
  const refusals: Refusal[] = [];
  for (const place of places) {
    const outcome = checkName(place.relativePath, ground.rules) ?? visitFile(ground, place, visit);
    if (outcome.kind === "visited") return outcome;
    refusals.push(outcome);
  }
  return refusals[0] ?? refuse("FILE_NOT_FOUND", "There is no such file.");
}

/**
 * The file that has this path below one allowed root, where nothing has it below the work root. What a root refuses to
 * open is no candidate, as for a bare name; where no root opens any, what the first of them said of it. Null where
 * none has it.
 */
function findInRoots<T>(
  search: Search,
  asked: Asked,
  visit: (file: OpenFile) => T,
): Visited<T> | null {
  const { ground } = search;
  const relativePath = belowWorkroot(search, asked);
  if (relativePath === null) return null;
  const places = placesInRoots(search, relativePath).filter((place) =>
    hasAllowedName(search, place),
  );
  const files = distinctFiles(ground, places);
  if (files.length > 0) {
    return isTaken(asked.absolute) ? null : visitOnly(ground, asked.path, files, visit);
  }
  const refusals = places.flatMap((place): readonly Refusal[] => {
    const outcome = visitFile(ground, place, () => null);
    return outcome.kind === "refused" && !isMissing(outcome) ? [outcome] : [];
  });
  return refusals[0] ?? null;
}

const placesInRoots = ({ roots }: Search, relativePath: string): readonly Place[] =>
  roots.map((root) => ({ root, relativePath }));

/** The file whose path is the same but for the form of Unicode, from the work root or else from an allowed root. */
async function findComposed<T>(
  search: Search,
  asked: Asked,
  visit: (file: OpenFile) => T,
): Promise<Visited<T> | null> {
  const relativePath = belowWorkroot(search, asked);
  if (relativePath === null) return null;
  const { composed } = await search.listing.current();
  const path = normaliseText(relativePath, "NFC");
  const listed = composed.get(posix.basename(path)) ?? [];
  const having = (pathOf: (place: Place) => string): readonly Place[] =>
    listed.filter((place) => normaliseText(pathOf(place), "NFC") === path);
  const places = having(({ root, relativePath }) => shownPath(root, relativePath));
  if (places.length > 0) return visitOnly(search.ground, asked.path, places, visit);
  const inRoots = having(({ relativePath }) => relativePath);
  if (inRoots.length === 0 || isTaken(asked.absolute)) return null;
  return visitOnly(search.ground, asked.path, inRoots, visit);
}

/** Null for a path that is absolute or leads out of the work root: no allowed root has a file of that path. */
function belowWorkroot({ policy }: Search, { path, absolute }: Asked): string | null {
  return posix.isAbsolute(path) ? null : below(policy.securityRoot, absolute);
}

/** Whether anything lies at a place, or may: then that is what was asked for, and nothing else stands in for it. */
function isTaken(absolute: string): boolean {
  try {
    return lstatSync(absolute, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return !isSystemError(error) || (error.code !== "ENAMETOOLONG" && error.code !== "ELOOP");
  }
}

/** What is said of a folder whose name no file may have; null where it is none, or hidden. */
function refuseFolder({ ground }: Search, places: readonly Place[]): Refusal | null {
  const rules = { ...ground.rules, extensions: "any" } as const;
  const folder = places.find((place) => {
    if (checkName(place.relativePath, rules) !== null) return false;
    const outcome = visitFile(ground, place, () => null);
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

/** The right spelling is looked for, since paths are often written from elsewhere. */
async function refuseOutside(search: Search, { path, absolute }: Asked): Promise<Refusal> {
  const { policy, roots } = search;
  const relativePath = below(policy.securityRoot, absolute);
  const places = relativePath === null ? [] : placesInRoots(search, relativePath);
  const folder = refuseFolder(search, places);
  if (folder !== null) return folder;
  const found = places.find((place) => visitFirst(search, [place], () => null).kind === "visited");
  const hint =
    found !== undefined
      ? ` Did you mean ${quotePath(shownPath(found.root, found.relativePath))}?`
      : suggestNames(posix.basename(path), await search.listing.current());
  const labels = roots.map((root) => quotePath(shownPath(root, "") || ".")).join(", ");
  return refuse(
    "PATH_DENIED",
    `${quotePath(path)} lies in none of the allowed roots (${labels}): paths are relative to the work root, or to one of them.${hint}`,
  );
}
