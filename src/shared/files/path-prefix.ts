import { lstatSync, realpathSync } from "node:fs";
import { posix } from "node:path";
import type { Config } from "../config/schema.ts";
import { refuse } from "../failure.ts";
import type { Refusal } from "../failure.ts";

/** What the paths of documents begin with; undefined for the work root itself, which all of them begin with. */
type PathPrefix = { readonly kind: "prefix"; readonly prefix: string | undefined };

/**
 * What `--path` means, a folder that is there with a `/` at its end: a file or folder that is there from the current folder
 * and lies in the work root, by its path from the work root; else one that is there from the work root, or from the one
 * allowed root that has it; else what its folder is, if that is there, with the rest behind it (`corpus/2026-`); anything
 * else as it is written, without `../` and doubled slashes.
 * @returns AMBIGUOUS_PATH where several allowed roots have it
 */
export function pathPrefixOf(
  given: string,
  cwd: string,
  { roots, security }: Pick<Config, "roots" | "security">,
): PathPrefix | Refusal {
  const { workroot } = roots;
  const path = posix.normalize(given);
  const atEnd = given.endsWith("/") ? "/" : "";
  const below = placeBelow(workroot, posix.resolve(cwd, given));
  if (below !== undefined) return prefixOf(below === "" ? undefined : below);
  if (posix.isAbsolute(path) || /^\.\.?(\/|$)/.test(path)) return prefixOf(path);
  const folder = posix.dirname(path);
  for (const [looked, rest, find] of [
    [path.replace(/\/$/, ""), "", placeBelow],
    [folder, posix.basename(path) + atEnd, folderBelow],
  ] as const) {
    if (looked === ".") break;
    const exact = find(workroot, posix.join(workroot, looked));
    if (exact !== undefined) return prefixOf(exact + rest);
    const found = security.allowed_roots.flatMap((root) => {
      const at = posix.resolve(workroot, root);
      const place = find(at, posix.join(at, looked));
      return place === undefined ? [] : [posix.join(posix.relative(workroot, at), place)];
    });
    const [only, ...others] = new Set(found);
    if (only !== undefined) {
      return others.length === 0
        ? prefixOf(only + rest)
        : refuseAmbiguous(given, [only, ...others]);
    }
  }
  return prefixOf(path);
}

const prefixOf = (prefix: string | undefined): PathPrefix => ({ kind: "prefix", prefix });

const refuseAmbiguous = (given: string, places: readonly string[]): Refusal =>
  refuse(
    "AMBIGUOUS_PATH",
    `--path ${JSON.stringify(given)} fits ${places.length} places: ${places.map((place) => JSON.stringify(place)).join(", ")}. ` +
      "Name one by its path from the work root.",
  );

/** The path of what is there, from a folder that it lies in; undefined for anything else. Empty for the folder itself. */
function placeBelow(folder: string, path: string): string | undefined {
  const place = realPlace(path);
  const root = realPlace(folder);
  if (place === undefined || root === undefined) return undefined;
  if (place === root) return "";
  if (!place.startsWith(root === "/" ? root : `${root}/`)) return undefined;
  return posix.relative(root, place) + (isFolder(place) ? "/" : "");
}

/** The same for a folder alone; one that a link leads out to is none. */
const folderBelow = (folder: string, path: string): string | undefined => {
  const place = placeBelow(folder, path);
  return place === "" || place?.endsWith("/") === true ? place : undefined;
};

const isFolder = (place: string): boolean =>
  lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;

/** Only folders are resolved: a link in a source is a document under its own name. */
function realPlace(path: string): string | undefined {
  try {
    const place = posix.join(realpathSync(posix.dirname(path)), posix.basename(path));
    return lstatSync(place).isDirectory() ? realpathSync(place) : place;
  } catch {
    return undefined;
  }
}
