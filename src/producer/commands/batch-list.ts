import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import { BATCH_ORIGINS } from "../../shared/db/jobs/batch-origin.ts";
import { countBatches, listBatches } from "../../shared/db/jobs/read-batches.ts";
import type { BatchProgress } from "../../shared/db/jobs/read-batches.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { batchJson, styledBatchState, styledCounts } from "../print/describe-batch.ts";
import { formatCount, formatTime } from "../print/quantity.ts";
import { printList } from "../print/table.ts";
import { countOfOption } from "./read-options.ts";

const DEFAULT_LIMIT = 20;

/** `hidden` is how many batches of one job, which `ask` and other commands queue, are left out. */
type Listing = { readonly batches: readonly BatchProgress[]; readonly hidden: number };

export const batchList: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const limit = countOfOption(invocation.options, "limit") ?? DEFAULT_LIMIT;
  const choice = invocation.options["all"] === true ? "all" : "without single jobs";
  const { batches, hidden } = await withDatabase(context, "must-exist", (database) =>
    selectListing(database, choice, limit),
  );
  if (invocation.options["json"] === true) {
    await terminal.printJson(batches.map(batchJson));
    return EXIT.ok;
  }
  await printTable(terminal, batches);
  if (batches.length === limit) terminal.say(`The newest ${limit}; --limit N shows more.`);
  if (hidden > 0) terminal.say(describeHidden(hidden));
  if (batches.length === 0 && hidden === 0)
    terminal.say("There are no batches yet. Queue one with: nightdesk enqueue FILE");
  return EXIT.ok;
};

async function selectListing(
  database: Database,
  choice: "all" | "without single jobs",
  limit: number,
): Promise<Listing> {
  if (choice === "all")
    return { batches: await listBatches(database, BATCH_ORIGINS, limit), hidden: 0 };
  const origins = BATCH_ORIGINS.filter((origin) => origin !== "ad_hoc");
  return {
    batches: await listBatches(database, origins, limit),
    hidden: await countBatches(database, "ad_hoc"),
  };
}

const describeHidden = (hidden: number): string =>
  hidden === 1
    ? "1 batch of a single job, such as a question, is not listed; --all lists it, too."
    : `${formatCount(hidden)} batches of a single job, such as a question, are not listed; --all lists them, too.`;

async function printTable(terminal: Terminal, batches: readonly BatchProgress[]): Promise<void> {
  if (batches.length === 0) return;
  await printList(
    terminal,
    [
      { title: "batch", align: "left", cut: "middle", least: 14 },
      { title: "state", align: "left", least: 12 },
      { title: "jobs", align: "right" },
      { title: "of them", align: "left", least: 20, leftOut: 2 },
      { title: "created", align: "left", leftOut: 1 },
    ],
    batches.map((batch) => [
      batch.name,
      styledBatchState(batch),
      String(batch.total),
      styledCounts(batch),
      formatTime(batch.createdAt, terminal.zone, "minutes"),
    ]),
  );
}
