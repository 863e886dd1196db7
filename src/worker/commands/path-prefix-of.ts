import { lstatSync, realpathSync } from "node:fs";
import { posix } from "node:path";

/**
 * What the paths of documents begin with, for `--path`: a file or folder that is there from the current folder and lies in
 * the work root, by its path from the work root; anything else without `./` and doubled slashes.
 * @returns undefined for the work root itself, which all paths begin with
 */
export function pathPrefixOf(given: string, cwd: string, workroot: string): string | undefined {
  const place = realPlace(posix.resolve(cwd, given));
  const root = realPlace(workroot);
  if (place !== undefined && root !== undefined && isBelow(place, root)) {
    const below = posix.relative(root, place);
    if (below === "") return undefined;
    return given.endsWith("/") ? `${below}/` : below;
  }
  return posix.normalize(given);
}

const isBelow = (place: string, root: string): boolean =>
  place === root || place.startsWith(root === "/" ? root : `${root}/`);

/** Only folders are resolved: a link in a source is a document under its own name. */
function realPlace(path: string): string | undefined {
  try {
    const place = posix.join(realpathSync(posix.dirname(path)), posix.basename(path));
    return lstatSync(place).isDirectory() ? realpathSync(place) : place;
  } catch {
    return undefined;
  }
}
