import { refuse, type Refusal } from "../../shared/failure.ts";
import { checkName } from "./check-name.ts";
import type { NameListing } from "./list-names.ts";
import type { Place } from "./pinned-root.ts";
import { quotePath } from "./quote-path.ts";
import type { Search } from "./search.ts";
import { suggestNames } from "./suggest-names.ts";
import { type OpenFile, visitFile, type Visited } from "./visit-file.ts";

const shownMatches = 10;

/** Visits the file that a bare name means at any depth below the roots; the name must match exactly. */
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
  const places = listing.places.get(name) ?? [];
  const [only, ...others] = places.length > 1 ? distinctFiles(search, places) : places;
  if (only === undefined) {
    const [first] = places;
    if (first !== undefined) return visitFile(search.ground, first, visit);
    return refuse(
      "FILE_NOT_FOUND",
      `There is no file named ${quotePath(name)} below the allowed roots.`,
    );
  }
  if (others.length === 0) return visitFile(search.ground, only, visit);
  return refuseAmbiguous(search, name, [only, ...others]);
}

/** One place for each file that would open: links inside a root, and roots in roots, name a file twice. */
function distinctFiles({ ground }: Search, places: readonly Place[]): Place[] {
  const byPath = new Map<string, Place>();
  for (const place of places) {
    const located = visitFile(ground, place, (file) => file.path);
    if (located.kind === "visited" && !byPath.has(located.value)) {
      byPath.set(located.value, place);
    }
  }
  return [...byPath.values()];
}

function refuseAmbiguous({ ground }: Search, name: string, places: readonly Place[]): Refusal {
  const shown = places.slice(0, shownMatches).flatMap((place) => {
    const located = visitFile(ground, place, (file) => quotePath(file.path));
    return located.kind === "visited" ? [located.value] : [];
  });
  const more = places.length > shownMatches ? ` and ${places.length - shownMatches} more` : "";
  return refuse(
    "AMBIGUOUS_PATH",
    `${quotePath(name)} fits ${places.length} files: ${shown.join(", ")}${more}. Name one by its path.`,
  );
}

const isMissing = (outcome: Visited<unknown>): outcome is Refusal =>
  outcome.kind === "refused" && outcome.code === "FILE_NOT_FOUND";
