import { posix } from "node:path";
import { classifyPath, isWithin } from "./path-class.ts";
import type { CommandPlace } from "./path-class.ts";
import { listCommands } from "./read-command.ts";
import type { SimpleCommand } from "./read-command.ts";

/** What a person has allowed for later: one program, on what lies in one folder. */
export type AllowRule = {
  readonly verdict: "allow";
  /** Without a folder. */
  readonly binary: string;
  /** What must follow it, word for word: `["log"]` of git. */
  readonly words: readonly string[];
  /** Absolute, as the sandbox names it. */
  readonly folder: string;
  /** Null for one that ends with its job or batch. */
  readonly expiresAt: Date | null;
};

/** What a person has forbidden, wherever it stands. */
export type ForbidRule = {
  readonly verdict: "forbid";
  readonly binary: string;
  readonly words: readonly string[];
  /** Null for good. */
  readonly expiresAt: Date | null;
};

export type CommandRule = AllowRule | ForbidRule;

export type RuleContext = {
  readonly place: CommandPlace;
  readonly now: Date;
  /** What the command has for stdin. */
  readonly reads: "nothing" | "a pipe";
};

/**
 * Whether a rule lets this command run: it is the program, and all paths among its words lead into the folder, wherever it
 * stands. One that names no path and reads no pipe reads where it stands. `/input-b` is not in `/input`. Pure.
 */
export function matchesRule(
  rule: AllowRule,
  command: SimpleCommand,
  { place, now, reads }: RuleContext,
): boolean {
  if (isOver(rule, now) || command.name !== rule.binary) return false;
  if (!startsWith(command.words, rule.words)) return false;
  const words = command.words.slice(rule.words.length);
  const paths = words.flatMap(pathsIn).filter((path) => mayBeFile(path, place));
  const named = paths.length > 0 || reads === "a pipe" ? paths : ["."];
  return named.every((path) => {
    const { real } = classifyPath(path, place);
    return real !== null && isWithin(real, rule.folder);
  });
}

const isOver = ({ expiresAt }: CommandRule, now: Date): boolean =>
  expiresAt !== null && expiresAt <= now;

/** A word that is no flag, and what stands behind "=" or the letters of a flag: `--from=a/b`, `-f/a/b`, `if=/a/b`. */
function pathsIn(word: string): readonly string[] {
  const isFlag = /^-./.test(word);
  const value = /=(.*)$/s.exec(word)?.[1] ?? (isFlag ? /\.{0,2}\/.*$/s.exec(word)?.[0] : undefined);
  return [...(isFlag || word === "-" ? [] : [word]), ...(value === undefined ? [] : [value])];
}

/** A plain word of a call that stands in /scratch is a pattern, or a file that the job made itself, unless it is a link. */
function mayBeFile(word: string, place: CommandPlace): boolean {
  if (word.includes("/") || word === "." || word === "..") return true;
  const { real } = classifyPath(word, place);
  const { real: folder } = classifyPath(".", place);
  if (real === null || folder === null) return true;
  return !isWithin(folder, "/scratch") || real !== posix.join(folder, word);
}

/**
 * Whether a rule forbids a text: one of its commands is the program, by any path, or its name stands anywhere else but
 * among the words of a program that searches for words. What a script puts together while it runs can't be seen here. A
 * script that can't be read is forbidden. Pure.
 */
export function forbids(rule: ForbidRule, text: string, now: Date): boolean {
  if (isOver(rule, now)) return false;
  const commands = listCommands(text);
  if (commands === null) return true;
  let expected = 0;
  for (const [name = "", ...words] of commands) {
    const program = posix.basename(name);
    const mentions = words.reduce((sum, word) => sum + countMentions(word, rule.binary), 0);
    if (program === rule.binary) {
      if (isSubsequence(rule.words, words)) return true;
      expected += 1;
    }
    if (SEARCHES.has(program)) expected += mentions;
    else if (mentions > 0) return true;
  }
  return countMentions(text, rule.binary) > expected;
}

/** They start no other program, and their words are what is searched for. */
const SEARCHES: ReadonlySet<string> = new Set(["grep", "egrep", "fgrep", "rg"]);

const countMentions = (text: string, binary: string): number =>
  text.split(/[^\w.+[-]+/).filter((word) => word === binary).length;

/** Whether the words stand in that order, with others between: `git -C x push` is `git push`. */
function isSubsequence(wanted: readonly string[], words: readonly string[]): boolean {
  let at = 0;
  for (const word of words) if (word === wanted[at]) at += 1;
  return at === wanted.length;
}

const startsWith = (words: readonly string[], start: readonly string[]): boolean =>
  start.every((word, index) => words[index] === word);
