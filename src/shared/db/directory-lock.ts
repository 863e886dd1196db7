import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, openSync } from "node:fs";
import path from "node:path";
import { Failure } from "../failure.ts";
import { hasCode } from "./error-code.ts";

export type DirectoryLock = { release(): void };

/**
 * Takes the operating system's exclusive lock on `<directory>/lock` without waiting. It is bound to an open
 * descriptor of this process, so it is gone when the process is, also after `kill -9`.
 * @throws Failure CONFIG_ERROR where the system offers no such lock.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock | "held"> {
  const file = path.join(directory, "lock");
  if (process.platform === "linux") return lockWithFlock(file);
  if (process.platform === "darwin") return lockWithOpen(file);
  throw new Failure(
    "CONFIG_ERROR",
    `The embedded database can't lock ${directory} on ${process.platform}. ` +
      "Set database.url to a PostgreSQL server.",
  );
}

const held = (fd: number): DirectoryLock => ({
  release: () => {
    closeSync(fd);
  },
});

// Node has no flock(2). The lock belongs to the open file, which the child shares with us and outlives it.
async function lockWithFlock(file: string): Promise<DirectoryLock | "held"> {
  const fd = openSync(file, "a", 0o600);
  const status = await runFlock(fd).catch((error: unknown) => {
    closeSync(fd);
    throw error;
  });
  if (status === 0) return held(fd);
  closeSync(fd);
  if (status === 1) return "held";
  throw new Failure("CONFIG_ERROR", `The command flock could not lock ${file}: status ${status}.`);
}

async function runFlock(fd: number): Promise<number> {
  const child = spawn("flock", ["-n", "-x", "3"], { stdio: ["ignore", "ignore", "ignore", fd] });
  try {
    const [code] = (await once(child, "exit")) as [number | null];
    return code ?? -1;
  } catch (cause) {
    throw new Failure(
      "CONFIG_ERROR",
      "The embedded database needs the command flock to lock its directory. Install util-linux, " +
        "or set database.url to a PostgreSQL server.",
      { cause },
    );
  }
}

// Of <fcntl.h> on macOS; Node passes the bits on and names only O_NONBLOCK.
const O_EXLOCK = 0x20;

function lockWithOpen(file: string): DirectoryLock | "held" {
  const flags = constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK | O_EXLOCK;
  try {
    return held(openSync(file, flags, 0o600));
  } catch (error) {
    if (hasCode(error, "EAGAIN")) return "held";
    throw error;
  }
}
