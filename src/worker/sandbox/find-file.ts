import { posix } from "node:path";
import { refuse, type Refusal } from "../../shared/failure.ts";
import { checkName } from "./check-name.ts";
import { findByName, withNames } from "./find-by-name.ts";
import { parsePath } from "./parse-path.ts";
import { below, type Place, placesOf, shownPath } from "./pinned-root.ts";
import { quotePath } from "./quote-path.ts";
import type { Search } from "./search.ts";
import { suggestNames } from "./suggest-names.ts";
import { type OpenFile, visitFile, type Visited } from "./visit-file.ts";

/** Visits the one file that a path means as a question spells it: checks 2 to 15. */
export async function findFile<T>(
  search: Search,
  path: string,
  visit: (file: OpenFile) => T,
): Promise<Visited<T>> {
  const parsed = parsePath(path, search.policy);
  if (parsed.kind === "refused") return parsed;
  if (parsed.kind === "bare") return findByName(search, parsed.name, visit);
  if (search.anywhere !== null) {
    const { root, ground } = search.anywhere;
    return visitFile(ground, { root, relativePath: parsed.absolute.slice(1) }, visit);
  }
  const places = placesOf(parsed.absolute, search.roots);
  if (places.length === 0) return refuseOutside(search, path, parsed.absolute);
  const outcome = visitFirst(search, places, visit);
  if (outcome.kind === "visited") return outcome;
  const isMissing = outcome.code === "FILE_NOT_FOUND";
  const isBarred = places.every(
    ({ relativePath }) => checkName(relativePath, search.ground.rules) !== null,
  );
  return isMissing || isBarred
    ? withNames(outcome, posix.basename(path), await search.listing.current())
    : outcome;
}

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

/** Paths relative to an allowed root are a common slip, so the right spelling is looked for. */
async function refuseOutside(search: Search, path: string, absolute: string): Promise<Refusal> {
  const { policy, roots } = search;
  const relativePath = posix.relative(policy.securityRoot, absolute);
  const found = roots.find(
    (root) =>
      below(policy.securityRoot, absolute) !== null &&
      visitFirst(search, [{ root, relativePath }], () => null).kind === "visited",
  );
  const hint =
    found !== undefined
      ? ` Did you mean ${quotePath(shownPath(found, relativePath))}?`
      : suggestNames(posix.basename(path), await search.listing.current());
  const labels = roots.map((root) => quotePath(shownPath(root, "") || ".")).join(", ");
  return refuse(
    "PATH_DENIED",
    `${quotePath(path)} lies in none of the allowed roots (${labels}): paths are relative to the work root.${hint}`,
  );
}
