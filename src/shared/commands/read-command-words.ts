import { buildProgram } from "./build-program.ts";
import type { Command } from "./command.ts";
import { plainWords } from "./usage-failure.ts";

export type ReadWords = {
  readonly command: Command;
  readonly args: readonly string[];
  /** Values by camelCase name. */
  readonly options: Readonly<Record<string, string | number | boolean | undefined>>;
};

const ASKS_FOR_HELP = new Set(["help", "--help", "-h", "--version", "-V"]);

/**
 * Reads the words after `nightdesk` as the command line would, and runs nothing.
 * @returns the command, or what is wrong with the words
 */
export function readCommandWords(
  words: readonly string[],
): ({ readonly ok: true } & ReadWords) | { readonly ok: false; readonly reason: string } {
  const help = words.find((word) => ASKS_FOR_HELP.has(word));
  if (help !== undefined) return { ok: false, reason: `${help} does nothing` };
  let read: ReadWords | undefined;
  const program = buildProgram("", async (command, args, options) => {
    read = { command, args, options };
  });
  program.configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  try {
    program.parse([...words], { from: "user" });
  } catch (error) {
    return { ok: false, reason: wordsOf(error) };
  }
  return read === undefined ? { ok: false, reason: "no command is named" } : { ok: true, ...read };
}

/** What Commander says of a wrong command line. */
function wordsOf(error: unknown): string {
  // Not instanceof: this is not the door of the package.
  if (!(error instanceof Error && "code" in error && String(error.code).startsWith("commander."))) {
    throw error;
  }
  return plainWords(error.message);
}
