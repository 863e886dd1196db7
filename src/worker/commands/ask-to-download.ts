import { once } from "node:events";
import { createInterface } from "node:readline/promises";
import type { CommandContext } from "../../shared/command-context.ts";
import { Failure } from "../../shared/failure.ts";

/**
 * Whether so many bytes, or nobody knows how many, may be downloaded: `--yes`, or an answer on the terminal.
 * @throws Failure USAGE_ERROR where there is neither
 */
export async function askToDownload(
  { invocation, terminal }: CommandContext,
  bytes: number | null,
): Promise<boolean> {
  if (invocation.options["yes"] === true) return true;
  if (!process.stdin.isTTY || !process.stderr.isTTY) {
    throw new Failure(
      "USAGE_ERROR",
      "There is no terminal to ask on whether this may be downloaded. Give --yes to allow it.",
    );
  }
  terminal.clearStatus();
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  // The end of the input, and Ctrl-C, are an answer too.
  const left = once(prompt, "close").then(() => "");
  const answer = await Promise.race([
    prompt.question(`Download ${bytes === null ? "it" : megabytes(bytes)}? [y/N] `),
    left,
  ]);
  prompt.close();
  return /^y(es)?$/i.test(answer.trim());
}

export const megabytes = (bytes: number): string =>
  bytes < 100_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
