import type { CommandContext } from "../../shared/command-context.ts";
import { askForYes } from "../ask-for-yes.ts";

/**
 * Whether so many bytes, or nobody knows how many, may be downloaded.
 * @throws Failure USAGE_ERROR where nobody can be asked and --yes is missing
 */
export async function askToDownload(
  { invocation, terminal }: CommandContext,
  bytes: number | null,
): Promise<boolean> {
  terminal.clearStatus();
  const question = `Download ${bytes === null ? "it" : megabytes(bytes)}?`;
  return askForYes(invocation, question, "this may be downloaded");
}

export const megabytes = (bytes: number): string =>
  bytes < 100_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
