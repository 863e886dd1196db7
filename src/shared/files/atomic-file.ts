import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { LOCK_FLAGS, lockOpened } from "./file-lock.ts";
import { hasCode } from "../store/connection/errors.ts";

/** What becomes of a file that is there. */
export type Existing = "keep" | "replace";

/** A file that is written beside its place, and stands there when it is complete and on disk. */
export type AtomicFile = {
  /** To write to; `commit` and `discard` close it. */
  readonly handle: FileHandle;
  /**
   * Puts it in its place. A link that stands there is replaced, or kept, and never followed.
   * @throws the system's error, EEXIST where something stands there that is to be kept; nothing is left beside it then
   */
  commit(): Promise<void>;
  /** Leaves nothing behind. Does nothing after a commit. */
  discard(): Promise<void>;
};

// A name that is taken, or a link, is never opened: whoever may write the folder can't choose what is written to.
const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Begins a file of this user alone (mode 0600, whatever the umask), under a name that nobody can guess. The one way in
 * which Nightdesk makes a temporary file.
 * @param file its place
 * @throws the system's error where the folder is not there or can't be written
 */
export async function createAtomicFile(file: string, existing: Existing): Promise<AtomicFile> {
  const folder = await openFolder(dirname(file));
  try {
    const place = await pathOfFolder(folder, dirname(file));
    const partial = join(place, `.nightdesk-${randomBytes(16).toString("hex")}.partial`);
    const handle = await open(partial, NEW_FILE, 0o600);
    const target = join(place, basename(file));
    // Under a name that is new each time a part is of no use to a later call: it can't be kept.
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

/** Writes a whole file. @throws as createAtomicFile and its commit do; nothing is left beside it then */
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

/** A file whose beginning may stay beside its place from one call to the next. */
export type PartFile = AtomicFile & {
  /** What an earlier call left. */
  readonly bytes: number;
  /** Closes it, and leaves what there is. Does nothing after a commit or a discard. */
  keep(): Promise<void>;
};

/** The name under which the beginning of a file stays beside it. */
export const partNameOf = (name: string): string => `.${name}.part`;

/**
 * Goes on with a file of which an earlier call may have left a part, or begins it. The part has a name that anybody can
 * guess: who writes it holds the system's lock on it, and what stands there and is no file of this user alone is taken away.
 * @param file its place, where an earlier one is replaced
 * @returns held: another process writes it now
 * @throws Failure CONFIG_ERROR where the system offers no lock; the system's error as createAtomicFile
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
      // Who had the lock may have put the file in its place meanwhile.
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

/** What is a link, a pipe, or a file of more names or of somebody else is not written to, and makes room. */
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
  // By a rename, after which the name may be that of another process's part.
  let isMoved = false;
  const end = async (left: "nothing" | "the part"): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    // Before the lock of a part is given back: whoever takes it next may go on with what stands there.
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
        // A link refuses to replace what came in between; a rename does not.
        if (existing === "keep") await link(partial, target);
        else {
          await rename(partial, target);
          isMoved = true;
        }
        await checkPlaced(handle, target);
        await folder.sync();
      } finally {
        await end("nothing");
      }
    },
  };
}

/** In a folder that others may write, the name may have come to lead to another file. */
async function checkPlaced(handle: FileHandle, target: string): Promise<void> {
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

/** @throws the system's error, ENOTDIR for a link where none is to be followed */
export const openFolder = (
  folder: string,
  links: "follow" | "refuse" = "follow",
): Promise<FileHandle> =>
  open(
    folder,
    constants.O_RDONLY | constants.O_DIRECTORY | (links === "refuse" ? constants.O_NOFOLLOW : 0),
  );

/**
 * A path of an open folder through which nothing that takes the folder's place meanwhile is reached, where the system
 * can do that (Linux); else the path that it was opened by.
 */
export async function pathOfFolder({ fd }: FileHandle, folder: string): Promise<string> {
  const opened = `/proc/self/fd/${fd}`;
  const found = await lstat(opened).catch(() => undefined);
  return found?.isSymbolicLink() === true ? opened : folder;
}

/** Where it is not open, what was met at which path. */
export type OpenedBelow =
  | { readonly kind: "open"; readonly handle: FileHandle; readonly path: string }
  | { readonly kind: "missing" | "link" | "no folder"; readonly path: string };

/**
 * Goes down folder by folder from one that the user named, each opened in the one before it, and follows no link, also none
 * that comes in between.
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
      if (missing === "make") await mkdir(inside).catch(unlessThere);
      opened = await openNext(inside, join(path, name), "refuse");
    } finally {
      await handle.close();
    }
  }
  return opened;
}

/** @param path as the user names it, of `folder` */
async function openNext(
  folder: string,
  path: string,
  links: "follow" | "refuse",
): Promise<OpenedBelow> {
  try {
    return { kind: "open", handle: await openFolder(folder, links), path };
  } catch (error) {
    if (hasCode(error, "ENOENT")) return { kind: "missing", path };
    // Linux says ENOTDIR of a link, and others ELOOP.
    if (!hasCode(error, "ENOTDIR") && !hasCode(error, "ELOOP")) throw error;
    const isLink = (await lstat(folder)).isSymbolicLink();
    return { kind: isLink ? "link" : "no folder", path };
  }
}

function unlessThere(error: unknown): void {
  if (!hasCode(error, "EEXIST")) throw error;
}

/** Makes the names of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await openFolder(folder);
  await handle.sync().finally(() => handle.close());
}

/** A text that is written piece by piece. It appears as a whole when it is committed; nothing is left after `discard`. */
export type TextFile = {
  /** Texts are gathered before they are written. */
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
