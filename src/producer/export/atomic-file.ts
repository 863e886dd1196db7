import { randomBytes } from "node:crypto";
import { link, lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasCode } from "../../shared/db/error-code.ts";
import { Failure } from "../../shared/failure.ts";
import type { Existing } from "../workroot-file/write-file.ts";

/** A file that appears when it is complete and on disk, with mode 0600. */
export type AtomicFile = {
  /** Texts are gathered before they are written. */
  write(text: string): Promise<void>;
  /** Puts it in its place. @throws Failure INPUT_INVALID where a file came in between that is to be kept */
  commit(): Promise<void>;
  discard(): Promise<void>;
};

const GATHER_CHARS = 256 * 1024;

/**
 * Begins a file.
 * @param flag how the command line names it, for messages
 * @throws Failure INPUT_INVALID where it can't be written, or one is there that is to be kept
 */
export async function openAtomicFile(
  path: string,
  existing: Existing,
  flag: string,
): Promise<AtomicFile> {
  await checkExisting(path, existing, flag);
  const folder = dirname(path);
  const partial = join(folder, `.${basename(path)}.${randomBytes(4).toString("hex")}.partial`);
  const handle = await open(partial, "wx", 0o600).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message.replace(/,.*/s, "") : String(error);
    throw new Failure("INPUT_INVALID", `${flag} ${path} can't be written (${reason}).`);
  });
  let gathered: string[] = [];
  let chars = 0;
  const flush = async () => {
    const text = gathered.join("");
    [gathered, chars] = [[], 0];
    if (text !== "") await handle.appendFile(text);
  };
  return {
    async write(text) {
      gathered.push(text);
      chars += text.length;
      if (chars >= GATHER_CHARS) await flush();
    },
    async commit() {
      await flush();
      await handle.sync();
      await handle.close();
      await place(partial, path, existing).catch((error: unknown) => {
        throw hasCode(error, "EEXIST") ? isThere(path, flag) : error;
      });
      await syncFolder(folder);
    },
    async discard() {
      await handle.close();
      await rm(partial, { force: true });
    },
  };
}

async function checkExisting(path: string, existing: Existing, flag: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    if (!hasCode(error, "ENOENT") && !hasCode(error, "ENOTDIR")) throw error;
  });
  if (found === undefined) return;
  if (!found.isFile()) {
    throw new Failure("INPUT_INVALID", `${flag} ${path} is no regular file. Name another one.`);
  }
  if (existing === "keep") throw isThere(path, flag);
}

const isThere = (path: string, flag: string): Failure =>
  new Failure(
    "INPUT_INVALID",
    `${flag} ${path} is there already. Give --force to replace it, or name another file.`,
  );

/** A link refuses to replace what came in between; a rename does not. */
async function place(partial: string, path: string, existing: Existing): Promise<void> {
  if (existing === "replace") return rename(partial, path);
  await link(partial, path);
  await rm(partial);
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
