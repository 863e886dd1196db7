import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT, printRefusal } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { documentFilterOf } from "../../shared/files/document-filter.ts";
import { Failure, refuse } from "../../shared/failure.ts";
import { jobInputSchema, parseJobInput } from "../../shared/job/job.ts";
import type { JobInput } from "../../shared/job/job.ts";
import { pathPrefixOf } from "../../shared/files/path-prefix.ts";
import { investigationProblem } from "../../shared/config/tool-presets.ts";
import { findUnstorableInput } from "../../shared/enqueue/parse-line.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { findFollowed } from "../../shared/store/jobs/followed.ts";
import { AT_ONCE, queueAdHoc } from "../../shared/store/jobs/queue-ad-hoc.ts";
import type { QueuedJob } from "../../shared/store/jobs/queue-ad-hoc.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { printDelay, printResult } from "../print/result.ts";
import { withWorkedDatabase } from "../watch/ensure-worker.ts";
import { indexFirst } from "../watch/index-first.ts";
import { hintHold, hintSearchKey, hintWorker } from "../watch/obstacles.ts";
import { waitForJobs } from "../watch/wait-for-jobs.ts";
import {
  batchSettingsOf,
  countOfOption,
  routeOf,
  given,
  sourceOf,
  textOf,
  verificationOf,
  waitsForAnswer,
} from "./options.ts";
import { textArgumentOf } from "./read-stdin.ts";

export const ask: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  const place = pathOption(context);
  if (place?.kind === "refused") return printRefusal(place, invocation);
  const former = textOf(options, "follows");
  return runSingleJob(context, {
    kind: "ask",
    question: await textArgumentOf(invocation, "The question"),
    options: given({
      follows: former === undefined ? undefined : await findFollowedJob(context, former),
      route: routeOf(options),
      full: options["full"] === true ? true : undefined,
      model: textOf(options, "model"),
      path_prefix: place?.prefix,
      ...verificationOf(options),
      source: sourceOf(options, context.config),
      ...documentFilterOf(options),
    }),
  });
};

/** The path prefix of `--path`; undefined without it. */
function pathOption({
  invocation,
  config,
}: CommandContext): ReturnType<typeof pathPrefixOf> | undefined {
  const path = textOf(invocation.options, "path");
  return path === undefined ? undefined : pathPrefixOf(path, invocation.cwd, config);
}

/** @throws Failure NOT_FOUND for an id of no question with a result, AMBIGUOUS_ID */
const findFollowedJob = (context: CommandContext, text: string): Promise<string> =>
  withDatabase(context, "must-exist", async (database) => {
    const id = await findId(database, text, ["job", "run"]);
    const followed = id === undefined ? undefined : await findFollowed(database, id);
    if (followed !== undefined) return followed.job;
    throw new Failure(
      "NOT_FOUND",
      `There is no question ${JSON.stringify(text)} that was answered or refused. --follows takes the id of its job or its run: nightdesk runs list shows runs.`,
    );
  });

/** Queues an investigation, or refuses it at once if this configuration can't run it. */
export const investigate: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  const place = pathOption(context);
  if (place?.kind === "refused") return printRefusal(place, invocation);
  const input = {
    preset: textOf(options, "preset"),
    required_tools: toolsIn(textOf(options, "requireTools")),
    tools: options["tools"] === "optional" ? ("optional" as const) : undefined,
  };
  const problem = investigationProblem(input, context.config);
  if (problem?.code === "MODEL_UNSUPPORTED") {
    return printRefusal(refuse(problem.code, problem.message), invocation);
  }
  if (problem !== undefined) throw new Failure("INPUT_INVALID", problem.message);
  await hintSearchKey(context, [input.preset]);
  const { since, until } = documentFilterOf(options);
  const steps = countOfOption(options, "maxSteps");
  return runSingleJob(context, {
    kind: "investigate",
    task: await textArgumentOf(invocation, "The question"),
    ...given(input),
    ...(steps === undefined ? {} : { limits: { steps } }),
    options: given({
      route: routeOf(options),
      model: textOf(options, "model"),
      path_prefix: place?.prefix,
      since,
      until,
      ...verificationOf(options),
    }),
  });
};

/** @throws Failure USAGE_ERROR */
function toolsIn(text: string | undefined): readonly string[] | undefined {
  const names = text?.split(",").flatMap((name) => (name.trim() === "" ? [] : [name.trim()]));
  if (names?.length !== 0) return names;
  throw new Failure(
    "USAGE_ERROR",
    "--require-tools names no tool; `nightdesk tools list` shows them.",
  );
}

export const chat: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  const { options } = invocation;
  return runSingleJob(context, {
    kind: "chat",
    prompt: await textArgumentOf(invocation, "The prompt"),
    ...given({ model: textOf(options, "model"), max_tokens: countOfOption(options, "maxTokens") }),
  });
};

/** Examines a model. No line of a batch may request this, because it concerns the installation. */
export const modelsExamine: CommandHandler = async (invocation) => {
  const own = countOfOption(invocation.options, "own");
  const value = { kind: "examine", ...given({ model: invocation.args[0], own }) };
  const parsed = jobInputSchema.safeParse(value);
  if (!parsed.success || findUnstorableInput(value) !== undefined) {
    throw new Failure(
      "INPUT_INVALID",
      "The name of the model is none, or --own is not a number from 2 to 200.",
    );
  }
  return runInput(await openContext(invocation), parsed.data);
};

/** Queues one job; with `--wait` prints its answer, otherwise its id. */
export async function runSingleJob(
  context: CommandContext,
  value: Readonly<Record<string, unknown>>,
): Promise<number> {
  return runInput(context, checkInput(value));
}

async function runInput(context: CommandContext, input: JobInput): Promise<number> {
  const { options } = context.invocation;
  const settings = batchSettingsOf(options);
  if (!waitsForAnswer(context.invocation, context.config))
    return withDatabase(context, "create", async (database) =>
      printQueued(context, database, await queueAdHoc(database, input, settings)),
    );
  return withWorkedDatabase(context, async (database) => {
    const isOfIndex = input.kind === "ask" || input.kind === "investigate";
    const unread = isOfIndex ? await indexFirst(context, database) : 0;
    const queued = await queueAdHoc(database, input, { ...AT_ONCE, ...settings });
    const waited = await waitForJobs(context, database, queued);
    if (waited.kind === "delayed") return printDelay(context, waited.job, queued.batch);
    const code = await printResult(context, database, queued.jobId);
    if (code === EXIT.refused && unread > 0) context.terminal.say(askAgain(unread));
    return code;
  });
}

const askAgain = (unread: number): string =>
  `${countOf(unread, "file")} ${unread === 1 ? "was" : "were"} not read yet when it was answered: ask it again.`;

/** @throws Failure INPUT_INVALID with a message for that kind of job */
export function checkInput(value: Readonly<Record<string, unknown>>): JobInput {
  const unstorable = findUnstorableInput(value);
  if (unstorable !== undefined) throw new Failure("INPUT_INVALID", `The text ${unstorable}.`);
  const parsed = parseJobInput(value);
  if (!parsed.ok) throw new Failure("INPUT_INVALID", `The input is not valid: ${parsed.reason}.`);
  return parsed.input;
}

export async function printQueued(
  context: CommandContext,
  database: Database,
  queued: QueuedJob,
): Promise<number> {
  const { terminal, invocation } = context;
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ok: true,
      job_id: queued.jobId,
      batch_id: queued.batchId,
      batch: queued.batch,
      state: "queued",
    });
  } else {
    await terminal.print(queued.jobId);
    terminal.say(`Queued as batch ${JSON.stringify(queued.batch)}.`);
  }
  await hintHold(context, database, queued.batchId);
  await hintWorker(context, database);
  return EXIT.ok;
}
