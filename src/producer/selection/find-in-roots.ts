import type { Dirent } from "node:fs";
import { lstat, readdir, realpath, stat } from "node:fs/promises";
import {
  basename,
  dirname,
  extname,
  isAbsolute,
  join,
  posix,
  relative,
  resolve,
  sep,
} from "node:path";
import { attachmentPlaces } from "../../shared/files/attachment-path.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure, refuse } from "../../shared/failure.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";
import type { Refusal } from "../../shared/failure.ts";
import { findCloseNames } from "../../shared/text/close-names.ts";
import { normaliseText } from "../../shared/text/normalise-text.ts";
import { isHiddenName } from "../../shared/files/skipped-files.ts";

/** A file or a folder, by its path from the work root. */
export type FoundPlace = { readonly kind: "file" | "folder"; readonly path: string };

export type Lookup = {
  readonly config: Config;
  readonly cwd: string;
  /** The files below the allowed roots. */
  readonly list: () => Promise<readonly ListedFile[]>;
};

/**
 * Finds a path that does not exist from the current folder: from the work root; else below the one allowed root that has
 * it, at any depth for a bare name; else the same path in another Unicode form. As in the worker's sandbox, it does not look
 * up an absolute path or one that climbs, and a link that leads out of its root is no candidate.
 * @returns undefined if nothing has the path, AMBIGUOUS_PATH for several
 */
export async function findInRoots(
  arg: string,
  { config, cwd, list }: Lookup,
): Promise<FoundPlace | Refusal | undefined> {
  if (isAbsolute(arg)) return undefined;
  const { workroot } = config.roots;
  const path = posix.normalize(arg).replace(/\/$/, "");
  const isBelow = path !== "." && !/^\.\.(\/|$)/.test(path);
  const exact = isBelow ? await candidateAt({ root: workroot, below: path }, workroot) : undefined;
  if (exact !== undefined) return single(arg, [exact]);
  const files = await list().catch(withoutListing);
  const candidatesAt = (places: readonly FileLocation[]) =>
    Promise.all(places.map((place) => candidateAt(place, workroot)));
  if (isBelow) {
    const inRoots = config.security.allowed_roots.map((root) => ({
      root: resolve(workroot, root),
      below: path,
    }));
    const byName = files.filter((file) => nameOf(file) === path);
    const found = single(arg, await candidatesAt([...inRoots, ...byName.map(placeIn(workroot))]));
    if (found !== undefined) return found;
  }
  const spellings = [pathInside(workroot, resolve(cwd, arg)), isBelow ? path : undefined];
  return single(arg, await candidatesAt(composedPlaces(spellings, files).map(placeIn(workroot))));
}

/** Refuses a path that does not exist here and has no extension that a worker reads; undefined for any other. */
export async function refuseNowhere(
  arg: string,
  { config: { roots, security }, cwd, list }: Lookup,
): Promise<Refusal | undefined> {
  const mayBeRead = security.allowed_exts.includes(extname(arg).toLowerCase());
  const isPlain = !/^\/|^\.\.(\/|$)|\0/.test(posix.normalize(arg));
  if (mayBeRead || !isPlain || security.allow_any_path) return undefined;
  const folders = [
    cwd,
    ...["", ...security.allowed_roots].map((at) => resolve(roots.workroot, at)),
  ];
  const stats = folders.map((folder) => lstat(resolve(folder, arg)));
  const isThere = (await Promise.allSettled(stats)).some(({ status }) => status === "fulfilled");
  if (isThere) return undefined;
  const files = await list().catch(withoutListing);
  const named = new Map(
    files.flatMap((file) => [
      ...foldersOf(file).map(({ path }) => [posix.basename(path), `${path}/`] as const),
      ...foldersOf(file).map(({ path }) => [path, `${path}/`] as const),
      [nameOf(file), file.path] as const,
      [file.path, file.path] as const,
    ]),
  );
  const close = findCloseNames(arg, [...named.keys()]).map((name) => named.get(name));
  const meant = [...new Set(close)].map((path) => JSON.stringify(path)).join(" or ");
  return refuse(
    "FILE_NOT_FOUND",
    `There is no file or folder ${JSON.stringify(arg)} in the current folder, the work root or the allowed roots.` +
      (meant === "" ? " nightdesk query finds files by their words." : ` Did you mean ${meant}?`),
  );
}

/** An absolute root, and a path below it. */
type FileLocation = { readonly root: string; readonly below: string };

const placeIn =
  (workroot: string) =>
  ({ path, belowRoot }: Pick<ListedFile, "path" | "belowRoot">): FileLocation => ({
    root: resolve(workroot, path.slice(0, path.length - belowRoot.length)),
    below: belowRoot,
  });

/** Continues without a listing if there are too many files: a path must not be refused for that. */
function withoutListing(error: unknown): readonly ListedFile[] {
  if (error instanceof Failure) return [];
  throw error;
}

type Candidate = FoundPlace & {
  /** Free of links, so that two names of one file are one candidate. */
  readonly realPath: string;
};

/** The file or folder at a place; undefined if it leads out of its root. */
async function candidateAt(
  { root, below }: FileLocation,
  workroot: string,
): Promise<Candidate | undefined> {
  const place = resolve(root, below);
  const kind = await kindOf(place);
  const path = pathInside(workroot, place);
  const [realPath, realRoot] = await Promise.all([place, root].map(realpathOf));
  if (kind === undefined || path === undefined) return undefined;
  if (realPath === undefined || realRoot === undefined) return undefined;
  return pathInside(realRoot, realPath) === undefined ? undefined : { kind, path, realPath };
}

/** Undefined if the path does not exist any more. */
const realpathOf = (path: string): Promise<string | undefined> =>
  realpath(path).catch(() => undefined);

const nameOf = ({ path }: ListedFile): string => posix.basename(path);

/** Files of the listing, and folders above them, whose path is equal in Unicode form NFC. */
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

function single(
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

/**
 * The path, relative to the work root and with `/`, of the file that a command-line path names from the current folder;
 * undefined if it is not in the work root. The worker's sandbox decides whether it may be read.
 */
export async function findNamedFile(
  path: string,
  cwd: string,
  workroot: string,
): Promise<string | undefined> {
  if ((await kindOf(resolve(cwd, path))) !== "file") return findAttachment(path, cwd, workroot);
  // Resolves only folders: the sandbox decides about a link at the end.
  const file = join(await realpath(dirname(resolve(cwd, path))), basename(path));
  return pathInside(await realpath(workroot), file);
}

/** An attachment, by the path of its mail: the worker's sandbox checks whether the mail has it. */
async function findAttachment(
  path: string,
  cwd: string,
  workroot: string,
): Promise<string | undefined> {
  for (const { file, names } of attachmentPlaces(path)) {
    if ((await kindOf(resolve(cwd, file))) !== "file") continue;
    const mail = await findNamedFile(file, cwd, workroot);
    if (mail !== undefined) return [mail, ...names].join("/");
  }
  return undefined;
}

/** As `findNamedFile`, for a folder; empty for the work root itself. */
export async function findNamedFolder(
  path: string,
  cwd: string,
  workroot: string,
): Promise<string | undefined> {
  if ((await kindOf(resolve(cwd, path))) !== "folder") return undefined;
  return pathInside(await realpath(workroot), await realpath(resolve(cwd, path)));
}

/** The path of a place relative to a folder, with `/`; undefined if it lies outside. */
function pathInside(folder: string, place: string): string | undefined {
  const path = relative(folder, place);
  const isOutside = path === ".." || path.startsWith(`..${sep}`);
  return isOutside ? undefined : path.split(sep).join("/");
}

/** Follows links. Undefined if the path does not exist, can't be read, or is neither. */
async function kindOf(path: string): Promise<"file" | "folder" | undefined> {
  if (path.includes("\0")) return undefined;
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true ? "file" : found?.isDirectory() === true ? "folder" : undefined;
}

/** A file below an allowed root. Both paths have `/`. */
export type ListedFile = {
  /** Relative to the work root. */
  readonly path: string;
  /** Relative to the allowed root. */
  readonly belowRoot: string;
  /** Whether security.allowed_exts has its extension. */
  readonly hasAllowedExtension: boolean;
};

const MOST_ENTRIES = 200_000;
const MOST_LEVELS = 64;

/**
 * Lists files below the allowed roots, sorted by path. It skips hidden names, and does not follow links to
 * folders. The list only selects files for jobs: the worker's sandbox decides about each file.
 * @throws Failure INPUT_INVALID beyond 200,000 entries
 */
export async function listFiles(config: Config): Promise<readonly ListedFile[]> {
  const { workroot } = config.roots;
  const files = new Map<string, ListedFile>();
  const budget = { left: MOST_ENTRIES };
  for (const root of config.security.allowed_roots) {
    const folder = resolve(workroot, root);
    for await (const file of walk(folder, budget, 0)) {
      const path = withSlashes(relative(workroot, file));
      files.set(path, {
        path,
        belowRoot: withSlashes(relative(folder, file)),
        hasAllowedExtension: config.security.allowed_exts.includes(extname(file).toLowerCase()),
      });
    }
  }
  return [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

const withSlashes = (path: string): string => path.split(sep).join("/");

async function* walk(
  folder: string,
  budget: { left: number },
  level: number,
): AsyncGenerator<string> {
  const entries =
    level > MOST_LEVELS ? [] : await readdir(folder, { withFileTypes: true }).catch(noFolder);
  for (const entry of entries) {
    budget.left -= 1;
    if (budget.left < 0) {
      throw new Failure(
        "INPUT_INVALID",
        `There are more than ${MOST_ENTRIES.toLocaleString("en-US")} files and folders below the allowed roots. Name the files instead of a glob.`,
      );
    }
    if (isHiddenName(entry.name)) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path, budget, level + 1);
    else if (await isFile(entry, path)) yield path;
  }
}

const isFile = async (entry: Dirent, path: string): Promise<boolean> =>
  entry.isFile() ||
  (entry.isSymbolicLink() &&
    (await stat(path).then(
      (found) => found.isFile(),
      () => false,
    )));

/** A folder that is gone or not readable counts as empty. */
function noFolder(error: unknown): Dirent[] {
  if (["ENOENT", "EACCES", "ENOTDIR"].some((code) => hasCode(error, code))) return [];
  throw error;
}
