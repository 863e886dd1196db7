import { posix } from "node:path";
import { BINARIES } from "./binaries.ts";
import { classifyPath, isWithin } from "./path-class.ts";
import type { CommandPlace } from "./path-class.ts";
import { listCommands } from "./read-command.ts";
import type { SimpleCommand } from "./read-command.ts";

/** What a person has allowed for later: one program, in one folder, with these flags. */
export type AllowRule = {
  readonly verdict: "allow";
  /** Without a folder. */
  readonly binary: string;
  /** What must follow it, word for word: `["log"]` of git. */
  readonly words: readonly string[];
  /** What may follow then, each as written; one that ends with "=" with a value. */
  readonly flags: readonly string[];
  /** Absolute, as the sandbox names it; every other word is a path that leads there. */
  readonly folder: string;
  readonly expiresAt: Date;
};

/** What a person has forbidden: wherever it stands, also where our list would let it run. */
export type ForbidRule = {
  readonly verdict: "forbid";
  readonly binary: string;
  readonly words: readonly string[];
  /** Null for good. */
  readonly expiresAt: Date | null;
};

export type CommandRule = AllowRule | ForbidRule;

export type RuleContext = { readonly place: CommandPlace; readonly now: Date };

/** Whether a rule lets this command run. Paths count by where they lead: `/input-b` is not in `/input`. Pure. */
export function matchesRule(
  rule: AllowRule,
  command: SimpleCommand,
  context: RuleContext,
): boolean {
  const { place, now } = context;
  if (rule.expiresAt <= now || command.name !== rule.binary) return false;
  if (!startsWith(command.words, rule.words)) return false;
  const isInFolder = (path: string): boolean => {
    const { real } = classifyPath(path, place);
    return real !== null && isWithin(real, rule.folder);
  };
  const rest = command.words.slice(rule.words.length);
  const end = rest.indexOf("--");
  const before = end === -1 ? rest : rest.slice(0, end);
  const after = end === -1 ? [] : rest.slice(end + 1);
  return (
    isInFolder(".") &&
    after.every(isInFolder) &&
    before.every((word) =>
      word.startsWith("-") ? mayFollow(rule, word, isInFolder) : isInFolder(word),
    )
  );
}

function mayFollow(rule: AllowRule, flag: string, isInFolder: (path: string) => boolean): boolean {
  if (rule.flags.includes(flag)) return true;
  const end = flag.indexOf("=") + 1;
  return end > 0 && rule.flags.includes(flag.slice(0, end)) && isInFolder(flag.slice(end));
}

/**
 * Whether a rule forbids a text: one of its commands is the program, by any path, or a command that may start others has
 * its name somewhere in its words. What a script puts together while it runs can't be seen here: it asks anyway.
 * A script that can't be read is forbidden. Pure.
 */
export function forbids(rule: ForbidRule, text: string, now: Date): boolean {
  if (rule.expiresAt !== null && rule.expiresAt <= now) return false;
  const commands = listCommands(text);
  if (commands === null) return true;
  return commands.some(([name = "", ...words]) => {
    if (posix.basename(name) === rule.binary) return startsWith(words, rule.words);
    return (
      !Object.hasOwn(BINARIES, name) &&
      words.some((word) => word.split(/[^\w.-]+/).includes(rule.binary))
    );
  });
}

const startsWith = (words: readonly string[], start: readonly string[]): boolean =>
  start.every((word, index) => words[index] === word);
