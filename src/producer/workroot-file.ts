import { lstat, mkdir, realpath } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import {
  createAtomicFile,
  openFolder,
  pathOfFolder,
  textFileOf,
  writeAtomicFile,
} from "../shared/files/atomic-file.ts";
import type { Existing, TextFile } from "../shared/files/atomic-file.ts";
import type { Config } from "../shared/config/schema.ts";
import { hasCode, ignoreMissingFile } from "../shared/store/connection/errors.ts";
import { Failure, refuse } from "../shared/failure.ts";
import type { Refusal } from "../shared/failure.ts";

/**
 * Writes a file with mode 0600 in the work root; it appears when it is complete and on disk.
 *
 * Refusal: PATH_DENIED if the path is outside of the work root, behind a link, or in the database's folder.
 * @returns the path relative to the work root, with `/`
 * @throws Failure INPUT_INVALID if the file can't be written, or exists and must not be replaced
 */
export async function writeFileInWorkroot(
  request: TargetRequest,
  existing: Existing,
  text: string,
): Promise<{ readonly kind: "written"; readonly path: string } | Refusal> {
  return inTarget(request, existing, async ({ place, name, path }) => {
    await writeAtomicFile(join(place, name), text, existing);
    return { kind: "written", path };
  });
}

type FileInWorkroot = TextFile & { readonly kind: "begun" };

/** Begins a new file in the work root that is written piece by piece. Refusals and failures as of writeFileInWorkroot. */
export async function beginFileInWorkroot(
  request: TargetRequest,
): Promise<FileInWorkroot | Refusal> {
  return inTarget(request, "keep", async ({ place, name }) => {
    const file = await createAtomicFile(join(place, name), "keep");
    return begunFile(textFileOf(file), request.file);
  });
}

async function inTarget<T>(
  request: TargetRequest,
  existing: Existing,
  write: (target: Target) => Promise<T>,
): Promise<T | Refusal> {
  const target = await openTarget(request);
  if (target.kind === "refused") return target;
  try {
    return (await checkExisting(target, request.file, existing)) ?? (await write(target));
  } catch (error) {
    throw hasCode(error, "EEXIST") ? fileExists(request.file) : notWritten(request.file, error);
  } finally {
    await target.folder.close();
  }
}

function begunFile(file: TextFile, name: string): FileInWorkroot {
  const failWritten = (error: unknown): never => {
    throw hasCode(error, "EEXIST") ? fileExists(name) : notWritten(name, error);
  };
  return {
    kind: "begun",
    write: (text) => file.write(text).catch(failWritten),
    commit: () => file.commit().catch(failWritten),
    discard: () => file.discard(),
  };
}

async function checkExisting(
  { place, name }: Target,
  file: string,
  existing: Existing,
): Promise<Refusal | undefined> {
  const found = await lstat(join(place, name)).catch(ignoreMissingFile);
  if (found === undefined) return undefined;
  if (found.isSymbolicLink()) return linkDenied(file);
  if (!found.isFile()) throw invalid(file, "is no regular file. Name another one");
  if (existing === "keep") throw fileExists(file);
  return undefined;
}

const fileExists = (file: string): Failure =>
  invalid(file, "is there already. Give --force to replace it, or another name");

function notWritten(file: string, error: unknown): unknown {
  if (!hasSystemCode(error)) return error;
  return invalid(file, `can't be written (${error.code}). Name another file, or make room`);
}

/** Whether the system threw the error; a Failure has a code of ours, and no `syscall`. */
const hasSystemCode = (error: unknown): error is { readonly code: string } =>
  typeof error === "object" && error !== null && "syscall" in error && "code" in error;

export type TargetRequest = {
  /** As on the command line: relative to `cwd`, or absolute. */
  readonly file: string;
  readonly cwd: string;
  readonly roots: Pick<Config["roots"], "workroot" | "databaseDirectory">;
};

/** The folder to which paths in messages are relative, and the folders that bound where files may be. */
export type WorkrootPlace = Pick<TargetRequest, "cwd" | "roots">;

/** Creates the folders of a path below the work root with mode 0700; each is checked before the next is created. */
export async function makeFoldersInWorkroot(
  folder: string,
  seen: WorkrootPlace,
): Promise<Refusal | undefined> {
  const { workroot } = seen.roots;
  const known = [workroot, await realpath(workroot)];
  let path = known.find((root) => folder.startsWith(`${root}${sep}`));
  if (path === undefined) return makeFolderInWorkroot(folder, seen);
  for (const name of folder.slice(path.length + 1).split(sep)) {
    path = resolve(path, name);
    const refusal = await makeFolderInWorkroot(path, seen);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

export async function makeFolderInWorkroot(
  folder: string,
  { cwd, roots }: WorkrootPlace,
): Promise<Refusal | undefined> {
  const file = relative(cwd, folder);
  const target = await openTarget({ file, cwd, roots });
  if (target.kind === "refused") return target;
  try {
    await mkdir(join(target.place, target.name), { mode: 0o700 });
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw notMade(file, error);
  } finally {
    await target.folder.close();
  }
  return undefined;
}

function notMade(folder: string, error: unknown): Failure {
  const reason = error instanceof Error ? error.message.replace(/,.*/, "") : String(error);
  return invalid(folder, `can't be made (${reason}). Name another folder`);
}

type Target = {
  readonly kind: "target";
  /** Open; the caller closes it. */
  readonly folder: FileHandle;
  /** A path that names the same folder as long as it is open, on systems that can do that (Linux). */
  readonly place: string;
  readonly name: string;
  /** Relative to the work root, with `/`. */
  readonly path: string;
};

/**
 * Finds the place of a new file in the work root.
 *
 * Refusal: PATH_DENIED if the path is outside of the work root, behind a link, or in the database's folder.
 * @throws Failure INPUT_INVALID if its folder does not exist
 */
export async function openTarget(request: TargetRequest): Promise<Target | Refusal> {
  const { file, cwd, roots } = request;
  const workroot = await realpath(roots.workroot);
  const requested = resolve(cwd, file);
  const path = pathBelow(roots.workroot, requested) ?? pathBelow(workroot, requested);
  if (path === undefined) {
    return denied(file, "lies outside of the work root. Name a place in it");
  }
  if (path === "") throw invalid(file, "is the work root itself. Name a place in it");
  const isPrivate =
    path.split(sep).includes(".nightdesk") ||
    pathBelow(roots.databaseDirectory, join(roots.workroot, path)) !== undefined;
  if (isPrivate) return databaseDenied(file);
  const expected = join(workroot, dirname(path));
  const folder = await openFolderOf(expected, file);
  const place = await pathOfFolder(folder, expected);
  const refusal = await checkFolder(await realpath(place), expected, request);
  if (refusal === undefined)
    return {
      kind: "target",
      folder,
      place,
      name: basename(path),
      path: path.split(sep).join("/"),
    };
  await folder.close();
  return refusal;
}

/** The path relative to a folder; undefined if it lies outside. */
function pathBelow(folder: string, target: string): string | undefined {
  const path = relative(folder, target);
  return path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path) ? undefined : path;
}

const openFolderOf = (folder: string, file: string): Promise<FileHandle> =>
  openFolder(folder).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) {
      throw invalid(file, "names a folder that does not exist. Make it first");
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw invalid(file, `can't be written (${reason}). Name another file`);
  });

/** @param real the path of the opened folder without links */
async function checkFolder(
  real: string,
  expected: string,
  { file, roots }: TargetRequest,
): Promise<Refusal | undefined> {
  if (real !== expected) return linkDenied(file);
  // The database's folder may have another name than that of the configuration.
  const database = await realpath(roots.databaseDirectory).catch(() => roots.databaseDirectory);
  return pathBelow(database, real) === undefined ? undefined : databaseDenied(file);
}

const linkDenied = (file: string): Refusal =>
  denied(file, "leads through a symbolic link. Name the file itself");

const databaseDenied = (file: string): Refusal =>
  denied(file, "lies in the folder of the database. Name a place elsewhere in the work root");

const denied = (file: string, reason: string): Refusal =>
  refuse("PATH_DENIED", `${JSON.stringify(file)} ${reason}.`);

const invalid = (file: string, reason: string): Failure =>
  new Failure("INPUT_INVALID", `${JSON.stringify(file)} ${reason}.`);
