import type { Stats } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";

/** Who runs this command, as the system sees it when it opens files. */
export type FileUser = {
  readonly uid: number;
  /** The group that only this user is in; null where the system has none, as macOS, whose users are all in `staff`. */
  readonly ownGid: number | null;
};

type Owned = Pick<Stats, "uid" | "gid" | "mode">;

const ROOT = 0;
const STICKY = 0o1000;

/**
 * Why a file that was found, and that nobody named, can't be trusted with what this user runs: a stranger could have put it
 * there. Looks at what was opened, not at a name that may lead elsewhere by now, then at what led there: a link, and the
 * folders above it. The reason completes a sentence that begins with the file's name.
 */
export async function distrustOf(handle: FileHandle, file: string): Promise<string | undefined> {
  const user = currentUser();
  const opened = await handle.stat();
  // Reading one fails by itself.
  if (opened.isDirectory()) return undefined;
  if (!opened.isFile()) return "is no regular file";
  const [link, real] = [await lstat(file), await realpath(file)];
  const meant = await stat(real);
  if (meant.dev !== opened.dev || meant.ino !== opened.ino) return "changed while it was opened";
  return (
    distrustOfFile(opened, user) ??
    (link.isSymbolicLink() && !isOwn(link, user) ? "is a link of another user" : undefined) ??
    (await distrustOfFolders([...foldersAbove(file), ...foldersAbove(real)]))
  );
}

/** The same for owner and rights of a file alone. Pure. */
export function distrustOfFile(file: Owned, user: FileUser): string | undefined {
  if (!isOwn(file, user)) return `belongs to another user (uid ${file.uid})`;
  if ((file.mode & 0o002) !== 0) return "can be written by everybody";
  if ((file.mode & 0o020) !== 0 && file.gid !== user.ownGid)
    return `can be written by a group (gid ${file.gid})`;
  return undefined;
}

/** Root may replace any file anyhow. */
const isOwn = ({ uid }: Owned, user: FileUser): boolean => uid === user.uid || uid === ROOT;

async function distrustOfFolders(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of new Set(folders)) {
    const { mode } = await stat(folder);
    if ((mode & 0o002) !== 0 && (mode & STICKY) === 0)
      return `lies in ${JSON.stringify(folder)}, where everybody may replace it`;
  }
  return undefined;
}

function foldersAbove(file: string): string[] {
  const folder = dirname(file);
  return folder === file ? [] : [folder, ...foldersAbove(folder)];
}

function currentUser(): FileUser {
  const { geteuid, getegid, platform } = process;
  if (geteuid === undefined || getegid === undefined) throw new Error("This system has no users.");
  return { uid: geteuid(), ownGid: platform === "darwin" ? null : getegid() };
}
