import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, lstat, open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

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
    const made = atomicFile({ folder, handle, partial, target, existing });
    await handle.chmod(0o600).catch(async (error: unknown) => {
      await made.discard();
      throw error;
    });
    return made;
  } catch (error) {
    await folder.close();
    throw error;
  }
}

type Begun = {
  readonly folder: FileHandle;
  readonly handle: FileHandle;
  readonly partial: string;
  readonly target: string;
  readonly existing: Existing;
};

function atomicFile({ folder, handle, partial, target, existing }: Begun): AtomicFile {
  let isOpen = true;
  const end = async (): Promise<void> => {
    if (!isOpen) return;
    isOpen = false;
    await handle.close();
    // Gone already after a rename.
    await rm(partial, { force: true });
    await folder.close();
  };
  return {
    handle,
    discard: end,
    async commit() {
      try {
        await handle.sync();
        // A link refuses to replace what came in between; a rename does not.
        if (existing === "keep") await link(partial, target);
        else await rename(partial, target);
        await checkPlaced(handle, target);
        await folder.sync();
      } finally {
        await end();
      }
    },
  };
}

/** In a folder that others may write, the name may have come to lead to another file. */
async function checkPlaced(handle: FileHandle, target: string): Promise<void> {
  const [written, placed] = [await handle.stat(), await lstat(target)];
  if (written.dev === placed.dev && written.ino === placed.ino) return;
  throw new Error(`another program replaced ${basename(target)} while it was written`);
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

/** Makes the names of a folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await openFolder(folder);
  await handle.sync().finally(() => handle.close());
}
