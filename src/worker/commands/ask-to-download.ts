import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import { askForYes } from "../../shared/commands/ask-for-yes.ts";

/**
 * Asks whether this many bytes may be downloaded.
 * @throws Failure USAGE_ERROR if nobody can be asked and --yes is missing
 */
export async function askToDownload(
  { invocation, terminal }: CommandContext,
  bytes: number,
): Promise<boolean> {
  terminal.clearStatus();
  return askForYes(invocation, `Download ${megabytes(bytes)}?`, "this may be downloaded");
}

/** @throws Failure DISK_FULL if a folder, which may not exist yet, has less room */
export async function assertSpace(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(nearestFolder(folder));
  if (bytes <= bavail * bsize) return;
  throw new Failure(
    "DISK_FULL",
    `${folder} has room for ${megabytes(bavail * bsize)}, and the download takes ${megabytes(bytes)}. Make room, or name ` +
      "another folder in embed.cache_dir.",
  );
}

/** The folder itself, or the nearest existing folder above it. */
const nearestFolder = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));

export const megabytes = (bytes: number): string =>
  bytes < 100_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
