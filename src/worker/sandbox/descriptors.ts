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

/** The used fields of an open file's status. */
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

/** A file that stays open; the caller closes it. */
export type OpenedFile = {
  readonly kind: "opened";
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  /** Readable, at its start. */
  readonly descriptor: number;
  readonly bytes: number;
};

/** A file in memory: an attachment, a file whose path may name one, or a file of the store. */
export type HeldFile = {
  readonly kind: "held";
  /** Relative to the security root, as spelled on disk. */
  readonly path: string;
  readonly content: Buffer;
  readonly bytes: number;
};

/**
 * Opens files, and tells which file a descriptor is. Internal; three implementations: by /proc, which has no race; by comparison,
 * which has one and runs only with `security.allow_racy_reads`; and the store of the database (stored-files.ts).
 * Calls are synchronous except for bytes of the store: on a local disk they take microseconds, less than a thread-pool turn.
 */
export type Descriptors = {
  /** Opens the file, follows links, and never blocks. Throws the system's error. The caller closes the descriptor. */
  open(place: FileLocation): number;
  stat(descriptor: number): FileStat;
  close(descriptor: number): void;
  /** The absolute path of the opened file, free of links; null if it is unknown or not UTF-8. */
  realPath(descriptor: number, place: FileLocation): string | null;
  /** Whether the folder pinned at start is still the one at its path. */
  isInPlace(root: PinnedRoot): boolean;
  /** All bytes of an open file, or FILE_TOO_LARGE; the caller may close the file as soon as this returns. */
  readAll(file: OpenFile, maxBytes: number): Buffer | Refusal | Promise<Buffer | Refusal>;
  /** Keeps the file available, to be read later. */
  keepOpen(file: OpenFile, maxBytes: number): OpenedFile | Refusal | Promise<HeldFile | Refusal>;
  /** Whether something exists, or may exist, at an absolute path. */
  isTaken(absolute: string): boolean;
};

/** The descriptors of a disk. */
export type DiskDescriptors = Descriptors & {
  /** An absolute path of the root folder that a walk can start from. */
  walkFrom(root: PinnedRoot): string;
};

type Platform = Pick<DiskDescriptors, "open" | "realPath" | "isInPlace" | "walkFrom"> & {
  /** Calls `use` with a readable descriptor of the same file, and closes what it opened. */
  withReadable<T>(descriptor: number, use: (readable: number) => T): T;
};

/** @param descriptorFolder of links from descriptor numbers to open files */
const onDisk = (platform: Platform, descriptorFolder: string): DiskDescriptors => ({
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
            openSync(`${descriptorFolder}/${readable}`, "r"),
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
 * The whole content of an open file, or FILE_TOO_LARGE. The check of the size only saves work. The limit applies to the bytes
 * that are read, so it also stops a file that grows, or that reports a wrong size.
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

/** The facts about the platform that decide how files are opened. */
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
  if (namesDescriptors(host))
    return onDisk(procDescriptors(host.descriptorFolder), host.descriptorFolder);
  if (policy.allowRacyReads) return onDisk(comparedDescriptors, "/dev/fd");
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
    // No such link: this machine has no /proc.
    return false;
  } finally {
    closeSync(descriptor);
  }
}

const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * For platforms without /proc: resolves the name a second time and compares device and inode. It misses a file that is
 * swapped and swapped back in between, hence `security.allow_racy_reads`.
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

// O_PATH of Linux, which Node does not name: a descriptor that identifies a file without opening it for
// reading, so that a FIFO, a socket or a device planted behind a link is checked and never touched.
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

/** Null for a target that is not UTF-8: two such names may decode to the same text. */
function readUtf8Link(link: string): string | null {
  const target = readlinkSync(link);
  if (!target.includes("\uFFFD")) return target;
  return readlinkSync(link, "buffer").equals(Buffer.from(target)) ? target : null;
}
