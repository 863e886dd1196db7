import { basename, join, relative, resolve, sep } from "node:path";
import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import { findId } from "../../shared/db/jobs/find-id.ts";
import { countRuns } from "../../shared/db/jobs/read-runs.ts";
import type { RunFilter } from "../../shared/db/jobs/read-runs.ts";
import { Failure } from "../../shared/failure.ts";
import { exportRuns } from "../export-runs.ts";
import { findNamedBatch } from "../find-named-batch.ts";
import { countOf } from "../print/quantity.ts";
import { printRefusal } from "../print/print-refusal.ts";
import { argumentOf, textOf } from "./read-options.ts";

/** Writes each run to `runs/<run_id>/run.json` below a folder of the work root; a folder of the name `runs` is taken itself. */
export const runsExport: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const asked = resolve(invocation.cwd, argumentOf(invocation));
  const folder = basename(asked) === "runs" ? asked : join(asked, "runs");
  return withDatabase(context, "must-exist", async (database) => {
    const filter = await filterOf(context, database);
    const { ended, running } = await countRuns(database, filter);
    if (filter.runOrJobId !== null && ended + running === 0) throw noSuchRun(filter.runOrJobId);
    const existing = invocation.options["force"] === true ? "replace" : "keep";
    const { roots } = context.config;
    const place = { folder, cwd: invocation.cwd, roots, existing } as const;
    const done = { written: 0, unchanged: 0 };
    const refusal = await exportRuns(database, filter, place, (outcome) => {
      done[outcome] += 1;
      context.terminal.status(`${done.written + done.unchanged} of ${countOf(ended, "run")}`);
    });
    context.terminal.clearStatus();
    return refusal === undefined
      ? printExported(context, folder, { ...done, running })
      : printRefusal(context, refusal);
  });
};

async function filterOf(
  { invocation: { options } }: CommandContext,
  database: Database,
): Promise<RunFilter> {
  const [batch, run] = [textOf(options, "batch"), textOf(options, "run")];
  const runOrJobId = run === undefined ? null : await findId(database, run, ["run", "job"]);
  if (runOrJobId === undefined) throw noSuchRun(run ?? "");
  const batchId = batch === undefined ? null : (await findNamedBatch(database, batch)).batchId;
  return { batchId, runOrJobId };
}

export const noSuchRun = (id: string): Failure =>
  new Failure(
    "NOT_FOUND",
    `${JSON.stringify(id)} is not the id of a run or of a job, nor the beginning of one (8 characters or more). nightdesk runs list shows the ids.`,
  );

type Done = { readonly written: number; readonly unchanged: number; readonly running: number };

async function printExported(
  { terminal, invocation, config }: CommandContext,
  folder: string,
  { written, unchanged, running }: Done,
): Promise<number> {
  const path = relative(config.roots.workroot, folder).split(sep).join("/");
  if (invocation.options["json"] === true)
    await terminal.printJson({ ok: true, folder: path, written, unchanged, running });
  else await terminal.print(path);
  const there = unchanged === 0 ? "" : `; ${countOf(unchanged, "run")} had been before`;
  const left = running === 0 ? "" : `; ${countOf(running, "run")} not ended yet, left out`;
  terminal.say(`Exported ${countOf(written, "run")}${there}${left}.`);
  return EXIT.ok;
}
