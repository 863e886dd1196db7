import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
} from "node:fs";
import { posix } from "node:path";
import { Failure } from "../../shared/failure.ts";
import type { SecurityPolicy } from "./policy.ts";
import type { PinnedRoot, FileLocation } from "./roots.ts";

/**
 * How this platform tells which file a descriptor is. Internal; two implementations: proc-descriptors.ts,
 * which has no race, and compared-descriptors.ts, which has one and runs only with `security.allow_racy_reads`.
 * All calls are synchronous: on a local disk they take microseconds, where a thread-pool turn takes longer.
 */
export type Descriptors = {
  /** Opens the place, links followed, and never blocks. Throws the system's error. The caller closes it. */
  open(place: FileLocation): number;
  /** The absolute path of the opened file, free of links; null when it can't be told, or is not UTF-8. */
  realPath(descriptor: number, place: FileLocation): string | null;
  /** Whether the folder pinned at start is still what lies at its path. */
  isInPlace(root: PinnedRoot): boolean;
  /** Gives a descriptor of the same file that can be read, and closes what it opened. */
  withReadable<T>(descriptor: number, use: (readable: number) => T): T;
  /** An absolute path of the root folder that a walk can start from. */
  walkFrom(root: PinnedRoot): string;
};

/** The platform as the sandbox sees it. */
export type PlatformFacts = {
  readonly platform: NodeJS.Platform;
  /** Folder of links from descriptor numbers to real paths. */
  readonly descriptorFolder: string;
};

/** Throws CONFIG_ERROR on Windows, and where there is no /proc unless `security.allow_racy_reads` is set. */
export function selectDescriptors(host: PlatformFacts, policy: SecurityPolicy): Descriptors {
  if (host.platform === "win32") {
    throw new Failure(
      "CONFIG_ERROR",
      "Windows is not supported: it has no way to decide on an opened file. Use WSL 2 or a container.",
    );
  }
  if (namesDescriptors(host)) return procDescriptors(host.descriptorFolder);
  if (policy.allowRacyReads) return comparedDescriptors;
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
const comparedDescriptors: Descriptors = {
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
function procDescriptors(folder: string): Descriptors {
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
