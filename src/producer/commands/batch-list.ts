import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { listBatches } from "../../shared/db/jobs/read-batches.ts";
import { batchJson, describeCounts, describeState } from "../print/describe-batch.ts";
import { formatTime } from "../print/quantity.ts";
import { layOutTable } from "../print/table.ts";
import { countOfOption } from "./read-options.ts";

const DEFAULT_LIMIT = 20;

export const batchList: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const limit = countOfOption(invocation.options, "limit") ?? DEFAULT_LIMIT;
  const batches = await withDatabase(context, "must-exist", (database) =>
    listBatches(database, limit),
  );
  if (invocation.options["json"] === true) {
    await terminal.printJson(batches.map(batchJson));
    return EXIT.ok;
  }
  if (batches.length === 0) {
    terminal.say("There are no batches yet. Queue one with: nightdesk enqueue FILE");
    return EXIT.ok;
  }
  const lines = layOutTable(
    [
      { title: "batch", align: "left" },
      { title: "state", align: "left" },
      { title: "jobs", align: "right" },
      { title: "of them", align: "left" },
      { title: "created", align: "left" },
    ],
    batches.map((batch) => [
      batch.name,
      describeState(batch),
      String(batch.total),
      describeCounts(batch),
      formatTime(batch.createdAt),
    ]),
    terminal.dataColumns,
  );
  for (const line of lines) await terminal.print(line);
  if (batches.length === limit) terminal.say(`The newest ${limit}; --limit N shows more.`);
  return EXIT.ok;
};
