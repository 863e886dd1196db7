import { posix } from "node:path";

/** An allowed root as it was at start. The open descriptor keeps device and inode from being used again. */
export type PinnedRoot = {
  /** Absolute, as configured: links on the way are not resolved. */
  readonly path: string;
  /** Absolute; the folder that shown paths are relative to. */
  readonly securityRoot: string;
  /** Absolute and free of links. */
  readonly realPath: string;
  readonly device: bigint;
  readonly inode: bigint;
  readonly descriptor: number;
};

/** A file to open: a path below one root, `/`-separated, without `.` and `..` parts. */
export type Place = { readonly root: PinnedRoot; readonly relativePath: string };

/** The part of `path` below `folder` (empty for the folder itself), or null: `/data-evil` is not below `/data`. */
export function below(folder: string, path: string): string | null {
  if (path === folder) return "";
  const prefix = folder === "/" ? "/" : `${folder}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : null;
}

/** The places an absolute path can mean, the innermost root first: its rules are what the user wrote last. */
export function placesOf(absolute: string, roots: readonly PinnedRoot[]): Place[] {
  return roots
    .flatMap((root) => {
      const relativePath = below(root.path, absolute) ?? below(root.realPath, absolute);
      return relativePath === null ? [] : [{ root, relativePath }];
    })
    .sort((a, b) => a.relativePath.length - b.relativePath.length);
}

/** The path that a user sees: relative to the security root. */
export const shownPath = (root: PinnedRoot, relativePath: string): string =>
  posix.relative(root.securityRoot, posix.join(root.path, relativePath));
