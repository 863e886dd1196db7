import { readdirSync } from "node:fs";
import path from "node:path";
import { hasCode } from "../shared/db/error-code.ts";
import { SAYS_DISK_FULL } from "../shared/storage-fault.ts";
import { dumpsAmong } from "./write-dump.ts";

/**
 * Says that a data directory does not open, why, which dumps there are, and the command that restores one. A full disk has
 * broken nothing.
 */
export function describeBroken(directory: string, reason: string): string {
  if (SAYS_DISK_FULL.test(reason)) {
    return (
      `The disk is full: the data directory ${path.join(directory, "pgdata")} can't be written (${reason}). Free some ` +
      "space there. Nothing is broken, and nothing has to be restored."
    );
  }
  const dumps = findDumps(directory);
  const restore = (file: string) => `nightdesk restore --force ${file}`;
  const [newest] = dumps;
  const remedy =
    newest === undefined
      ? "There are no dumps in its folder backups. Restore a file that nightdesk backup wrote with: " +
        restore("FILE")
      : `Dumps, newest first: ${dumps.join(", ")}. Restore one with: ${restore(shellWord(newest))}`;
  return `The data directory ${path.join(directory, "pgdata")} does not open: ${reason}. ${remedy}`;
}

function findDumps(directory: string): string[] {
  const folder = path.join(directory, "backups");
  try {
    return dumpsAmong(readdirSync(folder)).map((name) => path.join(folder, name));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return [];
    throw error;
  }
}

export const shellWord = (word: string): string =>
  /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
