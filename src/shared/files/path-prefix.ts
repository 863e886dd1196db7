import { lstatSync, realpathSync } from "node:fs";
import { posix } from "node:path";
import type { Config } from "../config/schema.ts";
import { refuse } from "../failure.ts";
import type { Refusal } from "../failure.ts";

/** A prefix of document paths; undefined for the work root, which contains all of them. */
type PathPrefix = { readonly kind: "prefix"; readonly prefix: string | undefined };

/**
 * Resolves `--path`; an existing folder gets a `/` at its end. In this order: an existing file or folder relative to the current
 * folder, if it lies in the work root, by its path from there; else an existing one relative to the work root, or to the only
 * allowed root that has it; else the same for its parent folder, followed by the rest (`corpus/2026-`); else the text as
 * written, without `../` and double slashes.
 * @returns AMBIGUOUS_PATH if several allowed roots have it
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

/** The path of an existing entry relative to a folder above it, empty for the folder itself; undefined for anything else. */
function placeBelow(folder: string, path: string): string | undefined {
  const place = realPlace(path);
  const root = realPlace(folder);
  if (place === undefined || root === undefined) return undefined;
  if (place === root) return "";
  if (!place.startsWith(root === "/" ? root : `${root}/`)) return undefined;
  return posix.relative(root, place) + (isFolder(place) ? "/" : "");
}

/** The same for folders only; a folder behind a link that leads outside does not count. */
const folderBelow = (folder: string, path: string): string | undefined => {
  const place = placeBelow(folder, path);
  return place === "" || place?.endsWith("/") === true ? place : undefined;
};

const isFolder = (place: string): boolean =>
  lstatSync(place, { throwIfNoEntry: false })?.isDirectory() === true;

/** Resolves folders only: a link in a source is a document under its own name. */
function realPlace(path: string): string | undefined {
  try {
    const place = posix.join(realpathSync(posix.dirname(path)), posix.basename(path));
    return lstatSync(place).isDirectory() ? realpathSync(place) : place;
  } catch {
    return undefined;
  }
}
