import { posix } from "node:path";
import { listCommands } from "./read-command.ts";
import type { SimpleCommand } from "./read-command.ts";
import { isWithin, resolvePath } from "./resolve-path.ts";
import type { CommandPlace } from "./resolve-path.ts";

/** A person allowed this for later: one program, on the files of one folder. */
export type AllowRule = {
  readonly verdict: "allow";
  /** Without a folder. */
  readonly binary: string;
  /** The words that must follow it: `["log"]` for `git log`. */
  readonly words: readonly string[];
  /** Absolute, as the sandbox names it. */
  readonly folder: string;
  /** Null for a rule that ends with its job or batch. */
  readonly expiresAt: Date | null;
};

/** A person forbade this anywhere in a command. */
export type ForbidRule = {
  readonly verdict: "forbid";
  readonly binary: string;
  readonly words: readonly string[];
  /** Null: forever. */
  readonly expiresAt: Date | null;
};

export type CommandRule = AllowRule | ForbidRule;

export type RuleContext = {
  readonly place: CommandPlace;
  readonly now: Date;
  /** The command's stdin. */
  readonly reads: "nothing" | "a pipe";
};

/**
 * Whether a rule allows this command: it runs the rule's program, and all paths among its words resolve into the rule's folder.
 * A command without a path and without a pipe reads its working folder. `/input-b` is not in `/input`. Pure.
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
    const real = resolvePath(path, place);
    return real !== null && isWithin(real, rule.folder);
  });
}

const isOver = ({ expiresAt }: CommandRule, now: Date): boolean =>
  expiresAt !== null && expiresAt <= now;

/** The text behind "=", and behind the letters of a flag: `--from=a/b`, `if=/a/b`; `-f/a/b`, `-C..`. */
const VALUES = [/=(.*)$/s, /^-[^=]*?(\.{0,2}\/.*|\.\.)$/s];

function pathsIn(word: string): readonly string[] {
  const values = VALUES.flatMap((pattern) => pattern.exec(word)?.[1] ?? []);
  return word.startsWith("-") ? values : [word, ...values];
}

/** In /scratch, a plain word that is no link is a pattern, or a file that the job made itself: it needs no check. */
function mayBeFile(word: string, place: CommandPlace): boolean {
  if (word.includes("/") || word === "." || word === "..") return true;
  const real = resolvePath(word, place);
  const folder = resolvePath(".", place);
  if (real === null || folder === null) return true;
  return !isWithin(folder, "/scratch") || real !== posix.join(folder, word);
}

/**
 * Whether a rule forbids a text: one of its commands runs the program, by any path, or the program's name stands elsewhere
 * than among the arguments of a search program. It can't see a name that a script composes while it runs. A script that
 * can't be parsed is forbidden. Pure.
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

/** Search programs: they start no other program, and their arguments are search words. */
const SEARCHES: ReadonlySet<string> = new Set(["grep", "egrep", "fgrep", "rg"]);

const countMentions = (text: string, binary: string): number =>
  text.split(/[^\w.+[-]+/).filter((word) => word === binary).length;

/** Whether the words appear in that order, with others between: `git -C x push` matches `git push`. */
function isSubsequence(wanted: readonly string[], words: readonly string[]): boolean {
  let at = 0;
  for (const word of words) if (word === wanted[at]) at += 1;
  return at === wanted.length;
}

const startsWith = (words: readonly string[], start: readonly string[]): boolean =>
  start.every((word, index) => words[index] === word);
