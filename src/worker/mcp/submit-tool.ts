import { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import { parseJobInput } from "../../shared/job.ts";
import { queueAdHoc } from "../../shared/store/jobs/queue-ad-hoc.ts";
import { investigationProblem } from "../../shared/tool-presets.ts";
import { cleanText } from "../text/clean-text.ts";
import { liesIn } from "../tools/granted-files.ts";
import { defineMcpTool } from "./tool.ts";
import type { McpDesk, McpTool } from "./tool.ts";

/** Queues an investigation under the preset of the configuration, which the client can't choose. */
export const SUBMIT_JOB: McpTool = defineMcpTool({
  name: "submit_job",
  description:
    "Queues an investigation of the documents. Its answer comes later, by get_run and get_claims with its job id.",
  args: z.strictObject({
    task: z.string().trim().min(1).max(8_000).describe("What is to be found out."),
    path_prefix: z
      .string()
      .min(1)
      .max(1_000)
      .optional()
      .describe("Only documents below this folder."),
  }),
  changes: "queues a job",
  disabled: ({ mcp }) =>
    mcp.submit_preset === null ? "submit_job is disabled: set mcp.submit_preset." : null,
  async run({ task, path_prefix: prefix }, desk) {
    const input = inputOf(task, placeOf(prefix, desk), desk);
    const queued = await queueAdHoc(await desk.database(), input);
    return { job_id: queued.jobId, batch_id: queued.batchId, batch: queued.batch, state: "queued" };
  },
});

/** @throws Failure INPUT_INVALID for a task that can't be done with this configuration */
function inputOf(task: string, path: string | undefined, { config }: McpDesk) {
  const preset = config.mcp.submit_preset ?? undefined;
  const problem = investigationProblem({ preset }, config);
  if (problem !== undefined) throw new Failure("INPUT_INVALID", problem.message);
  const parsed = parseJobInput({
    kind: "investigate",
    task: cleanText(task),
    preset,
    ...(path === undefined ? {} : { options: { path_prefix: cleanText(path) } }),
  });
  if (!parsed.ok) throw new Failure("INPUT_INVALID", parsed.reason);
  return parsed.input;
}

/** A job reads no more than its client may. @throws Failure INPUT_INVALID */
function placeOf(prefix: string | undefined, { config }: McpDesk): string | undefined {
  const { roots } = config.mcp;
  const [only] = roots;
  if (only === undefined) return prefix;
  const wanted = prefix ?? (roots.length === 1 ? only : undefined);
  if (wanted !== undefined && roots.some((root) => liesIn(wanted, root))) return wanted;
  throw new Failure("INPUT_INVALID", `Give a path_prefix below one of: ${roots.join(", ")}.`);
}
