import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { listRuns } from "../../shared/db/jobs/read-runs.ts";
import type { RunRow } from "../../shared/db/jobs/read-runs.ts";
import { SHORT_ID_CHARS } from "../../shared/db/jobs/find-id.ts";
import { styledState } from "../../shared/styled-text.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { formatDuration, formatTime } from "../print/quantity.ts";
import { listedId, printList } from "../print/table.ts";
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
  await printRuns(terminal, runs);
  if (runs.length === limit) terminal.say(`The newest ${limit}; --limit N shows more.`);
  return EXIT.ok;
};

const printRuns = (terminal: Terminal, runs: readonly RunRow[]): Promise<void> =>
  printList(
    terminal,
    [
      { title: "run", align: "left", least: SHORT_ID_CHARS },
      { title: "batch", align: "left", cut: "middle", least: 12, leftOut: 4 },
      { title: "custom_id", align: "left", cut: "middle", least: 12 },
      { title: "kind", align: "left", leftOut: 3 },
      { title: "state", align: "left", least: 9 },
      { title: "took", align: "right", leftOut: 2 },
      { title: "started", align: "left", leftOut: 5 },
      { title: "model", align: "left", cut: "middle", least: 12, leftOut: 1 },
      { title: "code", align: "left", least: 21 },
    ],
    runs.map((run) => [
      listedId(terminal, run.run_id),
      run.batch,
      run.custom_id,
      run.kind,
      styledState(run.state, run.attempt > 1 ? `${run.state}, attempt ${run.attempt}` : run.state),
      run.run_ms === null ? null : formatDuration(run.run_ms),
      formatTime(run.started_at, terminal.zone, "minutes"),
      run.model,
      run.error_code,
    ]),
  );
