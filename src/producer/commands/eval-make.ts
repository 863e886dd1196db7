import { mkdir } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import { Failure } from "../../shared/failure.ts";
import { hashJson } from "../../shared/schema/json-value.ts";
import { modelAffinity } from "../../shared/job/kinds.ts";
import { hasWeights } from "../../shared/config/providers.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findOrCreateBatch, openBatch } from "../../shared/store/jobs/batches.ts";
import { insertJobs } from "../../shared/store/jobs/insert-jobs.ts";
import { AT_ONCE } from "../../shared/store/jobs/queue-ad-hoc.ts";
import { selectSamplePassages } from "../../shared/views/passages-to-ask.ts";
import type { SamplePassage } from "../../shared/views/passages-to-ask.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { readResults } from "../../shared/views/results.ts";
import {
  askForQuestion,
  questionOf,
  questionOfReply,
  spreadPassages,
} from "../evaluate/make-questions.ts";
import type { MadeQuestion } from "../evaluate/make-questions.ts";
import { openOutputFile } from "../export/export-targets.ts";
import { unindexedFolder } from "../unindexed-folder.ts";
import { waitForBatch } from "../watch/wait-for-batch.ts";
import { checkInput } from "./ask.ts";
import { countOfOption } from "./options.ts";

const MOST = 200;
/** Passages that are read per question, because many passages of tables and lists yield none. */
const LOOKED_AT = 30;

/** Draws questions from the index into a file for `eval`, which a person then corrects. */
export async function makeEvaluation(context: CommandContext): Promise<number> {
  const { invocation, terminal, config } = context;
  const { options, args, cwd } = invocation;
  const count = countOfOption(options, "make") ?? 0;
  const others = ["models", "against", "minRight", "again"].filter((name) => name in options);
  if (others.length > 0)
    throw new Failure("USAGE_ERROR", "--make asks nothing: leave the options of asking out.");
  if (count > MOST) throw new Failure("USAGE_ERROR", `--make takes ${MOST} questions at most.`);
  const [name = relative(cwd, join(unindexedFolder(config, cwd, "questions"), "eval.jsonl"))] =
    args;
  const file = name === "-" ? null : resolve(cwd, name);
  if (file !== null && args.length === 0)
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const existing = options["force"] === true ? "replace" : "keep";
  const target = file === null ? null : await openOutputFile(file, existing, "FILE");
  try {
    const made = await withDatabase(context, "must-exist", (database) =>
      drawQuestions(context, database, count),
    );
    if (made.length === 0) {
      throw new Failure(
        "NOT_FOUND",
        `The index of ${config.file} holds no sentence with a figure and no heading to ask of. Fill it with: nightdesk index`,
      );
    }
    const lines = made.map((question, at) => JSON.stringify({ id: `made-${at + 1}`, ...question }));
    for (const line of lines) await (target?.write(`${line}\n`) ?? terminal.printJsonText(line));
    await target?.commit();
    if (file !== null && terminal.isJson)
      await terminal.printJson({ ok: true, file, questions: made.length });
    sayNext(context, made.length, name);
    return EXIT.ok;
  } catch (error) {
    await target?.discard();
    throw error;
  }
}

function sayNext({ terminal, config }: CommandContext, count: number, name: string): void {
  const where = name === "-" ? "" : ` in ${name}`;
  terminal.say(`${countOf(count, "question")}${where}, each with the passage that it is made of.`);
  terminal.say(
    "Correct them in an editor: word each as you would ask it, and add half as many that your documents do not answer, with " +
      '"unanswerable": true in place of "expected" and "files".',
  );
  const models = hasWeights(config.model.provider) ? " --models MODEL,OTHER-MODEL" : "";
  if (name !== "-") terminal.say(`Then: nightdesk eval ${name}${models}`);
}

async function drawQuestions(
  context: CommandContext,
  database: Database,
  count: number,
): Promise<readonly MadeQuestion[]> {
  const passages = await selectSamplePassages(database, count * LOOKED_AT);
  const hasFigure = (passage: SamplePassage) => questionOf(passage)?.expected !== undefined;
  const withFigures = spreadPassages(passages, hasFigure, count);
  const others = spreadPassages(
    passages,
    (passage) => !hasFigure(passage) && questionOf(passage) !== null,
    count - withFigures.length,
  );
  const drawn = [...withFigures, ...others];
  const replies = hasWeights(context.config.model.provider)
    ? await askModel(context, database, drawn)
    : new Map<string, string>();
  return drawn.flatMap((passage, at) => {
    const reply = replies.get(String(at));
    const made = reply === undefined ? null : questionOfReply(reply, passage);
    return made ?? questionOf(passage) ?? [];
  });
}

/** Replies of the configured model, by the index of their passage. If a job fails, the rules make the question. */
async function askModel(
  context: CommandContext,
  database: Database,
  passages: readonly SamplePassage[],
): Promise<ReadonlyMap<string, string>> {
  const jobs = passages.map((passage, at) => {
    const input = checkInput(askForQuestion(passage));
    const affinity = modelAffinity(input, context.config.model);
    return { customId: String(at), input, inputSha256: hashJson(input), priority: 0, affinity };
  });
  const name = `eval questions ${new Date().toISOString()}`;
  const batchId = await database.transaction(async (db) => {
    const batch = await findOrCreateBatch(db, name, "ad_hoc", AT_ONCE);
    await insertJobs(db, batch.batchId, jobs);
    await openBatch(db, batch.batchId);
    return batch.batchId;
  });
  await waitForBatch(context, database, batchId);
  const replies = new Map<string, string>();
  for await (const { custom_id: id, answer } of readResults(database, batchId))
    if (answer !== null) replies.set(id, answer);
  return replies;
}
