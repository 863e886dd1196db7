import { createHash } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";
import { lstat, mkdir, readlink, realpath, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { Failure } from "../../failure.ts";
import { LOCK_FLAGS, lockOpened } from "../../files/file-lock.ts";
import { hasCode } from "../connection/errors.ts";

type DirectoryLock = { release(): void };

/**
 * Takes the operating system's exclusive lock on `<directory>/lock` without waiting. An open descriptor of this process holds it,
 * so it ends with the process, even after `kill -9`.
 * @throws Failure CONFIG_ERROR where the system offers no such lock.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock | "held"> {
  if (process.platform !== "linux" && process.platform !== "darwin") {
    throw new Failure(
      "CONFIG_ERROR",
      `The embedded database can't lock ${directory} on ${process.platform}. ` +
        "Set database.url to a PostgreSQL server.",
    );
  }
  const fd = openLockFile(path.join(directory, "lock"));
  if (fd === "held") return fd;
  const lock = await lockOpened(fd, NO_FLOCK).catch((error: unknown) => {
    closeSync(fd);
    throw error;
  });
  const release = (): void => {
    closeSync(fd);
  };
  if (lock === "locked") return { release };
  release();
  return lock;
}

const NO_FLOCK =
  "The embedded database needs the command flock to lock its directory. Install util-linux, " +
  "or set database.url to a PostgreSQL server.";

function openLockFile(file: string): number | "held" {
  try {
    return openSync(file, constants.O_RDWR | constants.O_CREAT | LOCK_FLAGS, 0o600);
  } catch (error) {
    if (hasCode(error, "EAGAIN")) return "held";
    throw error;
  }
}

/** The port that names the socket file, as in PostgreSQL: `<folder>/.s.PGSQL.<port>`. */
export const EMBEDDED_PORT = 5432;

// sizeof(sun_path) minus its final NUL.
const MAX_SOCKET_PATH_BYTES = process.platform === "darwin" ? 103 : 107;

export const socketFile = (folder: string): string =>
  path.join(folder, `.s.PGSQL.${EMBEDDED_PORT}`);

const fits = (folder: string): boolean =>
  Buffer.byteLength(socketFile(folder)) <= MAX_SOCKET_PATH_BYTES;

/**
 * The folder by which client and server name the socket of a database directory: the directory itself, or, when that path is too
 * long for a Unix socket, a short symbolic link to it in a private folder below the system's temporary folder. The directory must
 * exist.
 * @throws Failure CONFIG_ERROR when the short path is too long as well, or another user owns the private folder
 */
export async function socketDirectory(directory: string): Promise<string> {
  const real = await realpath(directory);
  if (fits(real)) return real;
  const name = createHash("sha256").update(real).digest("hex").slice(0, 16);
  const folder = path.join(os.tmpdir(), `nightdesk-${name}`);
  const link = path.join(folder, "db");
  if (!fits(link)) {
    throw new Failure(
      "CONFIG_ERROR",
      `The path ${real} is too long for a socket, and so is ${link}. ` +
        "Set database.directory or TMPDIR to a shorter path.",
    );
  }
  await makePrivateFolder(folder);
  await linkTo(real, link);
  return link;
}

async function makePrivateFolder(folder: string): Promise<void> {
  await mkdir(folder, { mode: 0o700 }).catch(unless("EEXIST"));
  const found = await lstat(folder);
  // Not os.userInfo: it throws for a user without an account entry, as in a container.
  const isOurs = found.isDirectory() && found.uid === process.getuid?.();
  if (!isOurs || (found.mode & 0o077) !== 0) {
    throw new Failure(
      "CONFIG_ERROR",
      `${folder} is not a folder that only this user can enter. Remove it, or set a shorter database.directory.`,
    );
  }
}

async function linkTo(real: string, link: string): Promise<void> {
  await symlink(real, link).catch(unless("EEXIST"));
  if ((await readlink(link)) === real) return;
  throw new Failure("CONFIG_ERROR", `${link} does not lead to ${real}. Remove it and try again.`);
}

const unless =
  (code: string) =>
  (error: unknown): void => {
    if (!hasCode(error, code)) throw error;
  };
