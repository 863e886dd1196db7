// A worker as a command starts one, but for two things that no configuration can bring about: it has two tools more, and
// runs are stopped where the test says. Arguments: work root, how many jobs at once, file of lines. Stdin: stops as JSON.
import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { z } from "zod";
import { BOUNDARIES, passWith, stoppedAround } from "./boundaries.ts";
import type { Pass } from "./boundaries.ts";
import { COMMANDS, createRunJob, openContext, registryOf, startWorker, TOOLS } from "./built.js";
import type { Queryable } from "../../../src/shared/store/connection/database.ts";
import { presetsOf } from "../../../src/shared/config/tool-presets.ts";
import { lineTools } from "./line-tools.ts";

const [workroot = "", concurrency = "1", lines = ""] = process.argv.slice(2);
const stopsSchema = z.record(
  z.string(),
  z.object({
    boundary: z.enum(BOUNDARIES),
    passing: z.number(),
    modelPass: z.string().optional(),
  }),
);
const say = (line: string) => void process.stderr.write(`${line}\n`);

const command = COMMANDS.find(({ name }) => name === "worker");
if (command === undefined) throw new Error("there is no command worker");
const context = await openContext({
  command,
  args: [],
  options: { workroot, config: resolve(workroot, "nightdesk.yaml") },
  env: {},
  cwd: workroot,
  screen: process,
  packageRoot: resolve(import.meta.dirname, "..", "..", ".."),
  version: "0.0.0-test",
});
const { config } = context;
const { tools: readers = [] } = presetsOf({}).find(({ name }) => name === "readonly_context") ?? {};
const presets = { ...config.tools.presets, writer: [...readers, "append_line", "stamp"] };
const widened = {
  ...context,
  logger: context.logger,
  config: { ...config, tools: { ...config.tools, presets } },
};

/** A tool is not told who calls it: what a job appends begins with its name. */
const jobsByName = new Map<string, string>();
const passKnown = passWith(stopsSchema.parse(JSON.parse(await text(process.stdin))), (known) => {
  say(`stopped ${known}`);
});
/** What checks are known by, by their ids. */
const checkNames = new Map<string, string>();
const pass: Pass = (jobId, ...at) => passKnown(checkNames.get(jobId) ?? jobId, ...at);
const passFor = async (line: string, boundary: "before the effect" | "after the effect") => {
  const jobId = jobsByName.get(line.split(": ")[0] ?? "");
  if (jobId !== undefined) await pass(jobId, boundary);
};
const registry = registryOf([
  ...TOOLS.tools,
  ...lineTools(lines, {
    before: (line) => passFor(line, "before the effect"),
    after: (line) => passFor(line, "after the effect"),
  }),
]);

/** Ends of a run whose answer waits for checks, another model or a person. */
const WAITS: ReadonlySet<string> = new Set(["drafted", "escalated", "review"]);

/** Whether its answer was drafted before, by a run that waited for its checks. */
async function isDrafted(database: Queryable, jobId: string): Promise<boolean> {
  const drafted = "select from nightdesk_data.runs where job_id = $1 and state = 'drafted'";
  return (await database.query(drafted, [jobId])).rows.length > 0;
}

await startWorker(widened, Number(concurrency), (database) => {
  const run = createRunJob(widened, stoppedAround(database, pass), {}, { registry });
  return async (job, trace, signal) => {
    jobsByName.set(job.customId, job.jobId);
    if (job.input.kind === "check") checkNames.set(job.jobId, job.customId);
    await pass(job.jobId, "as it begins");
    if (await isDrafted(database, job.jobId))
      await pass(job.jobId, "as it goes on after its checks");
    try {
      const outcome = await run(job, trace, signal);
      await pass(job.jobId, WAITS.has(outcome.kind) ? "while it parks" : "at settlement");
      return outcome;
    } catch (error) {
      await pass(job.jobId, "while it parks");
      throw error;
    }
  };
});
say("worker ready");
