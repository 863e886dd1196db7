import { resolve } from "node:path";
import { openContext, withDatabase } from "../../shared/command-context.ts";
import type { CommandContext } from "../../shared/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectModelCalls } from "../../shared/store/jobs/model-calls.ts";
import { selectGrant } from "../../shared/store/investigations/grants.ts";
import { selectSteps } from "../../shared/store/investigations/steps.ts";
import { selectVerification } from "../../shared/store/jobs/verification.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { selectRunDetails } from "../../shared/views/runs.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { Failure } from "../../shared/failure.ts";
import { formatReplay, replayJson, reportOf } from "../replay/replay-report.ts";
import { readTraceFolder } from "../replay/recorded-folder.ts";
import type { RecordedJob } from "../replay/recorded-folder.ts";
import { readRecordedSources } from "../replay/recorded-sources.ts";
import type { RecordedSources } from "../replay/recorded-sources.ts";
import { selectRun } from "../replay/repeatable-input.ts";
import { replayRun } from "../replay/replay-run.ts";
import { openResources } from "../resources.ts";

/** Repeats a run without a model. Exit 0: to the same result; 1: to another; 4: what it rests on is not what it was. */
export const runsReplay: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const [id] = invocation.args;
  const { from } = invocation.options;
  if ((id === undefined) === (typeof from !== "string")) {
    throw new Failure(
      "USAGE_ERROR",
      "runs replay takes either the id of a run or of a job, or --from with a folder that runs trace wrote.",
    );
  }
  return withDatabase(context, "must-exist", async (database) => {
    const job =
      typeof from === "string"
        ? await readTraceFolder(resolve(invocation.cwd, from))
        : await findJob(database, id ?? "");
    return replay(context, database, job);
  });
};

/** The folder has what the rows of the job had; the documents are those of the work root in either case. */
async function findJob(database: Database, id: string): Promise<RecordedJob> {
  const runs = await findRuns(database, id);
  const [run] = runs;
  if (run === undefined) throw noSuchRun(id);
  const grant = run.kind === "investigate" ? await selectGrant(database, run.job_id) : undefined;
  return {
    runs,
    calls: await selectModelCalls(database, run.job_id),
    verification: await selectVerification(database, run.job_id),
    investigation:
      grant === undefined ? undefined : { grant, steps: await selectSteps(database, run.job_id) },
  };
}

async function replay(
  context: CommandContext,
  database: Database,
  { runs, ...job }: RecordedJob,
): Promise<number> {
  const { run, input } = selectRun(runs);
  const resources = openResources(context, database);
  const sources = await readRecordedSources(run, input, resources);
  if (sources.kind === "changed") return refuse(context, run, sources);
  const { texts, children } = sources;
  const recorded = { ...job, run, input, texts, children };
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
  return found === undefined ? [] : selectRunDetails(database, found);
}

const noSuchRun = (id: string): Failure =>
  new Failure(
    "NOT_FOUND",
    `There is no run or job ${JSON.stringify(id)}. nightdesk runs list shows the ids.`,
  );

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
