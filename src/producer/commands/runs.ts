import { EXIT, printRefusal } from "../../shared/commands/report-failure.ts";
import type { ReasoningRow } from "../../shared/views/reasoning.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import { batchOf } from "./approvals.ts";
import { basename, join, relative, resolve, sep } from "node:path";
import { checkedCommand, databaseCommand } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { countRuns, listRuns, selectRunDetails } from "../../shared/views/runs.ts";
import type { RunFilter } from "../../shared/views/runs.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { selectReasoning } from "../../shared/views/reasoning.ts";
import { runPage, runTable } from "../../shared/views/run-page.ts";
import { Failure } from "../../shared/failure.ts";
import { exportRuns } from "../export-runs.ts";
import { printList, printPage } from "../print/sections.ts";
import { outputText, selectOutputs } from "../../shared/views/steps.ts";
import type { StoredOutput } from "../../shared/views/steps.ts";
import { argumentOf, countOfOption, moreText, selectUpTo, textOf } from "./options.ts";

const DEFAULT_LIMIT = 20;

export const runsList = databaseCommand(async ({ terminal, invocation }, database) => {
  const limit = countOfOption(invocation.options, "limit") ?? DEFAULT_LIMIT;
  const batchId = await batchOf(database, invocation);
  const { rows: runs, hasMore } = await selectUpTo(limit, (most) =>
    listRuns(database, batchId, most),
  );
  if (terminal.isJson) return terminal.printJson(runs);
  if (runs.length === 0) {
    terminal.say("There are no runs yet.");
    return;
  }
  await printList(terminal, runTable(runs));
  if (hasMore) terminal.say(moreText("newest", limit));
});

/** Shows the run with an id, or all runs of the job with that id. */
export const runsShow = checkedCommand(stepOf, async ({ terminal, invocation }, database, step) => {
  const id = argumentOf(invocation);
  const found = await findId(database, id, ["run", "job"]);
  if (found === undefined) throw noSuchRun(id);
  if (step !== undefined)
    return showOutputs(terminal, { id, step }, await selectOutputs(database, found, step));
  if (invocation.options["reasoning"] === true)
    return showReasoning(terminal, id, await selectReasoning(database, found));
  const runs = await selectRunDetails(database, found);
  if (runs.length === 0) {
    throw new Failure(
      "NOT_FOUND",
      `There is no run or job ${id} that ran. nightdesk runs list shows the ids.`,
    );
  }
  if (terminal.isJson) return terminal.printJson(runs);
  const extent = invocation.options["all"] === true ? "full" : "brief";
  for (const [index, run] of runs.entries()) {
    if (index > 0) await terminal.print("");
    await printPage(terminal, runPage(run, extent));
  }
});

/** The step number of `--output`. */
function stepOf({ invocation }: CommandContext): number | undefined {
  const step = textOf(invocation.options, "output");
  if (step === undefined) return undefined;
  if (/^\d{1,6}$/.test(step)) return Number(step);
  throw new Failure(
    "USAGE_ERROR",
    `--output takes the number of a step, such as 3. nightdesk runs show ${argumentOf(invocation)} lists the steps.`,
  );
}

/** Prints the whole stored outputs of a step of an investigation. */
async function showOutputs(
  terminal: Terminal,
  { id, step }: { readonly id: string; readonly step: number },
  outputs: readonly StoredOutput[],
): Promise<void> {
  if (outputs.length === 0) {
    throw new Failure(
      "NOT_FOUND",
      `Step ${step} of ${id} gave nothing that is kept, or there is no such step. nightdesk runs show ${id} lists the steps.`,
    );
  }
  if (outputs.every(({ content }) => content === null)) throw removedSince(step, outputs);
  if (terminal.isJson) return terminal.printJson(outputs.map(outputJson));
  for (const { stream, content } of outputs) {
    if (content === null) continue;
    if (outputs.length > 1) await terminal.printText(`${stream}:`);
    await terminal.printText(outputText(stream, content));
  }
}

/** Prints the stored reasoning of models for a run or job. */
async function showReasoning(
  terminal: Terminal,
  id: string,
  rows: readonly ReasoningRow[],
): Promise<void> {
  if (terminal.isJson) return terminal.printJson(rows);
  if (rows.length === 0) {
    terminal.say(
      `No reasoning is kept of ${id}: its models gave none, or its time is over (runs.keep_reasoning_days).`,
    );
  }
  for (const { pass, model, chars, reasoning } of rows) {
    await terminal.printText(`${pass}, ${model}, ${countOf(chars, "character")}:`);
    await terminal.printText(reasoning);
  }
}

const outputJson = ({ content, ...output }: StoredOutput): object => ({
  ...output,
  text: content === null ? null : outputText(output.stream, content),
});

function removedSince(step: number, outputs: readonly StoredOutput[]): Failure {
  const what = outputs.map(
    ({ stream, bytes, sha256 }) => `${stream}, ${bytes} bytes, sha256 ${sha256}`,
  );
  return new Failure(
    "NOT_FOUND",
    `The output of step ${step} has been removed since (${what.join("; ")}). runs.keep_outputs_days says how long outputs are kept.`,
  );
}

/** Writes each run to `runs/<run_id>/run.json` below a folder of the work root; a folder named `runs` is used directly. */
export const runsExport = databaseCommand(async (context, database) => {
  const { invocation, terminal } = context;
  const asked = resolve(invocation.cwd, argumentOf(invocation));
  const folder = basename(asked) === "runs" ? asked : join(asked, "runs");
  const filter = await filterOf(context, database);
  const { ended, running } = await countRuns(database, filter);
  if (filter.runOrJobId !== null && ended + running === 0) throw noSuchRun(filter.runOrJobId);
  const existing = invocation.options["force"] === true ? "replace" : "keep";
  const { roots } = context.config;
  const outputs = invocation.options["withOutputs"] === true ? "texts" : "ids";
  const reasoning = invocation.options["withReasoning"] === true ? "with" : "without";
  const place = { folder, cwd: invocation.cwd, roots, existing, outputs, reasoning } as const;
  const done = { written: 0, unchanged: 0 };
  const refusal = await exportRuns(database, filter, place, (outcome) => {
    done[outcome] += 1;
    terminal.status(`${done.written + done.unchanged} of ${countOf(ended, "run")}`);
  });
  terminal.clearStatus();
  return refusal === undefined
    ? printExported(context, folder, { ...done, running })
    : printRefusal(refusal, invocation);
});

async function filterOf({ invocation }: CommandContext, database: Database): Promise<RunFilter> {
  const run = textOf(invocation.options, "run");
  const runOrJobId = run === undefined ? null : await findId(database, run, ["run", "job"]);
  if (runOrJobId === undefined) throw noSuchRun(run ?? "");
  return { batchId: await batchOf(database, invocation), runOrJobId };
}

export const noSuchRun = (id: string): Failure =>
  new Failure(
    "NOT_FOUND",
    `${JSON.stringify(id)} is not the id of a run or of a job, nor the beginning of one (8 characters or more). nightdesk runs list shows the ids.`,
  );

type Done = { readonly written: number; readonly unchanged: number; readonly running: number };

async function printExported(
  { terminal, config }: CommandContext,
  folder: string,
  { written, unchanged, running }: Done,
): Promise<number> {
  const path = relative(config.roots.workroot, folder).split(sep).join("/");
  if (terminal.isJson)
    await terminal.printJson({ ok: true, folder: path, written, unchanged, running });
  else await terminal.print(path);
  const there = unchanged === 0 ? "" : `; ${countOf(unchanged, "run")} had been before`;
  const left = running === 0 ? "" : `; ${countOf(running, "run")} not ended yet, left out`;
  terminal.say(`Exported ${countOf(written, "run")}${there}${left}.`);
  return EXIT.ok;
}
