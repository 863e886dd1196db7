import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { listRuns } from "../../shared/db/jobs/read-runs.ts";
import type { RunRow } from "../../shared/db/jobs/read-runs.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { formatDuration, formatTime } from "../print/quantity.ts";
import { layOutTable } from "../print/table.ts";
import { countOfOption, textOf } from "./read-options.ts";

const DEFAULT_LIMIT = 20;

export const runsList: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const limit = countOfOption(invocation.options, "limit") ?? DEFAULT_LIMIT;
  const batch = textOf(invocation.options, "batch");
  const runs = await withDatabase(context, "must-exist", async (database) => {
    const batchId = batch === undefined ? null : (await findNamedBatch(database, batch)).batchId;
    return listRuns(database, batchId, limit);
  });
  if (invocation.options["json"] === true) {
    await terminal.printJson(runs);
    return EXIT.ok;
  }
  if (runs.length === 0) {
    terminal.say("There are no runs yet.");
    return EXIT.ok;
  }
  for (const line of layOutRuns(runs, terminal.dataColumns)) await terminal.print(line);
  if (runs.length === limit) terminal.say(`The newest ${limit}; --limit N shows more.`);
  return EXIT.ok;
};

const layOutRuns = (runs: readonly RunRow[], mostColumns: number | undefined): readonly string[] =>
  layOutTable(
    [
      { title: "run", align: "left" },
      { title: "batch", align: "left" },
      { title: "custom_id", align: "left" },
      { title: "kind", align: "left" },
      { title: "state", align: "left" },
      { title: "took", align: "right" },
      { title: "started", align: "left" },
      { title: "model", align: "left" },
      { title: "code", align: "left" },
    ],
    runs.map((run) => [
      run.run_id,
      run.batch,
      run.custom_id,
      run.kind,
      run.attempt > 1 ? `${run.state}, attempt ${run.attempt}` : run.state,
      run.run_ms === null ? null : formatDuration(run.run_ms),
      formatTime(run.started_at),
      run.model,
      run.error_code,
    ]),
    mostColumns,
  );
