import { openTerminalOf } from "../../shared/commands/command-context.ts";
import { argumentOf } from "./options.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { COMMANDS, GLOBAL_OPTIONS } from "../../shared/commands/table.ts";
import { Failure } from "../../shared/failure.ts";
import { bashCompletion } from "../completion/bash.ts";
import { completionTree } from "../completion/completion-tree.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export const completion: CommandHandler = async (invocation) => {
  const shell = argumentOf(invocation);
  if (shell !== "bash" && shell !== "zsh" && shell !== "fish") {
    throw new Failure(
      "USAGE_ERROR",
      `${JSON.stringify(shell)} is not a shell of ${Object.keys(SHELLS).join(", ")}.`,
    );
  }
  await openTerminalOf(invocation).printText(
    SHELLS[shell](completionTree(COMMANDS, GLOBAL_OPTIONS)),
  );
};
