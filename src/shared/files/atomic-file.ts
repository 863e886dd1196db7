import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { LOCK_FLAGS, lockOpened } from "./file-lock.ts";
import { hasCode } from "../store/connection/errors.ts";

/** What happens to an existing file. */
export type Existing = "keep" | "replace";

/** A file that is written beside its destination, and moved there once it is complete and on disk. */
export type AtomicFile = {
  /** For writing; `commit` and `discard` close it. */
  readonly handle: FileHandle;
  /**
   * Moves the file to its destination. An existing link there is replaced or kept, but never followed.
   * @throws the system's error, EEXIST if an existing file is to be kept; the temporary file is removed then
   */
  commit(): Promise<void>;
  /** Removes the temporary file. Does nothing after a commit. */
  discard(): Promise<void>;
};

// Never opens an existing file or a link, so that another user of the folder can't choose what is written to.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Creates a file of this user only (mode 0600, whatever the umask) under an unguessable name. Every temporary file of Nightdesk
 * is made here.
 * @param file the destination
 * @throws the system's error if the folder is missing or not writable
 */
export async function createAtomicFile(file: string, existing: Existing): Promise<AtomicFile> {
  const folder = await openFolder(dirname(file));
  try {
    const place = await pathOfFolder(folder, dirname(file));
    const partial = join(place, `.nightdesk-${randomBytes(16).toString("hex")}.partial`);
    const handle = await open(partial, NEW_FILE, 0o600);
    const target = join(place, basename(file));
    // The name is new each time, so a later call can't use the part: `keep` is left out.
    const { commit, discard } = atomicFile({ folder, handle, partial, target, existing });
    await handle.chmod(0o600).catch(async (error: unknown) => {
      await discard();
      throw error;
    });
    return { handle, commit, discard };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

/** Writes a whole file. @throws like createAtomicFile and its commit; the temporary file is removed then */
export async function writeAtomicFile(
  file: string,
  content: string | Buffer,
  existing: Existing,
): Promise<void> {
  const made = await createAtomicFile(file, existing);
  try {
    await made.handle.writeFile(content);
    await made.commit();
  } finally {
    await made.discard();
  }
}

/** A file whose part can remain beside the destination from one call to the next. */
export type PartFile = AtomicFile & {
  /** The size of the part from an earlier call. */
  readonly bytes: number;
  /** Closes the file and keeps its part. Does nothing after a commit or a discard. */
  keep(): Promise<void>;
};

/** The name of the part of a file, beside it. */
export const partNameOf = (name: string): string => `.${name}.part`;

/**
 * Continues the part of a file from an earlier call, or begins one. Its name can be guessed, so the writer holds the system's
 * lock on it, and anything there that is no file of this user only is removed.
 * @param file the destination, where an existing file is replaced
 * @returns held: another process writes it now
 * @throws Failure CONFIG_ERROR if the system has no lock; the system's error like createAtomicFile
 */
export async function openPartFile(file: string): Promise<PartFile | "held"> {
  const folder = await openFolder(dirname(file));
  try {
    const place = await pathOfFolder(folder, dirname(file));
    const partial = join(place, partNameOf(basename(file)));
    const handle = await openLockedPart(partial);
    if (handle === "held") {
      await folder.close();
      return handle;
    }
    const target = join(place, basename(file));
    const { size } = await handle.stat();
    return { ...atomicFile({ folder, handle, partial, target, existing: "replace" }), bytes: size };
  } catch (error) {
    await folder.close();
    throw error;
  }
}

const PART_FILE = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;

async function openLockedPart(partial: string): Promise<FileHandle | "held"> {
  for (;;) {
    const handle = await openOwnPart(partial);
    if (handle === "held") return handle;
    try {
      const lock = await lockOpened(handle.fd, NO_FLOCK);
      // The previous holder of the lock may have moved the file to its destination.
      if (lock === "locked" && (await isAt(handle, partial))) return handle;
      if (lock === "held") {
        await handle.close();
        return lock;
      }
    } catch (error) {
      await handle.close();
      throw error;
    }
    await handle.close();
  }
}

const NO_FLOCK =
  "The command flock is needed to lock a file that is downloaded in parts. Install util-linux.";

/** Removes a link, a pipe, a file with several names or of another user, and opens a new file in its place. */
async function openOwnPart(partial: string): Promise<FileHandle | "held"> {
  try {
    const handle = await open(partial, PART_FILE | constants.O_NONBLOCK | LOCK_FLAGS, 0o600);
    const found = await handle.stat();
    if (found.isFile() && found.nlink === 1 && found.uid === process.geteuid?.()) {
      await handle.chmod(0o600);
      return handle;
    }
    await handle.close();
  } catch (error) {
    if (hasCode(error, "EAGAIN")) return "held";
    if (!hasCode(error, "ELOOP") && !hasCode(error, "ENXIO")) throw error;
  }
  await rm(partial, { force: true });
  return openOwnPart(partial);
}

type Begun = {
  readonly folder: FileHandle;
  readonly handle: FileHandle;
  readonly partial: string;
  readonly target: string;
  readonly existing: Existing;
};

function atomicFile({ folder, handle, partial, target, existing }: Begun): Omit<PartFile, "bytes"> {
  let isOpen = true;
  // Set by a rename, after which the name may belong to another process's part.
  let isMoved = false;
  const end = async (left: "nothing" | "the part"): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    // Removed before the lock is released: the next holder would continue whatever is there.
    if (left === "nothing" && !isMoved) await rm(partial, { force: true });
    await handle.close();
    await folder.close();
  };
  return {
    handle,
    discard: () => end("nothing"),
    keep: () => end("the part"),
    async commit() {
      try {
        await handle.sync();
        // `link` fails if a file has appeared in the meantime; `rename` would replace it.
        if (existing === "replace" || !(await linkOrReserve(partial, target))) {
          await rename(partial, target);
          isMoved = true;
        }
        await assertPlaced(handle, target);
        await folder.sync();
      } finally {
        await end("nothing");
      }
    },
  };
}

/** @returns false where a disk has no links, as exFAT: then it has made an empty file, which a rename may replace */
async function linkOrReserve(partial: string, target: string): Promise<boolean> {
  try {
    await link(partial, target);
    return true;
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP"].some((code) => hasCode(error, code))) throw error;
    await (await open(target, NEW_FILE, 0o600)).close();
    return false;
  }
}

/** If other users can write the folder, the name may meanwhile lead to another file. */
async function assertPlaced(handle: FileHandle, target: string): Promise<void> {
  if (await isAt(handle, target)) return;
  throw new Error(`another program replaced ${basename(target)} while it was written`);
}

async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  const written = await handle.stat();
  const placed = await lstat(path).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  });
  return written.dev === placed?.dev && written.ino === placed.ino;
}

/** @throws the system's error, ENOTDIR for a link with `refuse` */
export const openFolder = (
  folder: string,
  links: "follow" | "refuse" = "follow",
): Promise<FileHandle> =>
  open(
    folder,
    constants.O_RDONLY | constants.O_DIRECTORY | (links === "refuse" ? constants.O_NOFOLLOW : 0),
  );

/**
 * A path of an open folder that still leads to it if another folder takes its place, on systems that support it (Linux); else
 * the path that it was opened by.
 */
export async function pathOfFolder({ fd }: FileHandle, folder: string): Promise<string> {
  const opened = `/proc/self/fd/${fd}`;
  const found = await lstat(opened).catch(() => undefined);
  return found?.isSymbolicLink() === true ? opened : folder;
}

/** The opened folder, or the path and the kind of what prevented it. */
export type OpenedBelow =
  | { readonly kind: "open"; readonly handle: FileHandle; readonly path: string }
  | { readonly kind: "missing" | "link" | "no folder"; readonly path: string };

/**
 * Opens nested folders below one that the user named, each relative to the one above, and follows no link, not even one that
 * appears in between.
 */
export async function openBelow(
  base: string,
  folders: readonly string[],
  missing: "make" | "leave out",
): Promise<OpenedBelow> {
  let opened = await openNext(base, base, "follow");
  for (const name of folders) {
    if (opened.kind !== "open") return opened;
    const { handle, path } = opened;
    try {
      const inside = join(await pathOfFolder(handle, path), name);
      if (missing === "make") await mkdir(inside).catch(ignoreExisting);
      opened = await openNext(inside, join(path, name), "refuse");
    } finally {
      await handle.close();
    }
  }
  return opened;
}

/** @param path of `folder`, as the user names it */
async function openNext(
  folder: string,
  path: string,
  links: "follow" | "refuse",
): Promise<OpenedBelow> {
  try {
    return { kind: "open", handle: await openFolder(folder, links), path };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { kind: "missing", path };
    // For a link Linux returns ENOTDIR, other systems ELOOP.
    if (!hasCode(error, "ENOTDIR") && !hasCode(error, "ELOOP")) throw error;
    const isLink = (await lstat(folder)).isSymbolicLink();
    return { kind: isLink ? "link" : "no folder", path };
  }
}

function ignoreExisting(error: unknown): void {
  if (!hasCode(error, "EEXIST")) throw error;
}

/** Makes the directory entries of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await openFolder(folder);
  await handle.sync().finally(() => handle.close());
}

/** A text file that is written in pieces. It appears as a whole on commit, and `discard` leaves nothing behind. */
export type TextFile = {
  /** Buffers texts before writing. */
  write(text: string): Promise<void>;
  commit(): Promise<void>;
  /** Does nothing after a commit. */
  discard(): Promise<void>;
};

const GATHERED_CHARS = 256 * 1024;

export function textFileOf(file: AtomicFile): TextFile {
  let [gathered, chars]: [string[], number] = [[], 0];
  const flush = async (): Promise<void> => {
    const text = gathered.join("");
    [gathered, chars] = [[], 0];
    if (text !== "") await file.handle.appendFile(text);
  };
  return {
    async write(text) {
      gathered.push(text);
      chars += text.length;
      if (chars >= GATHERED_CHARS) await flush();
    },
    async commit() {
      await flush();
      await file.commit();
    },
    discard: () => file.discard(),
  };
}
