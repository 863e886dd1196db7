import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { findId } from "../../shared/db/jobs/find-id.ts";
import { selectRunDetails } from "../../shared/db/jobs/read-runs.ts";
import { layOutLines } from "../../shared/styled-text.ts";
import { Failure } from "../../shared/failure.ts";
import { describeRun } from "../print/describe-run.ts";
import { argumentOf } from "./read-options.ts";
import { noSuchRun } from "./runs-export.ts";

/** By the id of a run, or of a job: then all of its runs. */
export const runsShow: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { terminal } = context;
  const id = argumentOf(invocation);
  const runs = await withDatabase(context, "must-exist", async (database) => {
    const found = await findId(database, id, ["run", "job"]);
    if (found === undefined) throw noSuchRun(id);
    return selectRunDetails(database, found);
  });
  if (runs.length === 0) {
    throw new Failure(
      "NOT_FOUND",
      `There is no run or job ${id} that ran. nightdesk runs list shows the ids.`,
    );
  }
  if (invocation.options["json"] === true) {
    await terminal.printJson(runs);
    return EXIT.ok;
  }
  const extent = invocation.options["all"] === true ? "all" : "brief";
  for (const [index, run] of runs.entries()) {
    if (index > 0) await terminal.print("");
    const lines = layOutLines(describeRun(run, extent, terminal.zone), terminal.dataColumns);
    for (const line of lines) await terminal.print(line);
  }
  return EXIT.ok;
};
