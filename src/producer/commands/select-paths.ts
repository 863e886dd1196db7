import type { CommandContext } from "../../shared/command-context.ts";
import type { Refusal } from "../../shared/failure.ts";
import { describeSkipped, totalSkipped } from "../../shared/skipped-files.ts";
import { expandPaths, takenExtensions } from "../paths/expand-paths.ts";
import type { ExpandedPaths } from "../paths/expand-paths.ts";

/** The files that the arguments of a command name; says how many are left out for their extension. */
export async function selectPaths({
  config,
  invocation,
  terminal,
}: CommandContext): Promise<ExpandedPaths | Refusal> {
  const selected = await expandPaths(invocation.args, config, invocation.cwd);
  if (selected.kind === "paths" && totalSkipped(selected.skipped) > 0) {
    terminal.say(`${describeSkipped(selected.skipped)}. ${takenExtensions(config)}.`);
  }
  return selected;
}
