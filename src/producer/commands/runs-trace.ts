import type { CommandContext } from "../../shared/commands/command-context.ts";
import { checkedCommand } from "../../shared/commands/command-context.ts";
import { relative, resolve, sep } from "node:path";
import { EXIT, printRefusal } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { selectTracedJob } from "../../shared/views/trace.ts";
import { exportTrace } from "../export-trace.ts";
import { argumentOf, textOf } from "./options.ts";
import { noSuchRun } from "./runs.ts";

/** Writes all records of a job, of its runs and of the jobs of its checks into a folder of the work root. */
export const runsTrace = checkedCommand(folderOf, async (context, database, folder) => {
  const { terminal, invocation, config } = context;
  const jobId = await findEndedJob(database, argumentOf(invocation));
  const reasoning = invocation.options["withReasoning"] === true ? "with" : "without";
  const place = { folder, cwd: invocation.cwd, roots: config.roots, reasoning } as const;
  const lines = await exportTrace(database, jobId, place);
  if (typeof lines !== "number") return printRefusal(lines, invocation);
  const path = relative(config.roots.workroot, folder).split(sep).join("/");
  if (terminal.isJson) await terminal.printJson({ ok: true, folder: path, job_id: jobId, lines });
  else await terminal.print(path);
  terminal.say(`Wrote ${countOf(lines, "line")} of trace.`);
  return EXIT.ok;
});

function folderOf({ invocation: { options, cwd } }: CommandContext): string {
  const output = textOf(options, "output");
  if (output !== undefined) return resolve(cwd, output);
  throw new Failure("USAGE_ERROR", "--output DIR is missing: a new folder in the work root.");
}

async function findEndedJob(database: Database, id: string): Promise<string> {
  const found = await findId(database, id, ["run", "job"]);
  const job = found === undefined ? undefined : await selectTracedJob(database, found);
  if (job === undefined) throw noSuchRun(id);
  if (job.ended) return job.jobId;
  throw new Failure(
    "INPUT_INVALID",
    `Job ${job.jobId} has not ended, and its record grows. Wait for it (nightdesk batch wait), or see nightdesk runs show ${job.jobId}.`,
  );
}
