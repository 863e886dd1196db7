import { refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import type { Descriptors, FileStat, OpenFile } from "./descriptors.ts";
import { checkCharacters, checkName, quotePath, refuseSystemError } from "./names.ts";
import { mayBegin } from "./policy.ts";
import type { FileRules } from "./policy.ts";
import { below, shownPath } from "./roots.ts";
import type { FileLocation } from "./roots.ts";

/** How a visit opens files, and the rules for an opened file. */
export type Access = { readonly descriptors: Descriptors; readonly rules: FileRules };

// An editor saves by renaming a new file over the old one: the file opened just before is deleted, and the next
// attempt finds the new one.
const attempts = 3;

/** The result of a visit, or its refusal. */
export type Visited<T> = { readonly kind: "visited"; readonly value: T } | Refusal;

/** Opens a file, checks the opened file (checks 7 to 15), and closes it after `visit`. It opens nothing outside of the job's folder. */
export function visitFile<T>(
  access: Access,
  place: FileLocation,
  visit: (file: OpenFile) => T,
): Visited<T> {
  const outside = checkFolder(place, place.relativePath, access.rules);
  if (outside !== null) return outside;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const outcome = visitOnce(access, place, visit);
    if (outcome !== "deleted") return outcome;
  }
  const quoted = quotePath(shownPath(place.root, place.relativePath));
  return refuse("FILE_NOT_FOUND", `${quoted} was deleted while it was opened: try again.`);
}

function visitOnce<T>(
  { descriptors, rules }: Access,
  place: FileLocation,
  visit: (file: OpenFile) => T,
): Visited<T> | "deleted" {
  let descriptor: number | null = null;
  try {
    descriptor = descriptors.open(place);
    if (!descriptors.isInPlace(place.root)) return refuseSwappedRoot(place);
    const stat = descriptors.stat(descriptor);
    if (stat.nlink === 0n) return "deleted";
    const judged = checkFile(place, descriptors.realPath(descriptor, place), stat, rules);
    if (judged.kind === "refused") return judged;
    const path = shownPath(place.root, judged.relativePath);
    return { kind: "visited", value: visit({ path, descriptor, stat }) };
  } catch (error) {
    return refuseSystemError(error, shownPath(place.root, place.relativePath));
  } finally {
    if (descriptor !== null) descriptors.close(descriptor);
  }
}

/** @param relativePath of the requested or of the opened file, below the root of the place */
function checkFolder(
  { root, relativePath: wanted }: FileLocation,
  relativePath: string,
  { pathPrefixes }: FileRules,
): Refusal | null {
  if (mayBegin(shownPath(root, relativePath), pathPrefixes)) return null;
  return refuse(
    "PATH_DENIED",
    `${quotePath(shownPath(root, wanted))} lies outside of what this job may read: ${pathPrefixes.map(quotePath).join(", ")}.`,
  );
}

function refuseSwappedRoot({ root }: FileLocation): Refusal {
  return refuse(
    "PATH_DENIED",
    `The allowed root ${quotePath(shownPath(root, "") || ".")} is no longer the folder that it was when this process started: ` +
      `put it back, or restart.`,
  );
}

/**
 * Checks 10 to 14 on the opened file: its real path (null if unknown) and its status. Returns the
 * path below the root as spelled on disk. Pure. A refusal never names the target of a link that leads out.
 */
function checkFile(
  place: FileLocation,
  realPath: string | null,
  stat: FileStat,
  rules: FileRules,
): { readonly kind: "allowed"; readonly relativePath: string } | Refusal {
  const quoted = quotePath(shownPath(place.root, place.relativePath));
  const relativePath = realPath === null ? null : below(place.root.realPath, realPath);
  if (relativePath === null) {
    return refuse(
      "PATH_DENIED",
      `${quoted} leads out of its allowed root ${quotePath(shownPath(place.root, "") || ".")}, changed while it was opened, or ` +
        `has a name that is not UTF-8: put the file itself below the root.`,
    );
  }
  const outside = checkFolder(place, relativePath, rules);
  if (outside !== null) return outside;
  if (rules.otherDevices === "deny" && stat.dev !== place.root.device) {
    return refuse(
      "PATH_DENIED",
      `${quoted} lies on another device than its allowed root: list the folder mounted there in ` +
        `security.allowed_roots.`,
    );
  }
  if (stat.isDirectory()) {
    return refuse("PATH_IS_DIRECTORY", `${quoted} is a directory: name a file in it.`);
  }
  const denied = checkCharacters(relativePath) ?? checkName(relativePath, rules);
  return denied ?? checkKind(quoted, stat, rules) ?? { kind: "allowed", relativePath };
}

function checkKind(quoted: string, stat: FileStat, rules: FileRules): Refusal | null {
  if (!stat.isFile()) {
    return refuse(
      "FILE_READ_ERROR",
      `${quoted} is a ${kindOf(stat)}, which is never read: name a regular file.`,
    );
  }
  if (rules.hardLinks === "deny" && stat.nlink !== 1n) {
    return refuse(
      "PATH_DENIED",
      `${quoted} has ${String(stat.nlink)} hard links, so it may also lie outside the allowed roots: copy it, ` +
        `or set security.allow_hard_links to true.`,
    );
  }
  return null;
}

function kindOf(stat: FileStat): string {
  if (stat.isFIFO()) return "named pipe";
  return stat.isSocket() ? "socket" : "device";
}

/** A file's content, and the status that shows a later change. Times are nanoseconds since 1970. */
export type FileBytes = {
  readonly kind: "bytes";
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  readonly bytes: Buffer;
  /** Read before the bytes, so that a change in between shows as a difference next time. */
  readonly stat: {
    readonly size: bigint;
    readonly mtimeNs: bigint;
    readonly ctimeNs: bigint;
    readonly ino: bigint;
    readonly dev: bigint;
  };
};

/** Reads one file by its plain path below a root: no lookup, no `..`, and the same rules for the opened file. */
export async function readFileBelow(
  access: Access,
  place: FileLocation,
): Promise<FileBytes | Refusal> {
  const denied =
    checkPlain(place) ?? checkFound(place) ?? checkName(place.relativePath, access.rules);
  if (denied !== null) return denied;
  const visited = visitFile(access, place, (file) => ({
    path: file.path,
    stat: file.stat,
    bytes: access.descriptors.readAll(file, access.rules.maxBytes),
  }));
  if (visited.kind === "refused") return visited;
  const { path, stat } = visited.value;
  const bytes = await visited.value.bytes;
  if (!Buffer.isBuffer(bytes)) return bytes;
  const { size, mtimeNs, ctimeNs, ino, dev } = stat;
  return { kind: "bytes", path, bytes, stat: { size, mtimeNs, ctimeNs, ino, dev } };
}

/** Checks the shown path too, by which all messages and rows name the file. */
const checkFound = ({ root, relativePath }: FileLocation): Refusal | null =>
  checkCharacters(relativePath) === null ? null : checkCharacters(shownPath(root, relativePath));

function checkPlain({ root, relativePath }: FileLocation): Refusal | null {
  if (!/^\/|(^|\/)(\.{0,2})(\/|$)/.test(relativePath)) return null;
  return refuse(
    "PATH_DENIED",
    `${quotePath(relativePath)} is no plain path below ${quotePath(shownPath(root, ""))}: ` +
      `parts are separated by one "/" and none is "." or "..".`,
  );
}
