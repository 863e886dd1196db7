import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { listMemory } from "../../shared/db/memory.ts";
import type { Memory } from "../../shared/db/memory.ts";
import { escapeInJson } from "../../shared/terminal-text.ts";
import { exportedMemory } from "../print/describe-memory.ts";
import { countOf } from "../print/quantity.ts";
import { withMemory } from "./memory-database.ts";
import { writeFileInWorkroot } from "../workroot-file/write-file.ts";
import { printRefusal } from "../print/print-refusal.ts";
import { argumentOf } from "./read-options.ts";

/** Version of the exported form. */
const SCHEMA_VERSION = 1;

/** Writes all notes as JSON, in the order in which they were written. */
export const memoryExport: CommandHandler = (invocation) =>
  withMemory(invocation, async (context, database) => {
    const notes = await listMemory(database, null);
    const written = await writeFileInWorkroot(
      { file: argumentOf(invocation), cwd: invocation.cwd, roots: context.config.roots },
      invocation.options["force"] === true ? "replace" : "keep",
      exportOf(notes),
    );
    if (written.kind === "refused") return printRefusal(context, written);
    if (invocation.options["json"] === true)
      await context.terminal.printJson({ ok: true, file: written.path, items: notes.length });
    else await context.terminal.print(written.path);
    context.terminal.say(`Exported ${countOf(notes.length, "note")}.`);
    return EXIT.ok;
  });

function exportOf(notes: readonly Memory[]): string {
  const items = notes.toReversed().map(exportedMemory);
  const exported = { schema_version: SCHEMA_VERSION, exported_at: new Date(), items };
  return `${escapeInJson(JSON.stringify(exported, null, 2))}\n`;
}
