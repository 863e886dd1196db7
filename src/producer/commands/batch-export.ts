import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import { Failure } from "../../shared/failure.ts";
import { exportBatch } from "../export-batch.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { countOf } from "../print/quantity.ts";
import { argumentOf, textOf } from "./read-options.ts";

export const batchExport: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const output = textOf(invocation.options, "output");
  return withDatabase(context, "must-exist", async (database) => {
    const { batchId, name } = await findNamedBatch(database, argumentOf(invocation));
    const jobs =
      output === undefined || output === "-"
        ? await exportBatch(database, batchId, (line) => terminal.print(line))
        : await exportToFile(database, batchId, resolve(invocation.cwd, output));
    terminal.say(`Exported ${countOf(jobs, "job")} of batch ${JSON.stringify(name)}.`);
    return EXIT.ok;
  });
};

/** The file appears when it is complete, and replaces what was there. */
async function exportToFile(database: Database, batchId: string, file: string): Promise<number> {
  const partial = `${file}.${randomBytes(4).toString("hex")}.partial`;
  const handle = await open(partial, "wx").catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure("INPUT_INVALID", `--output ${file} can't be written (${reason}).`);
  });
  try {
    const jobs = await exportBatch(database, batchId, (line) => handle.appendFile(`${line}\n`));
    await handle.sync();
    await handle.close();
    await rename(partial, file);
    return jobs;
  } catch (error) {
    await handle.close();
    await rm(partial, { force: true });
    throw error;
  }
}
