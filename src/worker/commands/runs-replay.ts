import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectModelCalls } from "../../shared/store/jobs/model-calls.ts";
import { selectGrant } from "../../shared/store/investigations/grants.ts";
import { selectSteps } from "../../shared/store/investigations/steps.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { selectRunDetails } from "../../shared/views/runs.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { Failure } from "../../shared/failure.ts";
import { formatReplay, replayJson, reportOf } from "../replay/replay-report.ts";
import { readRecordedSources } from "../replay/recorded-sources.ts";
import type { RecordedSources } from "../replay/recorded-sources.ts";
import { selectRun } from "../replay/repeatable-input.ts";
import { replayRun } from "../replay/replay-run.ts";
import { openResources } from "../resources.ts";

/** Repeats a run without a model. Exit 0: to the same result; 1: to another; 4: what it rests on is not what it was. */
export const runsReplay: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const [id = ""] = invocation.args;
  return withDatabase(context, "must-exist", (database) => replay(context, database, id));
};

async function replay(context: CommandContext, database: Database, id: string): Promise<number> {
  const { run, input } = selectRun(await findRuns(database, id));
  const resources = openResources(context, database);
  const sources = await readRecordedSources(run, input, resources);
  if (sources.kind === "changed") return refuse(context, run, sources);
  const { texts, children } = sources;
  const calls = await selectModelCalls(database, run.job_id);
  const grant = input.kind === "investigate" ? await selectGrant(database, run.job_id) : undefined;
  const investigation =
    grant === undefined ? undefined : { grant, steps: await selectSteps(database, run.job_id) };
  const recorded = { run, input, calls, texts, children, investigation };
  const { signal } = new AbortController();
  const deps = await resources.pipeline();
  const repetition = await replayRun(recorded, deps, signal);
  const { invocation, terminal } = context;
  const report = reportOf(recorded, repetition);
  if (invocation.options["json"] === true) await terminal.printJson(replayJson(report));
  else for (const line of formatReplay(report)) await terminal.print(line);
  return report.same ? EXIT.ok : EXIT.error;
}

async function findRuns(database: Database, id: string): Promise<readonly RunDetail[]> {
  const found = await findId(database, id, ["run", "job"]);
  const runs = found === undefined ? [] : await selectRunDetails(database, found);
  if (runs.length > 0) return runs;
  throw new Failure(
    "NOT_FOUND",
    `There is no run or job ${JSON.stringify(id)}. nightdesk runs list shows the ids.`,
  );
}

async function refuse(
  { terminal, invocation }: CommandContext,
  run: RunDetail,
  { what, sources }: Extract<RecordedSources, { kind: "changed" }>,
): Promise<number> {
  const names = sources.map(({ path, reason }) => `${path} (${reason})`).join(", ");
  const message =
    what === "files"
      ? `Run ${run.run_id} can't be repeated, for files are not what it read: ${names}. ` +
        "Put them back as they were, or queue the job again."
      : `Run ${run.run_id} can't be repeated, for jobs do not say what it told of: ${names}. ` +
        `What they say now is told by: nightdesk digest ${JSON.stringify(run.batch)}`;
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ok: false,
      error_code: "EVIDENCE_INVALID",
      error_message: message,
      run_id: run.run_id,
      job_id: run.job_id,
      [what]: sources,
    });
  } else {
    terminal.say(`Refused: EVIDENCE_INVALID: ${message}`);
    for (const { path, message: why } of sources) terminal.say(`  ${path}: ${why}`);
  }
  return EXIT.refused;
}
