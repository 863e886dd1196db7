import { readdir, stat } from "node:fs/promises";
import type { Dirent } from "node:fs";
import { extname, join, relative, resolve, sep } from "node:path";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";

/** A file below an allowed root. Both paths have `/`. */
export type ListedFile = {
  /** Relative to the work root. */
  readonly path: string;
  /** Relative to the allowed root. */
  readonly belowRoot: string;
  /** Whether its extension is one of those that may be read. */
  readonly hasAllowedExtension: boolean;
};

const MOST_ENTRIES = 200_000;
const MOST_LEVELS = 64;

/**
 * Files below the allowed roots, sorted by path. Hidden names are skipped and links to
 * folders are not followed. This only suggests what to ask for: the worker's sandbox decides about each file.
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
    if (entry.name.startsWith(".")) continue;
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

/** A folder that is gone or closed to us holds nothing to ask for. */
function noFolder(error: unknown): Dirent[] {
  const code =
    typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "EACCES" || code === "ENOTDIR") return [];
  throw error;
}
