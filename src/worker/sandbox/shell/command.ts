import { labelCommand } from "./labels.ts";
import type { RiskLabel } from "./labels.ts";
import type { CommandPlace } from "./resolve-path.ts";
import { readPipe } from "./read-command.ts";
import type { ComplexReason, ErrorStream, SimpleCommand } from "./read-command.ts";
import { forbids, matchesRule } from "./rules.ts";
import type { AllowRule, CommandRule, ForbidRule } from "./rules.ts";
import type { ShellCommand } from "./state.ts";

/** Which commands need approval: none, those that no rule allows, or all. */
export type AskMode = "never" | "listed" | "always";

/** Why a command needs approval. */
export type AskReason = ComplexReason | "always" | "no_rule";

export type CommandDecision =
  | {
      readonly kind: "runs";
      readonly command: ShellCommand;
      /** The rules that allow it, one for each of its commands; empty if no command needs approval. */
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
 * Decides whether a command runs, needs approval, or is forbidden. Forbid rules come first in every mode. In the mode
 * `listed` a command runs if a rule allows it, and a pipe if a rule allows each of its commands. `place` belongs to the state
 * that the command will start with. Pure.
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

/** The checked words, with each program by its path in /usr/bin, so that PATH has no influence. */
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
