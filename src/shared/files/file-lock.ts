import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { Failure } from "../failure.ts";
import { hasCode } from "../store/connection/errors.ts";

// From <fcntl.h> on macOS. Node passes the bits on, but only names O_NONBLOCK.
const O_EXLOCK = 0x20;

/**
 * Extra flags for opening a file to lock, because macOS takes the lock when it opens the file. The open fails with EAGAIN there
 * if another process has the lock.
 */
export const LOCK_FLAGS = process.platform === "darwin" ? constants.O_NONBLOCK | O_EXLOCK : 0;

/**
 * Takes the operating system's exclusive lock on an open file without waiting. The lock belongs to the descriptor: it ends when
 * that is closed and when the process ends, also by `kill -9`.
 * @param fd of a file that was opened with LOCK_FLAGS
 * @param missing the remedy for a system without the flock command
 * @throws Failure CONFIG_ERROR; the system's error if flock can't be started
 */
export async function lockOpened(fd: number, missing: string): Promise<"locked" | "held"> {
  if (process.platform === "darwin") return "locked";
  const status = await runFlock(fd, missing);
  if (status === 0) return "locked";
  if (status === 1) return "held";
  throw new Failure("CONFIG_ERROR", `The command flock could not lock a file: status ${status}.`);
}

// Node has no flock(2). The lock belongs to the open file, which the child shares with this process, so it outlives the child.
async function runFlock(fd: number, missing: string): Promise<number> {
  const child = spawn("flock", ["-n", "-x", "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code ?? -1;
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new Failure("CONFIG_ERROR", missing, { cause });
  }
}
