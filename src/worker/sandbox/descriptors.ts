import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
} from "node:fs";
import type { BigIntStats } from "node:fs";
import { posix } from "node:path";
import { Failure, refuse } from "../../shared/failure.ts";
import type { Refusal } from "../../shared/failure.ts";
import { isSystemError, quotePath } from "./names.ts";
import type { SecurityPolicy } from "./policy.ts";
import type { PinnedRoot, FileLocation } from "./roots.ts";

/** What is asked about an open file. */
export type FileStat = Pick<
  BigIntStats,
  | ("dev" | "ino" | "nlink" | "size" | "mtimeNs" | "ctimeNs")
  | ("isDirectory" | "isFile" | "isFIFO" | "isSocket")
>;

/** An allowed file while it is open. */
export type OpenFile = {
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  readonly descriptor: number;
  readonly stat: FileStat;
};

/** A file that stays open for its caller, who closes it. */
export type OpenedFile = {
  readonly kind: "opened";
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  /** Readable, at its start. */
  readonly descriptor: number;
  readonly bytes: number;
};

/** An attachment, a file whose path may be that of one, or one of the store. */
export type HeldFile = {
  readonly kind: "held";
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  readonly content: Buffer;
  readonly bytes: number;
};

/**
 * Where files are, and which file a descriptor is. Internal; three implementations: that of /proc, which has no race, one
 * that compares, which has one and runs only with `security.allow_racy_reads`, and the store of the database (stored-files.ts).
 * Calls are synchronous but for bytes of the store: on a local disk they take microseconds, where a thread-pool turn takes longer.
 */
export type Descriptors = {
  /** Opens the place, links followed, and never blocks. Throws the system's error. The caller closes it. */
  open(place: FileLocation): number;
  stat(descriptor: number): FileStat;
  close(descriptor: number): void;
  /** The absolute path of the opened file, free of links; null when it can't be told, or is not UTF-8. */
  realPath(descriptor: number, place: FileLocation): string | null;
  /** Whether the folder pinned at start is still what lies at its path. */
  isInPlace(root: PinnedRoot): boolean;
  /** All bytes of an open file, or FILE_TOO_LARGE; it may be closed as soon as this returns. */
  readAll(file: OpenFile, maxBytes: number): Buffer | Refusal | Promise<Buffer | Refusal>;
  /** The file for somebody who reads it later. */
  keepOpen(file: OpenFile, maxBytes: number): OpenedFile | Refusal | Promise<HeldFile | Refusal>;
  /** Whether anything lies at an absolute path, or may. */
  isTaken(absolute: string): boolean;
};

/** Those of a disk. */
export type DiskDescriptors = Descriptors & {
  /** An absolute path of the root folder that a walk can start from. */
  walkFrom(root: PinnedRoot): string;
};

type Platform = Pick<DiskDescriptors, "open" | "realPath" | "isInPlace" | "walkFrom"> & {
  /** Gives a descriptor of the same file that can be read, and closes what it opened. */
  withReadable<T>(descriptor: number, use: (readable: number) => T): T;
};

const onDisk = (platform: Platform): DiskDescriptors => ({
  ...platform,
  stat: (descriptor) => fstatSync(descriptor, { bigint: true }),
  close: closeSync,
  readAll: (file, maxBytes) =>
    platform.withReadable(file.descriptor, (readable) => readBytes(file, readable, maxBytes)),
  keepOpen: (file, maxBytes) =>
    file.stat.size > BigInt(maxBytes)
      ? refuseSize(file.path, maxBytes)
      : {
          kind: "opened",
          path: file.path,
          descriptor: platform.withReadable(file.descriptor, (readable) =>
            openSync(`/proc/self/fd/${readable}`, "r"),
          ),
          bytes: Number(file.stat.size),
        },
  isTaken: (absolute) => {
    try {
      return lstatSync(absolute, { throwIfNoEntry: false }) !== undefined;
    } catch (error) {
      return !isSystemError(error) || (error.code !== "ENAMETOOLONG" && error.code !== "ELOOP");
    }
  },
});

/**
 * The whole content of an open file, or FILE_TOO_LARGE. The size only spares the work: what counts is the
 * bytes that come, so a file that grows, or lies about its size, stops at the cap too.
 */
export function readBytes(file: OpenFile, readable: number, maxBytes: number): Buffer | Refusal {
  if (file.stat.size > BigInt(maxBytes)) return refuseSize(file.path, maxBytes);
  let buffer: Buffer = Buffer.allocUnsafe(Number(file.stat.size) + 1);
  let filled = 0;
  for (;;) {
    const count = readSync(readable, buffer, filled, buffer.length - filled, null);
    if (count === 0) return buffer.subarray(0, filled);
    filled += count;
    if (filled > maxBytes) return refuseSize(file.path, maxBytes);
    if (filled === buffer.length) buffer = enlarge(buffer, maxBytes);
  }
}

function enlarge(buffer: Buffer, maxBytes: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.min(Math.max(buffer.length * 2, 65_536), maxBytes + 1));
  buffer.copy(larger);
  return larger;
}

export const refuseSize = (path: string, maxBytes: number): Refusal =>
  refuse(
    "FILE_TOO_LARGE",
    `${quotePath(path)} is over ${maxBytes} bytes: split it, or raise security.max_file_bytes.`,
  );

/** The platform as the sandbox sees it. */
export type PlatformFacts = {
  readonly platform: NodeJS.Platform;
  /** Folder of links from descriptor numbers to real paths. */
  readonly descriptorFolder: string;
};

/** Throws CONFIG_ERROR on Windows, and where there is no /proc unless `security.allow_racy_reads` is set. */
export function selectDescriptors(host: PlatformFacts, policy: SecurityPolicy): DiskDescriptors {
  if (host.platform === "win32") {
    throw new Failure(
      "CONFIG_ERROR",
      "Windows is not supported: it has no way to decide on an opened file. Use WSL 2 or a container.",
    );
  }
  if (namesDescriptors(host)) return onDisk(procDescriptors(host.descriptorFolder));
  if (policy.allowRacyReads) return onDisk(comparedDescriptors);
  throw new Failure(
    "CONFIG_ERROR",
    `${host.descriptorFolder} does not name open files on this ${host.platform} machine, so a file swapped ` +
      `while it is opened could lead outside the allowed roots. Run in a Linux container, or set ` +
      `security.allow_racy_reads to true to accept that.`,
  );
}

function namesDescriptors({ platform, descriptorFolder }: PlatformFacts): boolean {
  if (platform !== "linux") return false;
  const descriptor = openSync("/", "r");
  try {
    return readlinkSync(`${descriptorFolder}/${descriptor}`) === "/";
  } catch {
    // No such link: there is no /proc here, which is the answer.
    return false;
  } finally {
    closeSync(descriptor);
  }
}

const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * For platforms without /proc: resolves the name a second time and compares device and inode. A swap there and
 * back in between gets through, hence `security.allow_racy_reads`.
 */
const comparedDescriptors: Platform = {
  open: (place) => openSync(absoluteOf(place), READ),
  realPath: (descriptor, place) => {
    const path = realpathSync.native(absoluteOf(place));
    const opened = fstatSync(descriptor, { bigint: true });
    const found = lstatSync(path, { bigint: true });
    const isSame = opened.ino === found.ino && opened.dev === found.dev;
    return isSame && realpathSync.native(path) === path ? path : null;
  },
  isInPlace: (root: PinnedRoot) => {
    const found = lstatSync(root.realPath, { bigint: true, throwIfNoEntry: false });
    return found?.ino === root.inode && found.dev === root.device;
  },
  withReadable: (descriptor, use) => use(descriptor),
  walkFrom: (root: PinnedRoot) => root.realPath,
};

const absoluteOf = ({ root, relativePath }: FileLocation): string =>
  posix.join(root.realPath, relativePath);

// O_PATH of Linux, which Node does not name: a descriptor that says what a file is without opening it for
// reading, so that a FIFO, a socket or a device planted behind a link is judged and never touched.
const O_PATH = 0o10000000;

/**
 * Linux: `folder` is /proc/self/fd. A file is opened from the pinned root's descriptor, the kernel names its
 * real path, and it is opened for reading through that same descriptor: no name is resolved twice.
 */
function procDescriptors(folder: string): Platform {
  const linkOf = (descriptor: number): string => `${folder}/${descriptor}`;
  return {
    open: ({ root, relativePath }: FileLocation) =>
      openSync(`${linkOf(root.descriptor)}/${relativePath}`, O_PATH),
    realPath: (descriptor) => readUtf8Link(linkOf(descriptor)),
    isInPlace: (root: PinnedRoot) => readUtf8Link(linkOf(root.descriptor)) === root.realPath,
    withReadable: (descriptor, use) => {
      const readable = openSync(linkOf(descriptor), READ);
      try {
        return use(readable);
      } finally {
        closeSync(readable);
      }
    },
    walkFrom: (root: PinnedRoot) => `${linkOf(root.descriptor)}/`,
  };
}

/** Names of other bytes than UTF-8 decode alike, so that two folders would have one name. */
function readUtf8Link(link: string): string | null {
  const target = readlinkSync(link);
  if (!target.includes("\uFFFD")) return target;
  return readlinkSync(link, "buffer").equals(Buffer.from(target)) ? target : null;
}
