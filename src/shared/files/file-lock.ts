import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { Failure } from "../failure.ts";

// Of <fcntl.h> on macOS; Node passes the bits on and names only O_NONBLOCK.
const O_EXLOCK = 0x20;

/**
 * What a file that is to be locked has to be opened with beside, because macOS takes the lock while it opens. The open ends
 * with EAGAIN there where another process has it.
 */
export const LOCK_FLAGS = process.platform === "darwin" ? constants.O_NONBLOCK | O_EXLOCK : 0;

/**
 * Takes the operating system's exclusive lock on an open file without waiting. It is bound to the descriptor, so it is gone when
 * that is closed and when the process is, also after `kill -9`.
 * @param fd of a file that was opened with LOCK_FLAGS
 * @param missing says what to do where the system has no command for it
 * @throws Failure CONFIG_ERROR
 */
export async function lockOpened(fd: number, missing: string): Promise<"locked" | "held"> {
  if (process.platform === "darwin") return "locked";
  const status = await runFlock(fd, missing);
  if (status === 0) return "locked";
  if (status === 1) return "held";
  throw new Failure("CONFIG_ERROR", `The command flock could not lock a file: status ${status}.`);
}

// Node has no flock(2). The lock belongs to the open file, which the child shares with us and outlives it.
async function runFlock(fd: number, missing: string): Promise<number> {
  const child = spawn("flock", ["-n", "-x", "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code ?? -1;
  } catch (cause) {
    throw new Failure("CONFIG_ERROR", missing, { cause });
  }
}
