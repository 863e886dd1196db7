import { z } from "zod";
import { Failure } from "../../shared/failure.ts";
import { searchKeyHint } from "../../shared/config/search-key.ts";
import { parseJobInput } from "../../shared/job/job.ts";
import { SUBMIT_KINDS } from "../../shared/config/mcp-tools.ts";
import { queueForClient } from "../../shared/store/jobs/queue-ad-hoc.ts";
import { investigationProblem } from "../../shared/config/tool-presets.ts";
import { cleanRecord, cleanText } from "../text/clean-text.ts";
import { liesIn } from "../tools/granted-files.ts";
import { grantedPrefixes, grantedRoots, prefixWithin } from "./grant.ts";
import { defineMcpTool, resultShape } from "./tool.ts";
import type { McpContext, McpTool } from "./tool.ts";

const KINDS = ["investigate", ...SUBMIT_KINDS] as const;

const argsSchema = z.strictObject({
  kind: z.enum(KINDS).optional().describe("investigate without it."),
  task: z
    .string()
    .trim()
    .min(1)
    .max(8_000)
    .optional()
    .describe("Of investigate and ask: what is to be found out."),
  path_prefix: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe("Of investigate and ask: only documents below this folder."),
  path: z
    .string()
    .min(1)
    .max(1_000)
    .optional()
    .describe("Of summarize and extract: the file, relative to the work root."),
  extract: z
    .enum(["actions", "people"])
    .optional()
    .describe("Of extract: the preset of its fields."),
});
type Submitted = z.infer<typeof argsSchema>;

/** Queues a job of a kind that the configuration allows to clients; the configuration sets the preset of investigations. */
export const SUBMIT_JOB: McpTool = defineMcpTool({
  name: "submit_job",
  description:
    "Queues an investigation of the documents, a question, a summary or an extraction. Its answer comes later, by get_run and get_claims with its job id.",
  args: argsSchema,
  result: resultShape({
    job_id: z.string(),
    batch_id: z.string(),
    batch: z.string(),
    state: z.literal("queued"),
    /** What may prevent the job, such as a missing key. */
    hint: z.string().nullable(),
  }),
  changes: "queues a job",
  disabled: ({ mcp }) =>
    mcp.submit_preset === null && mcp.submit_kinds.length === 0
      ? "submit_job is disabled: set mcp.submit_preset or mcp.submit_kinds."
      : null,
  async run(args, context) {
    const most = context.config.mcp.max_open_jobs;
    const input = inputOf(args, context);
    const queued = await queueForClient(await context.database(), input, most);
    if (queued === "too_many") throw tooMany(most);
    const presets = input.kind === "investigate" ? [input.preset] : [];
    return {
      job_id: queued.jobId,
      batch_id: queued.batchId,
      batch: queued.batch,
      state: "queued",
      hint: await searchKeyHint(context.config, context.env, presets),
    };
  },
});

const tooMany = (most: number): Failure =>
  new Failure(
    "INPUT_INVALID",
    `${most} jobs of clients have not ended (mcp.max_open_jobs). Wait for one: queue_stats shows them.`,
  );

/** @throws Failure INPUT_INVALID for a job that this configuration can't run, or that clients may not queue */
function inputOf(args: Submitted, context: McpContext) {
  const { kind = "investigate" } = args;
  assertMayQueue(kind, context);
  const parsed = parseJobInput(
    cleanRecord(
      kind === "investigate" || kind === "ask"
        ? taskInput(args, context)
        : fileInput(args, context),
    ),
  );
  if (!parsed.ok) throw new Failure("INPUT_INVALID", parsed.reason);
  return parsed.input;
}

function assertMayQueue(kind: (typeof KINDS)[number], { config }: McpContext): void {
  const { submit_preset: preset, submit_kinds: kinds } = config.mcp;
  const allowed = KINDS.filter((one) =>
    one === "investigate" ? preset !== null : kinds.includes(one),
  );
  if (!allowed.includes(kind)) {
    throw new Failure(
      "INPUT_INVALID",
      `Clients may queue ${allowed.join(", ")} here, and not ${kind}: mcp.submit_preset and mcp.submit_kinds say so.`,
    );
  }
  const problem =
    kind === "investigate"
      ? investigationProblem({ preset: preset ?? undefined }, config)
      : undefined;
  if (problem !== undefined) throw new Failure("INPUT_INVALID", problem.message);
}

function taskInput(
  { kind = "investigate", task, path_prefix: prefix, ...of }: Submitted,
  context: McpContext,
) {
  if (task === undefined) throw missing(kind, "task");
  if (of.path !== undefined || of.extract !== undefined) throw unwanted(kind, "path and extract");
  return {
    kind,
    ...(kind === "ask"
      ? { question: task }
      : { task, preset: context.config.mcp.submit_preset ?? undefined }),
    ...boundTo(prefixOf(prefix, context)),
  };
}

function fileInput(
  { kind = "summarize", path, extract, ...of }: Submitted,
  { config }: McpContext,
) {
  if (path === undefined) throw missing(kind, "path");
  if (of.task !== undefined || of.path_prefix !== undefined)
    throw unwanted(kind, "task and path_prefix");
  const roots = grantedRoots(config);
  const at = roots.findIndex((root) => liesIn(path, root));
  // The sandbox would refuse a path that leaves the folder by ".."; here the client learns it at once.
  if ((roots.length > 0 && at === -1) || path.split("/").includes("..")) {
    throw new Failure("INPUT_INVALID", `Give a path below one of: ${roots.join(", ")}.`);
  }
  if (kind === "summarize" && extract !== undefined) throw unwanted(kind, "extract");
  if (kind === "extract" && extract === undefined) throw missing(kind, "extract");
  return {
    kind,
    path,
    ...boundTo(grantedPrefixes(config)[at]),
    ...(extract === undefined ? {} : { preset: extract }),
  };
}

const missing = (kind: string, argument: string): Failure =>
  new Failure("INPUT_INVALID", `A job of kind ${kind} needs ${argument}.`);

const unwanted = (kind: string, what: string): Failure =>
  new Failure("INPUT_INVALID", `A job of kind ${kind} takes no ${what}.`);

/** Restricts a job to the documents of its client: the sandbox enforces the prefix, whatever links and names point to. */
const boundTo = (prefix = "") =>
  prefix === "" ? {} : { options: { path_prefix: cleanText(prefix) } };

/** @throws Failure INPUT_INVALID */
function prefixOf(wanted: string | undefined, { config }: McpContext): string | undefined {
  if (wanted !== undefined) return prefixWithin(wanted, config);
  const [only, ...others] = grantedPrefixes(config);
  if (others.length === 0) return only;
  const roots = grantedRoots(config);
  throw new Failure("INPUT_INVALID", `Give a path_prefix below one of: ${roots.join(", ")}.`);
}
