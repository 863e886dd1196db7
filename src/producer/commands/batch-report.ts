import { join, relative, resolve } from "node:path";
import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { findEarlier } from "../report/find-earlier.ts";
import { gatherReport } from "../report/gather-report.ts";
import { headline } from "../report/report-words.ts";
import { writeReport } from "../report/write-report.ts";
import { argumentOf, textOf } from "./read-options.ts";

/** Where reports go unless it is said otherwise, below the work root. */
const FOLDER = "reports";

export const batchReport: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal, config } = context;
  const { options, cwd, version } = invocation;
  const { workroot } = config.roots;
  const asked = textOf(options, "output");
  return withDatabase(context, "must-exist", async (database) => {
    const batch = await findNamedBatch(database, argumentOf(invocation));
    const earlier = await findEarlier(database, batch, textOf(options, "compare"));
    const report = await gatherReport(database, batch, { earlier, madeAt: new Date(), version });
    const files = await writeReport(report, {
      folder: asked === undefined ? join(workroot, FOLDER) : resolve(cwd, asked),
      workroot,
      existing: options["force"] === true ? "replace" : "keep",
    });
    if (options["json"] === true) {
      await terminal.printJson({
        ok: true,
        batch_id: batch.batchId,
        batch: batch.name,
        compared_with: earlier?.name ?? null,
        ...files,
      });
    } else {
      for (const file of [files.html, files.markdown]) {
        await terminal.print(relative(cwd, file));
      }
    }
    terminal.say(headline(report));
    return EXIT.ok;
  });
};
