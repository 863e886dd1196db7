import { withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { chooseChanged } from "../paths/choose-changed.ts";
import { countOf, formatCount } from "../print/quantity.ts";

/** With --changed, the inputs whose files are not what their newest result was made of; without it, all of them. */
export async function onlyChanged<Input extends { readonly path: string }>(
  context: CommandContext,
  inputs: readonly Input[],
): Promise<readonly Input[]> {
  const { terminal, invocation, config } = context;
  if (invocation.options["changed"] !== true) return inputs;
  const { changed, unindexed } = await withDatabase(context, "create", (database) =>
    chooseChanged(database, config.roots.workroot, inputs),
  );
  terminal.say(`${formatCount(changed.length)} of ${countOf(inputs.length, "file")} changed.`);
  if (unindexed > 0) {
    terminal.say(
      `Counted as changed because the index does not know what they were: ${countOf(unindexed, "file")}. ` +
        "To have them compared from then on: nightdesk index",
    );
  }
  return changed;
}

/** Nothing to queue is no failure: it is what somebody hopes for. */
export async function printUnchanged({ terminal, invocation }: CommandContext): Promise<number> {
  if (invocation.options["json"] === true) {
    await terminal.printJson({ ok: true, batch_id: null, batch: null, state: "unchanged" });
  }
  return EXIT.ok;
}
