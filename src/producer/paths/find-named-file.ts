import { realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/**
 * The file that a relative path of the command line names from the current folder, if it lies inside of the work
 * root: relative to that, with `/`. Whether it may be read is for the worker's sandbox to decide.
 */
export async function findNamedFile(
  path: string,
  cwd: string,
  workroot: string,
): Promise<string | undefined> {
  if (isAbsolute(path) || (await kindOf(resolve(cwd, path))) !== "file") return undefined;
  // Only folders are resolved: what a link at the end leads to is the sandbox's matter.
  const file = join(await realpath(dirname(resolve(cwd, path))), basename(path));
  return pathInside(await realpath(workroot), file);
}

/** The same for a folder; empty for the work root itself. */
export async function findNamedFolder(
  path: string,
  cwd: string,
  workroot: string,
): Promise<string | undefined> {
  if (isAbsolute(path) || (await kindOf(resolve(cwd, path))) !== "folder") return undefined;
  return pathInside(await realpath(workroot), await realpath(resolve(cwd, path)));
}

/** The path of a place below a folder, with `/`; undefined for one outside of it. */
export function pathInside(folder: string, place: string): string | undefined {
  const path = relative(folder, place);
  const isOutside = path === ".." || path.startsWith(`..${sep}`);
  return isOutside ? undefined : path.split(sep).join("/");
}

/** Undefined for what is not there, can't be looked at, or is neither. Links are followed. */
export async function kindOf(path: string): Promise<"file" | "folder" | undefined> {
  if (path.includes("\0")) return undefined;
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true ? "file" : found?.isDirectory() === true ? "folder" : undefined;
}
