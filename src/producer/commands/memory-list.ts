import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { listMemory } from "../../shared/db/memory.ts";
import { describeDangling, memoryJson, printMemory } from "../print/describe-memory.ts";
import { memoryTypeOf } from "./memory-add.ts";
import { withMemory } from "./memory-database.ts";

/** Notes, newest first, with what of their evidence is gone. */
export const memoryList: CommandHandler = (invocation) =>
  withMemory(invocation, async ({ terminal }, database) => {
    const type = memoryTypeOf(invocation.options) ?? null;
    const notes = await listMemory(database, type);
    if (invocation.options["json"] === true) {
      await terminal.printJson(notes.map(memoryJson));
      return EXIT.ok;
    }
    if (notes.length === 0) {
      const which = type === null ? "" : ` of type ${type}`;
      terminal.say(
        `There are no notes${which} yet. Write one with: nightdesk memory add TEXT --type preference`,
      );
      return EXIT.ok;
    }
    await printMemory(terminal, notes);
    for (const line of notes.flatMap(describeDangling)) terminal.say(line);
    return EXIT.ok;
  });
