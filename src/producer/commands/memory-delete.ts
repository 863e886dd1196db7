import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { findId } from "../../shared/db/jobs/find-id.ts";
import { deleteMemory } from "../../shared/db/memory.ts";
import { Failure } from "../../shared/failure.ts";
import { withMemory } from "./memory-database.ts";
import { argumentOf } from "./read-options.ts";

/** Deletes one note. Runs that it was shown to keep its id and, in their prompts, its words. */
export const memoryDelete: CommandHandler = (invocation) =>
  withMemory(invocation, async ({ terminal }, database) => {
    const given = argumentOf(invocation);
    const id = await findId(database, given, ["note"]);
    if (id === undefined || !(await deleteMemory(database, id))) {
      throw new Failure(
        "NOT_FOUND",
        `There is no note ${JSON.stringify(given)}. nightdesk memory list shows the ids.`,
      );
    }
    if (invocation.options["json"] === true) await terminal.printJson({ ok: true, memory_id: id });
    terminal.say(`Deleted note ${id}.`);
    return EXIT.ok;
  });
