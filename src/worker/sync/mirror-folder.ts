import { lstat, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join, posix } from "node:path";
import { openBelow, partNameOf, pathOfFolder } from "../../shared/files/atomic-file.ts";
import { hasCode } from "../../shared/store/connection/errors.ts";

/** The local folder of a mirror. */
export type MirrorFolder = {
  /** Absolute. */
  readonly workroot: string;
  /** Relative to the work root, without a slash at the end. */
  readonly root: string;
};

/** An open folder, and a name in it. `file` points into this folder even if its path is replaced meanwhile. */
export type OpenedPlace = { readonly folder: FileHandle; readonly file: string };

/** @param path relative to the work root @returns undefined if a folder of the path is a link or a file, or is missing */
export async function openPlace(
  { workroot }: MirrorFolder,
  path: string,
  missing: "make" | "leave out",
): Promise<OpenedPlace | undefined> {
  const folders = posix.dirname(path).split("/");
  const opened = await openBelow(workroot, folders, missing);
  if (opened.kind !== "open") return undefined;
  const place = await pathOfFolder(opened.handle, opened.path);
  return { folder: opened.handle, file: join(place, posix.basename(path)) };
}

/** Whether the mirror holds a file of that size. */
export async function holdsBytes(
  { workroot }: MirrorFolder,
  path: string,
  bytes: number,
): Promise<boolean> {
  const found = await statusOf(join(workroot, path));
  return found?.isFile() === true && found.size === bytes;
}

export const isTaken = async (file: string): Promise<boolean> =>
  (await statusOf(file)) !== undefined;

const statusOf = (file: string) =>
  lstat(file).catch((error: unknown) => {
    if (hasCode(error, "ENOENT") || hasCode(error, "ENOTDIR")) return undefined;
    throw error;
  });

/** Removes a file of a mirror, and its partial download. It leaves folders. */
export async function removeFile(mirror: MirrorFolder, path: string): Promise<void> {
  const place = await openPlace(mirror, path, "leave out");
  if (place === undefined) return;
  try {
    const part = join(posix.dirname(place.file), partNameOf(posix.basename(place.file)));
    for (const file of [place.file, part]) {
      if ((await statusOf(file))?.isDirectory() === false) await unlink(file);
    }
    await place.folder.sync();
  } finally {
    await place.folder.close();
  }
}
