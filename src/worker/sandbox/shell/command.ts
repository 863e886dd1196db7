import { BINARIES, readFindWords, readWords } from "./binaries.ts";
import type { ReadWords } from "./binaries.ts";
import { readGitWords } from "./git-command.ts";
import { labelCommand } from "./labels.ts";
import type { RiskLabel } from "./labels.ts";
import { classifyPath } from "./path-class.ts";
import type { ClassifiedPath, CommandPlace } from "./path-class.ts";
import { readCommand } from "./read-command.ts";
import type { ComplexReason, ErrorStream, SimpleCommand } from "./read-command.ts";
import { forbids, matchesRule } from "./rules.ts";
import type { AllowRule, CommandRule, ForbidRule } from "./rules.ts";

/** Why a command is not run without asking. */
export type AskReason = ComplexReason | "program" | "flag" | "operand" | "path_outside";

export type CommandDecision =
  /** Runs: these words, and not the text, by our list or by a rule of the user. */
  | {
      readonly kind: "runs";
      readonly argv: readonly string[];
      readonly errors: ErrorStream;
      readonly paths: readonly ClassifiedPath[];
      readonly rule: AllowRule | null;
    }
  | {
      readonly kind: "asks";
      readonly reason: AskReason;
      /** What in the text it is: a program, flag, word or path; null for its form. */
      readonly what: string | null;
      readonly labels: readonly RiskLabel[];
    }
  | { readonly kind: "forbidden"; readonly rule: ForbidRule };

export type CommandContext = {
  readonly place: CommandPlace;
  readonly rules: readonly CommandRule[];
  readonly now: Date;
};

/**
 * Decides on a command before anybody is asked. What runs is one simple command whose program only reads, with flags that
 * keep it so and paths that lead to /input or /scratch; or one that a rule allows. A rule that forbids comes first.
 * The place is that of the state which the command will run with. Pure.
 */
export function decideCommand(text: string, context: CommandContext): CommandDecision {
  const { place, rules, now } = context;
  const forbidding = rules.find((rule) => rule.verdict === "forbid" && forbids(rule, text, now));
  if (forbidding?.verdict === "forbid") return { kind: "forbidden", rule: forbidding };
  const command = readCommand(text);
  if (command.kind === "complex") return ask(text, command.reason, null);
  const listed = checkListed(command, place);
  if (listed.kind === "listed") {
    const { argv, paths } = listed;
    return { kind: "runs", argv, errors: command.errors, paths, rule: null };
  }
  const rule = rules.find(
    (rule) => rule.verdict === "allow" && matchesRule(rule, command, context),
  );
  if (rule?.verdict !== "allow") return ask(text, listed.reason, listed.what);
  const argv = [programOf(command), ...command.words];
  return { kind: "runs", argv, errors: command.errors, paths: [], rule };
}

const ask = (text: string, reason: AskReason, what: string | null): CommandDecision => ({
  kind: "asks",
  reason,
  what,
  labels: labelCommand(text),
});

type Listed =
  | {
      readonly kind: "listed";
      readonly argv: readonly string[];
      readonly paths: readonly ClassifiedPath[];
    }
  | { readonly kind: "unlisted"; readonly reason: AskReason; readonly what: string };

/** By its folder in the system, whatever a search path says. */
const programOf = ({ name }: SimpleCommand): string => `/usr/bin/${name}`;

function checkListed(command: SimpleCommand, place: CommandPlace): Listed {
  const read = readListed(command);
  if (read.kind === "unlisted") return { ...read, reason: read.what, what: read.word };
  const paths = [place.folder, ...read.paths].map((path) => classifyPath(path, place));
  const outside = paths.find((path) => path.class === "outside");
  return outside === undefined
    ? { kind: "listed", argv: read.argv, paths: paths.slice(1) }
    : { kind: "unlisted", reason: "path_outside", what: outside.path };
}

type ReadListed =
  | { readonly kind: "read"; readonly argv: readonly string[]; readonly paths: readonly string[] }
  | {
      readonly kind: "unlisted";
      readonly what: "program" | "flag" | "operand";
      readonly word: string;
    };

function readListed(command: SimpleCommand): ReadListed {
  const { name, words } = command;
  if (name === "git") {
    const read = readGitWords(words);
    return read.kind === "argv" ? { ...read, kind: "read" } : read;
  }
  if (name === "find") return withProgram(command, readFindWords(words), []);
  const grammar = Object.hasOwn(BINARIES, name) ? BINARIES[name] : undefined;
  return grammar === undefined
    ? { kind: "unlisted", what: "program", word: name }
    : withProgram(command, readWords(grammar, words), grammar.given ?? []);
}

const withProgram = (
  command: SimpleCommand,
  read: ReadWords,
  given: readonly string[],
): ReadListed =>
  read.kind === "paths"
    ? { kind: "read", argv: [programOf(command), ...given, ...command.words], paths: read.paths }
    : read;
