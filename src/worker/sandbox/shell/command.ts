import { labelCommand } from "./labels.ts";
import type { RiskLabel } from "./labels.ts";
import type { CommandPlace } from "./path-class.ts";
import { readPipe } from "./read-command.ts";
import type { ComplexReason, ErrorStream, SimpleCommand } from "./read-command.ts";
import { forbids, matchesRule } from "./rules.ts";
import type { AllowRule, CommandRule, ForbidRule } from "./rules.ts";
import type { ShellCommand } from "./state.ts";

/** Which commands a person is asked about: none, those that no rule allows, or all. */
export type AskMode = "never" | "listed" | "always";

/** Why a command is not run without asking. */
export type AskReason = ComplexReason | "always" | "no_rule";

export type CommandDecision =
  | {
      readonly kind: "runs";
      readonly command: ShellCommand;
      /** Those that allow it, one for each of its commands; none where nobody is asked. */
      readonly rules: readonly AllowRule[];
    }
  | {
      readonly kind: "asks";
      readonly reason: AskReason;
      /** The program that no rule allows; null for any other reason. */
      readonly what: string | null;
      readonly labels: readonly RiskLabel[];
    }
  | { readonly kind: "forbidden"; readonly rule: ForbidRule };

export type CommandContext = {
  readonly ask: AskMode;
  readonly place: CommandPlace;
  readonly rules: readonly CommandRule[];
  readonly now: Date;
};

/**
 * Decides on a command before anybody is asked. A rule that forbids comes first, whatever the mode. Where the mode is
 * `listed`, what runs is a command, or a pipe of commands, each of which a rule allows. The place is that of the state which
 * the command will run with. Pure.
 */
export function decideCommand(text: string, context: CommandContext): CommandDecision {
  const { ask, rules, now } = context;
  const forbidding = rules.find((rule) => rule.verdict === "forbid" && forbids(rule, text, now));
  if (forbidding?.verdict === "forbid") return { kind: "forbidden", rule: forbidding };
  switch (ask) {
    case "never":
      return { kind: "runs", command: { kind: "script", text }, rules: [] };
    case "always":
      return asks(text, "always", null);
    case "listed":
      return decideListed(text, context);
  }
}

const asks = (text: string, reason: AskReason, what: string | null): CommandDecision => ({
  kind: "asks",
  reason,
  what,
  labels: labelCommand(text),
});

function decideListed(text: string, { place, rules, now }: CommandContext): CommandDecision {
  const pipe = readPipe(text);
  if (pipe.kind === "complex") return asks(text, pipe.reason, null);
  const allowing: AllowRule[] = [];
  for (const [at, command] of pipe.commands.entries()) {
    const reads = at === 0 ? "nothing" : "a pipe";
    const rule = rules.find(
      (one) => one.verdict === "allow" && matchesRule(one, command, { place, now, reads }),
    );
    if (rule?.verdict !== "allow") return asks(text, "no_rule", command.name);
    allowing.push(rule);
  }
  return { kind: "runs", command: checkedWords(pipe.commands), rules: allowing };
}

/** The words that were checked, each program by its folder in the system, whatever a search path says. */
function checkedWords(commands: readonly SimpleCommand[]): ShellCommand {
  const [only, ...others] = commands;
  if (only !== undefined && others.length === 0) {
    return { kind: "argv", argv: [programOf(only), ...only.words], errors: only.errors };
  }
  const pipe = commands
    .map((command) => {
      const words = [programOf(command), ...command.words].map(quoted);
      return [...words, ...REDIRECTIONS[command.errors]].join(" ");
    })
    .join(" | ");
  return { kind: "argv", argv: ["/bin/bash", "-p", "-c", pipe], errors: "kept" };
}

const programOf = ({ name }: SimpleCommand): string => `/usr/bin/${name}`;
const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;
const REDIRECTIONS: Readonly<Record<ErrorStream, readonly string[]>> = {
  kept: [],
  dropped: ["2>/dev/null"],
  joined: ["2>&1"],
};
