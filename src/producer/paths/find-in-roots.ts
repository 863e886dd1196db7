import { realpath } from "node:fs/promises";
import { isAbsolute, posix, resolve } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { normaliseText } from "../../shared/normalise-text.ts";
import { kindOf, pathInside } from "./find-named-file.ts";
import type { ListedFile } from "./list-files.ts";

/** A file or a folder by its path from the work root. */
export type FoundPlace = { readonly kind: "file" | "folder"; readonly path: string };

export type Lookup = {
  readonly config: Config;
  readonly cwd: string;
  /** The files below the allowed roots. */
  readonly list: () => Promise<readonly ListedFile[]>;
};

/**
 * What a path means that nothing has from the current folder: what lies there from the work root; else below the one
 * allowed root that has it, at any depth for a bare name; else what has the same path in another form of Unicode. As in
 * the worker's sandbox, a path that is absolute or climbs is none, and what leads out of its root is no candidate.
 * @returns undefined where nothing has it, AMBIGUOUS_PATH for several
 */
export async function findInRoots(
  arg: string,
  { config, cwd, list }: Lookup,
): Promise<FoundPlace | Refusal | undefined> {
  if (isAbsolute(arg)) return undefined;
  const { workroot } = config.roots;
  const path = posix.normalize(arg).replace(/\/$/, "");
  const isBelow = path !== "." && !/^\.\.(\/|$)/.test(path);
  const exact = isBelow ? await look({ root: workroot, below: path }, workroot) : undefined;
  if (exact !== undefined) return only(arg, [exact]);
  const files = await list().catch(withoutListing);
  const lookAll = (places: readonly Place[]) =>
    Promise.all(places.map((place) => look(place, workroot)));
  if (isBelow) {
    const inRoots = config.security.allowed_roots.map((root) => ({
      root: resolve(workroot, root),
      below: path,
    }));
    const byName = files.filter((file) => nameOf(file) === path);
    const found = only(arg, await lookAll([...inRoots, ...byName.map(placeIn(workroot))]));
    if (found !== undefined) return found;
  }
  const spellings = [pathInside(workroot, resolve(cwd, arg)), isBelow ? path : undefined];
  return only(arg, await lookAll(composedPlaces(spellings, files).map(placeIn(workroot))));
}

/** A root (absolute), and a path below it. */
type Place = { readonly root: string; readonly below: string };

const placeIn =
  (workroot: string) =>
  ({ path, belowRoot }: Pick<ListedFile, "path" | "belowRoot">): Place => ({
    root: resolve(workroot, path.slice(0, path.length - belowRoot.length)),
    below: belowRoot,
  });

/** Too many files to list are no reason to refuse one by its path. */
function withoutListing(error: unknown): readonly ListedFile[] {
  if (error instanceof Failure) return [];
  throw error;
}

type Candidate = FoundPlace & {
  /** Free of links: two names of one place are one candidate. */
  readonly realPath: string;
};

/** What lies there, unless it leads out of its root. */
async function look({ root, below }: Place, workroot: string): Promise<Candidate | undefined> {
  const place = resolve(root, below);
  const kind = await kindOf(place);
  const path = pathInside(workroot, place);
  const [realPath, realRoot] = await Promise.all([place, root].map(realpathOf));
  if (kind === undefined || path === undefined) return undefined;
  if (realPath === undefined || realRoot === undefined) return undefined;
  return pathInside(realRoot, realPath) === undefined ? undefined : { kind, path, realPath };
}

/** Undefined for what is gone by now. */
const realpathOf = (path: string): Promise<string | undefined> =>
  realpath(path).catch(() => undefined);

const nameOf = ({ path }: ListedFile): string => posix.basename(path);

/** Files of the listing, and the folders above them, whose path is the same but for the form of Unicode. */
function composedPlaces(
  spellings: readonly (string | undefined)[],
  files: readonly ListedFile[],
): readonly Pick<ListedFile, "path" | "belowRoot">[] {
  const wanted = new Set(spellings.map((each) => each && normaliseText(each, "NFC")));
  const isWanted = (path: string): boolean => wanted.has(normaliseText(path, "NFC"));
  const places = new Map<string, Pick<ListedFile, "path" | "belowRoot">>();
  for (const file of files) {
    if (isWanted(nameOf(file))) places.set(file.path, file);
    for (const place of [file, ...foldersOf(file)]) {
      if (isWanted(place.path) || isWanted(place.belowRoot)) places.set(place.path, place);
    }
  }
  return [...places.values()];
}

/** The folders above a file and below its root. */
function foldersOf({ path, belowRoot }: ListedFile): Pick<ListedFile, "path" | "belowRoot">[] {
  const parts = belowRoot.split("/");
  const root = path.slice(0, path.length - belowRoot.length);
  return parts.slice(1).map((_, index) => {
    const below = parts.slice(0, index + 1).join("/");
    return { path: root + below, belowRoot: below };
  });
}

function only(
  arg: string,
  candidates: readonly (Candidate | undefined)[],
): FoundPlace | Refusal | undefined {
  const distinct = new Map<string, FoundPlace>();
  for (const candidate of candidates) {
    if (candidate === undefined || distinct.has(candidate.realPath)) continue;
    distinct.set(candidate.realPath, { kind: candidate.kind, path: candidate.path });
  }
  const [first, ...others] = distinct.values();
  return others.length === 0 ? first : refuseAmbiguous(arg, [...distinct.values()]);
}

const SHOWN_PLACES = 10;

function refuseAmbiguous(arg: string, places: readonly FoundPlace[]): Refusal {
  const shown = places
    .slice(0, SHOWN_PLACES)
    .map(({ kind, path }) => JSON.stringify(kind === "folder" ? `${path}/` : path));
  const more = places.length > SHOWN_PLACES ? ` and ${places.length - SHOWN_PLACES} more` : "";
  return refuse(
    "AMBIGUOUS_PATH",
    `${JSON.stringify(arg)} fits ${places.length} files or folders: ${shown.join(", ")}${more}. Name one by its path from the work root.`,
  );
}
