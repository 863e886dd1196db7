import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  realpathSync,
} from "node:fs";
import { posix } from "node:path";
import { Failure } from "../../shared/failure.ts";
import { quotePath } from "./names.ts";
import type { SecurityPolicy } from "./policy.ts";

/** A configured root that is not used, and why. */
export type SkippedRoot = { readonly path: string; readonly reason: "missing" | "not a directory" };

/**
 * Opens every allowed root and keeps it open. All of them are checked before any is created, so a rejected
 * configuration leaves no folder behind.
 *
 * Throws CONFIG_ERROR for a root outside the security root (by its name or through a link), and if none is left.
 */
export function pinRoots(policy: SecurityPolicy): { roots: PinnedRoot[]; skipped: SkippedRoot[] } {
  const paths = pathsOf(policy);
  if (policy.rootsMustBeWithinSecurityRoot) {
    for (const path of paths) checkWithin(path, policy.securityRoot);
  }
  const roots: PinnedRoot[] = [];
  const skipped: SkippedRoot[] = [];
  try {
    for (const path of paths) {
      if (policy.autoCreateAllowedRoots) createFolder(path);
      const root = pinRoot(path, policy);
      if (typeof root === "string") skipped.push({ path, reason: root });
      else roots.push(root);
    }
    if (roots.length === 0) throw noRootLeft(skipped);
  } catch (error) {
    for (const root of roots) closeSync(root.descriptor);
    throw error;
  }
  return { roots, skipped };
}

const pathsOf = ({ allowedRoots, securityRoot }: SecurityPolicy): readonly string[] => [
  ...new Set(allowedRoots.map((root) => posix.resolve(securityRoot, root))),
];

/**
 * The allowed roots of a worker without files, by their names alone: it opens nothing.
 * @throws Failure CONFIG_ERROR for a root outside the security root
 */
export function nameRoots(policy: SecurityPolicy): PinnedRoot[] {
  const { securityRoot } = policy;
  return pathsOf(policy).map((path) => {
    if (policy.rootsMustBeWithinSecurityRoot && below(securityRoot, path) === null)
      throw refuseOutside(path, securityRoot);
    return { path, securityRoot, realPath: path, device: 0n, inode: 0n, descriptor: -1 };
  });
}

function pinRoot(path: string, policy: SecurityPolicy): PinnedRoot | SkippedRoot["reason"] {
  const descriptor = openFolder(path);
  if (typeof descriptor === "string") return descriptor;
  try {
    const realPath = realpathSync(path);
    if (policy.rootsMustBeWithinSecurityRoot) checkWithin(path, policy.securityRoot);
    const { dev, ino } = fstatSync(descriptor, { bigint: true });
    return {
      path,
      securityRoot: policy.securityRoot,
      realPath,
      device: dev,
      inode: ino,
      descriptor,
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/** The whole file system as a root, for `allow_any_path`. */
export function pinAnywhere(policy: SecurityPolicy): PinnedRoot {
  const anywhere = pinRoot("/", { ...policy, rootsMustBeWithinSecurityRoot: false });
  if (typeof anywhere !== "string") return anywhere;
  throw new Failure("CONFIG_ERROR", `"/" is ${anywhere}: set security.allow_any_path to false.`);
}

function openFolder(path: string): number | SkippedRoot["reason"] {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ELOOP") return "missing";
    if (code === "ENOTDIR") return "not a directory";
    throw new Failure(
      "CONFIG_ERROR",
      `The allowed root ${quotePath(path)} can't be opened (${String(code)}): give this user the right to ` +
        `list it, or take it out of security.allowed_roots.`,
      { cause: error },
    );
  }
}

function createFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    // Something else is there; opening it reports what.
    if (code === "EEXIST" || code === "ENOTDIR" || code === "ENOENT") return;
    throw new Failure(
      "CONFIG_ERROR",
      `The allowed root ${quotePath(path)} can't be created (${String(code)}): create it, or name ` +
        `folders that are there in security.allowed_roots and index.sources.`,
      { cause: error },
    );
  }
}

/** Checks the name, and the real path of the part that exists. */
function checkWithin(path: string, securityRoot: string): void {
  const isWithin =
    below(securityRoot, path) !== null &&
    below(realPathOfExisting(securityRoot), realPathOfExisting(path)) !== null;
  if (!isWithin) throw refuseOutside(path, securityRoot);
}

const refuseOutside = (path: string, securityRoot: string): Failure =>
  new Failure(
    "CONFIG_ERROR",
    `The allowed root ${quotePath(path)} lies outside the work root ${quotePath(securityRoot)}: move it ` +
      `inside, or set security.roots_must_be_within_security_root to false.`,
  );

function realPathOfExisting(path: string): string {
  if (existsSync(path) || path === "/") return realpathSync(path);
  return posix.join(realPathOfExisting(posix.dirname(path)), posix.basename(path));
}

function noRootLeft(skipped: readonly SkippedRoot[]): Failure {
  const list = skipped.map(({ path, reason }) => `${quotePath(path)} is ${reason}`).join(", ");
  return new Failure(
    "CONFIG_ERROR",
    `No allowed root is left to read from (${list === "" ? "none is configured" : list}): create one, or set ` +
      `security.auto_create_allowed_roots to true.`,
  );
}

/** An allowed root as it was at start. The open descriptor prevents the reuse of device and inode. */
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
export type FileLocation = { readonly root: PinnedRoot; readonly relativePath: string };

/** The part of `path` below `folder` (empty for the folder itself), or null: `/data-evil` is not below `/data`. */
export function below(folder: string, path: string): string | null {
  if (path === folder) return "";
  const prefix = folder === "/" ? "/" : `${folder}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : null;
}

/** The places that an absolute path can mean, the innermost root first, because its rules are the most specific. */
export function placesOf(absolute: string, roots: readonly PinnedRoot[]): FileLocation[] {
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
