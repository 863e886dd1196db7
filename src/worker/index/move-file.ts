import { link, lstat, realpath, stat, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname, extname, join, posix } from "node:path";
import { openBelow, pathOfFolder } from "../../shared/files/atomic-file.ts";
import type { FileToMove, Move } from "../../shared/store/index/watched-files.ts";
import { isSystemError } from "../sandbox/names.ts";

type Places = {
  /** Absolute. */
  readonly workroot: string;
  /** Root of the watched source, absolute. */
  readonly root: string;
};

/**
 * Moves a file that is unchanged since it was taken. It never overwrites another file: where the name exists, the new name gets
 * the first eight digits of the hash. The move makes a hard link, which fails where the name exists, and then removes the old
 * name. So both folders must be on one device, and after a crash in between, the next call removes the old name.
 */
export async function moveFile(file: FileToMove, { workroot, root }: Places): Promise<Move> {
  const from = join(workroot, file.path);
  const keepFile = (why: string): Move => ({ kind: "kept", path: file.path, why });
  let folder: FileHandle | undefined;
  try {
    const status = await lstat(from, { bigint: true });
    const isSame =
      status.isFile() &&
      status.size === file.bytes &&
      status.ino === file.inode &&
      status.mtimeNs === file.mtime_ns;
    if (!isSame) return keepFile("it changed after it was taken");
    if (!isBelow(await realpath(dirname(from)), await realpath(root)))
      return keepFile("a link leads out of its source");
    const names = posix.normalize(file.move_to).split("/").filter(Boolean);
    const opened = await openBelow(workroot, names, "make");
    if (opened.kind === "link") return keepFile(`a link stands in ${file.move_to}`);
    if (opened.kind !== "open") return keepFile(`${file.move_to} is no folder`);
    folder = opened.handle;
    const there = await folder.stat({ bigint: true });
    if (there.dev !== status.dev) return keepFile(`${file.move_to} is on another device`);
    // A link to itself would look like the first half of a move, and the file would be removed.
    if (there.ino === (await stat(dirname(from), { bigint: true })).ino)
      return { kind: "moved", path: file.path };
    const place = await pathOfFolder(folder, opened.path);
    const name = await linkUnderFreeName(from, place, file);
    if (name === undefined) return keepFile(`${file.move_to} already holds files with its name`);
    await unlink(from);
    return { kind: "moved", path: posix.join(file.move_to, name) };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return keepFile(`the file system says ${error.code ?? "no"}`);
  } finally {
    await folder?.close();
  }
}

const isBelow = (path: string, root: string): boolean =>
  path === root || path.startsWith(`${root}/`);

async function linkUnderFreeName(
  from: string,
  folder: string,
  { path, sha256, inode }: FileToMove,
): Promise<string | undefined> {
  const name = posix.basename(path);
  const extension = extname(name);
  const other = `${name.slice(0, name.length - extension.length)}.${sha256.slice(0, 8)}${extension}`;
  for (const candidate of [name, other]) {
    const target = join(folder, candidate);
    try {
      await link(from, target);
      return candidate;
    } catch (error) {
      if (!isSystemError(error) || error.code !== "EEXIST") throw error;
      if ((await lstat(target, { bigint: true })).ino === inode) return candidate;
    }
  }
  return undefined;
}
