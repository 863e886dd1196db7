import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { jobInputSchema, KINDS } from "../../shared/job/job.ts";
import type { JobInput } from "../../shared/job/job.ts";
import { kindOf } from "../../shared/job/kinds.ts";
import type { RepeatableInput } from "../../shared/job/kinds.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectGrant } from "../../shared/store/investigations/grants.ts";
import { selectSteps } from "../../shared/store/investigations/steps.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { selectModelCalls } from "../../shared/store/jobs/model-calls.ts";
import { selectVerification } from "../../shared/store/jobs/verification.ts";
import { selectRunDetails } from "../../shared/views/runs.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { readRecordedSources } from "../replay/recorded-sources.ts";
import type { RecordedSources } from "../replay/recorded-sources.ts";
import { formatReplay, reportOf } from "../replay/replay-report.ts";
import { replayRun } from "../replay/replay-run.ts";
import type { RecordedRun } from "../replay/replay-run.ts";
import { openResources } from "../resources.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

/** Repeats a run without a model. Exit 0: same result; 1: another result; 4: the sources of the run have changed. */
export const runsReplay: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const [id = ""] = invocation.args;
  return withDatabase(context, "must-exist", (database) => replay(context, database, id));
};

async function replay(context: CommandContext, database: Database, id: string): Promise<number> {
  const { run, input } = await selectRun(database, id);
  const resources = openResources(context, database);
  const sources = await readRecordedSources(run, input, resources);
  if (sources.kind === "changed") return reportChanged(context, run, sources);
  const recorded: RecordedRun = {
    ...{ ...sources, run, input },
    calls: await selectModelCalls(database, run.job_id),
    verification: await selectVerification(database, run.job_id),
    investigation: await selectInvestigation(database, run),
  };
  const { signal } = new AbortController();
  const report = reportOf(recorded, await replayRun(recorded, await resources.pipeline(), signal));
  const { terminal } = context;
  if (terminal.isJson) await terminal.printJson(report);
  else for (const line of formatReplay(report)) await terminal.print(line);
  return report.ok ? EXIT.ok : EXIT.error;
}

async function selectInvestigation(
  database: Database,
  { kind, job_id: jobId }: RunDetail,
): Promise<RecordedRun["investigation"]> {
  const grant = kind === "investigate" ? await selectGrant(database, jobId) : undefined;
  return grant === undefined ? undefined : { grant, steps: await selectSteps(database, jobId) };
}

/**
 * The run to repeat, by the id of a run or a job: the last one with a result.
 * @throws Failure NOT_FOUND, and INPUT_INVALID for a kind without a model and if no run has a result
 */
async function selectRun(
  database: Database,
  id: string,
): Promise<{ readonly run: RunDetail; readonly input: RepeatableInput }> {
  const found = await findId(database, id, ["run", "job"]);
  const runs = found === undefined ? [] : await selectRunDetails(database, found);
  const last = runs.at(-1);
  if (last === undefined) {
    throw new Failure(
      "NOT_FOUND",
      `There is no run or job ${JSON.stringify(id)}. nightdesk runs list shows the ids.`,
    );
  }
  const run = runs.findLast(({ state }) => state === "succeeded" || state === "refused");
  if (run === undefined) {
    throw new Failure(
      "INPUT_INVALID",
      `Run ${last.run_id} is ${last.state}: only a run that succeeded or was refused has a result to repeat. ` +
        `nightdesk runs show ${last.job_id} shows the others.`,
    );
  }
  const input = jobInputSchema.parse(run.input);
  if (isRepeatable(input)) return { run, input };
  throw new Failure(
    "INPUT_INVALID",
    `Run ${run.run_id} is of kind ${input.kind}: ${kindOf(input.kind).notRepeatable}. ` +
      `Only runs of ${REPEATABLE.join(", ").replace(/, (\w+)$/, " and $1")} are repeated.`,
  );
}

const REPEATABLE = KINDS.filter((kind) => kindOf(kind).notRepeatable === null);

const isRepeatable = (input: JobInput): input is RepeatableInput =>
  kindOf(input.kind).notRepeatable === null;

async function reportChanged(
  { terminal }: CommandContext,
  run: RunDetail,
  { what, sources }: Extract<RecordedSources, { kind: "changed" }>,
): Promise<number> {
  const names = sources.map(({ path, reason }) => `${path} (${reason})`).join(", ");
  const message =
    what === "files"
      ? `Run ${run.run_id} can't be repeated, for files are not what it read: ${names}. ` +
        "Put them back as they were, or queue the job again."
      : `Run ${run.run_id} can't be repeated, because the answers of its jobs have changed: ${names}. ` +
        `What they say now is told by: nightdesk digest ${quoteForShell(run.batch)}`;
  if (terminal.isJson) {
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
