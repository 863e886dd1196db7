import { realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";

/**
 * A path of the command line as the rows hold it. A relative one that names an existing file from the current
 * folder, inside of the work root, becomes relative to the work root; anything else stays as it was written, and the
 * worker's sandbox judges it.
 */
export async function translatePath(path: string, cwd: string, workroot: string): Promise<string> {
  if (isAbsolute(path) || path.includes("\0") || !(await isFile(resolve(cwd, path)))) return path;
  // Only folders are resolved: what a link at the end leads to is the sandbox's matter.
  const file = join(await realpath(dirname(resolve(cwd, path))), basename(path));
  const inWorkroot = relative(await realpath(workroot), file);
  if (inWorkroot === "" || inWorkroot === ".." || inWorkroot.startsWith(`..${sep}`)) return path;
  return inWorkroot.split(sep).join("/");
}

const isFile = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
