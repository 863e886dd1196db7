import type { NameListing } from "./list-names.ts";
import { type Place, shownPath } from "./pinned-root.ts";
import { editDistance } from "./edit-distance.ts";
import { quotePath } from "./quote-path.ts";

const maxDistance = 2;
const maxSuggestions = 3;

/**
 * A sentence that offers the closest names of a listing for one that was not found (case and Unicode form
 * ignored; at most two edits, a third of the name, or the same name with another ending or with one at all), or
 * nothing. Ties go by path.
 */
export function suggestNames(name: string, listing: NameListing): string {
  const wanted = fold(name);
  const limit = Math.min(maxDistance, Math.floor(wanted.length / 3));
  const close = [...listing.places].flatMap(([listed, places]) => {
    const distance = distanceOf(wanted, fold(listed), limit);
    return distance > maxDistance ? [] : places.map((place) => ({ distance, listed, place }));
  });
  close.sort((a, b) => a.distance - b.distance);
  const offers = close
    .slice(0, maxSuggestions)
    .map(({ listed, place }) => offer(name, listed, place));
  const cut =
    listing.cutAt === null
      ? ""
      : ` Only the first ${listing.cutAt} entries below the roots were looked at: name the file by its path.`;
  return (offers.length === 0 ? "" : ` Did you mean ${offers.join(" or ")}?`) + cut;
}

function distanceOf(wanted: string, listed: string, limit: number): number {
  const edits = editDistance(wanted, listed, limit);
  if (edits <= limit) return edits;
  const stem = stemOf(listed);
  const isSameFile = stem.length > 1 && (stem === wanted || stem === stemOf(wanted));
  return isSameFile ? maxDistance : maxDistance + 1;
}

const stemOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf(".")));
const fold = (name: string): string => name.normalize("NFC").toLowerCase();

/** Twins that look alike are told apart in words. */
function offer(name: string, listed: string, { root, relativePath }: Place): string {
  const isTwin = listed !== name && listed.normalize("NFC") === name.normalize("NFC");
  const path = quotePath(shownPath(root, relativePath));
  return isTwin ? `${path} (the same letters in another Unicode form)` : path;
}
