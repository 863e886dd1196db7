import { refuse, type Refusal } from "../../shared/failure.ts";
import { normaliseText } from "../../shared/normalise-text.ts";
import { checkName } from "./check-name.ts";
import type { NameListing } from "./list-names.ts";
import type { Place } from "./pinned-root.ts";
import { quotePath } from "./quote-path.ts";
import type { Search } from "./search.ts";
import { suggestNames } from "./suggest-names.ts";
import { type Ground, type OpenFile, visitFile, type Visited } from "./visit-file.ts";

const shownMatches = 10;

/**
 * Visits the file that a bare name means at any depth below the roots: one of exactly that name, or else the only one
 * whose name is the same in another form of Unicode.
 */
export async function findByName<T>(
  search: Search,
  name: string,
  visit: (file: OpenFile) => T,
): Promise<Visited<T>> {
  const denied = checkName(name, search.ground.rules);
  if (denied !== null) return withNames(denied, name, await search.listing.current());
  const outcome = visitListed(search, name, await search.listing.current(), visit);
  if (!isMissing(outcome)) return outcome;
  const listing = await search.listing.renewed();
  const again = visitListed(search, name, listing, visit);
  if (!isMissing(again)) return again;
  return withNames(again, name, listing);
}

/** The refusal, and the names of files that may have been meant. */
export const withNames = (
  { code, message }: Refusal,
  name: string,
  listing: NameListing,
): Refusal => refuse(code, message + suggestNames(name, listing));

function visitListed<T>(
  search: Search,
  name: string,
  listing: NameListing,
  visit: (file: OpenFile) => T,
): Visited<T> {
  const places = listing.places.get(name) ?? listing.composed.get(normaliseText(name, "NFC")) ?? [];
  const visited = visitOnly(search.ground, name, places, visit);
  if (visited !== null) return visited;
  const [first] = places;
  if (first !== undefined) return visitFile(search.ground, first, visit);
  return refuse(
    "FILE_NOT_FOUND",
    `There is no file named ${quotePath(name)} below the allowed roots.`,
  );
}

/**
 * Visits the one file among places that may be opened. Null where there is none; AMBIGUOUS_PATH for several.
 * @param asked the path as it was asked for
 */
export function visitOnly<T>(
  ground: Ground,
  asked: string,
  places: readonly Place[],
  visit: (file: OpenFile) => T,
): Visited<T> | null {
  const [only, ...others] = places.length > 1 ? distinctFiles(ground, places) : places;
  if (only === undefined) return null;
  return others.length === 0
    ? visitFile(ground, only, visit)
    : refuseAmbiguous(ground, asked, [only, ...others]);
}

/** One place for each file that would open: links inside a root, and roots in roots, name a file twice. */
export function distinctFiles(ground: Ground, places: readonly Place[]): Place[] {
  const byPath = new Map<string, Place>();
  for (const place of places) {
    const located = visitFile(ground, place, (file) => file.path);
    if (located.kind === "visited" && !byPath.has(located.value)) {
      byPath.set(located.value, place);
    }
  }
  return [...byPath.values()];
}

function refuseAmbiguous(ground: Ground, asked: string, places: readonly Place[]): Refusal {
  const shown = places.slice(0, shownMatches).flatMap((place) => {
    const located = visitFile(ground, place, (file) => quotePath(file.path));
    return located.kind === "visited" ? [located.value] : [];
  });
  const more = places.length > shownMatches ? ` and ${places.length - shownMatches} more` : "";
  return refuse(
    "AMBIGUOUS_PATH",
    `${quotePath(asked)} fits ${places.length} files: ${shown.join(", ")}${more}. Name one by its path.`,
  );
}

export const isMissing = (outcome: Visited<unknown>): outcome is Refusal =>
  outcome.kind === "refused" && outcome.code === "FILE_NOT_FOUND";
