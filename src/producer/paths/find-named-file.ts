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
  if (isAbsolute(path) || path.includes("\0") || !(await isFile(resolve(cwd, path))))
    return undefined;
  // Only folders are resolved: what a link at the end leads to is the sandbox's matter.
  const file = join(await realpath(dirname(resolve(cwd, path))), basename(path));
  const inWorkroot = relative(await realpath(workroot), file);
  if (inWorkroot === ".." || inWorkroot.startsWith(`..${sep}`)) return undefined;
  return inWorkroot.split(sep).join("/");
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
