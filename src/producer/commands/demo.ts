import { join, relative } from "node:path";
import { z } from "zod";
import { openContext, withDatabase } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { readAsReader } from "../../shared/store/reader-sql.ts";
import { Failure } from "../../shared/failure.ts";
import { modelAffinity } from "../../shared/job/kinds.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import { selectBatch } from "../../shared/enqueue/select-batch.ts";
import type { SelectedBatch } from "../../shared/enqueue/select-batch.ts";
import { enqueueLines } from "../../shared/enqueue/enqueue-lines.ts";
import { nativeLines } from "../../shared/enqueue/parse-line.ts";
import { openInput } from "../../shared/enqueue/read-lines.ts";
import { printRows } from "../print/rows.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { waitForBatch } from "../watch/wait-for-batch.ts";
import { indexOrEmbed } from "./index-and-embed.ts";

const BATCH = "demo";
const TIMEOUT_SECONDS = 30;

/** Indexes the example corpus, runs the example batch and shows the results. A second run reports what is unchanged. */
export const demo: CommandHandler = async (invocation) => {
  const context = await openContext(invocation);
  return withDatabase(context, "create", (database) => showExamples(context, database));
};

async function showExamples(context: CommandContext, database: Database): Promise<number> {
  const { terminal, config } = context;
  terminal.say(`1. Index ${config.index.sources.map(({ root }) => root).join(", ")}`);
  const indexed = await indexOrEmbed(context, database, { kind: "index" });
  if (indexed !== EXIT.ok && indexed !== EXIT.partial) return indexed;
  terminal.say("");
  terminal.say("2. Queue batch.jsonl");
  const batch = await queueExamples(context, database);
  terminal.say("");
  terminal.say("3. Work it");
  await waitForBatch(context, database, batch.batchId);
  await showResults(context, database);
  return EXIT.ok;
}

async function queueExamples(context: CommandContext, database: Database): Promise<SelectedBatch> {
  const { terminal, config } = context;
  const file = join(config.roots.configRoot, "batch.jsonl");
  const input = await openInput(file, process.stdin);
  const batch = await selectBatch(database, BATCH, input.name);
  const { outcome, added, skipped, problems } = await enqueueLines(database, batch, input.chunks, {
    badLines: "strict",
    onLines: () => undefined,
    parser: nativeLines((job) => modelAffinity(job, config.model)),
  }).finally(() => input.close());
  if (outcome !== "queued") {
    for (const line of problems.describe()) terminal.say(line);
    throw new Failure(
      "INPUT_INVALID",
      `${file} does not fit batch ${BATCH}, which was queued before. To begin anew, remove ${config.roots.databaseDirectory}`,
    );
  }
  terminal.say(
    added === 0
      ? `${countOf(skipped, "job")} unchanged, results kept.`
      : `${countOf(added, "job")} queued as batch ${BATCH}${skipped === 0 ? "" : `, ${skipped} unchanged`}.`,
  );
  return batch;
}

const COUNTS = `select kind, state, count(*) as jobs, round(avg(run_ms)) as mean_ms from results
  where batch = '${BATCH}' group by kind, state order by kind, state`;
const REFUSED = `select custom_id, kind, error_code, error_message from results
  where batch = '${BATCH}' and state = 'refused' order by error_code, custom_id`;

async function showResults(context: CommandContext, database: Database): Promise<void> {
  const { terminal } = context;
  const show = (title: string, statement: string) =>
    terminal
      .printText(`\n${title}\n`)
      .then(() => printRows(terminal, "table", readAsReader(database, statement, TIMEOUT_SECONDS)));
  await show("Results by kind and state", COUNTS);
  await terminal.printText("\nSome answers, with what they rest on");
  await printDemoAnswers(terminal, database, BATCH);
  await show("Refused, each with its reason", REFUSED);
  await terminal.printText(["\nTry next", ...commandsToTry(context)].join("\n"));
}

function commandsToTry({ invocation, config }: CommandContext): readonly string[] {
  const from = (file: string) => relative(invocation.cwd, file) || file;
  const bin = `node ${from(join(invocation.packageRoot, "bin", "nightdesk.js"))} --config ${from(config.file)}`;
  return [
    `  ${bin} ask "At which bearing temperature does the governor close the nozzle?" --wait`,
    `  ${bin} sql "select path, count(*) from evidence where admitted group by path order by 2 desc limit 5"`,
    `  ${bin} batch show ${BATCH}`,
  ];
}

const SHOWN_EVIDENCE = 3;

const rowSchema = z.tuple([z.string(), z.string(), z.string(), z.string()]);

/** Prints three questions and a summary of a batch, each with its answer and the first pieces of evidence. */
async function printDemoAnswers(
  terminal: Terminal,
  database: Database,
  batch: string,
): Promise<void> {
  const statement = `with answered as (
      select *, row_number() over (partition by kind order by evidence_count, custom_id) as place
        from results where batch = ${quote(batch)} and state = 'succeeded' and kind in ('ask', 'summarize'))
    select custom_id, coalesce(input->>'question', 'Summarize ' || (input->>'path')), answer,
           coalesce((select jsonb_agg(e.path || ' lines ' || e.line_start || '-' || e.line_end || ', sha256 '
                                      || left(e.sha256, 12) || '…' order by e.evidence_id)
                       from evidence e where e.job_id = a.job_id and e.admitted), '[]')
      from answered a
     where kind = 'ask' and place <= 3 or kind = 'summarize' and place = 1
     order by kind, place`;
  for await (const { rows } of readAsReader(database, statement, TIMEOUT_SECONDS)) {
    for (const row of rows) await terminal.printText(answerText(rowSchema.parse(row)));
  }
}

function answerText([customId, question, answer, evidence]: z.infer<typeof rowSchema>): string {
  const pieces = z.array(z.string()).parse(JSON.parse(evidence));
  const more = pieces.length - SHOWN_EVIDENCE;
  return [
    `\n${customId}: ${question}`,
    ...indent(answer.split("\n")),
    "  evidence:",
    ...indent(pieces.slice(0, SHOWN_EVIDENCE).map((piece) => `  ${piece}`)),
    ...(more > 0 ? [`    … and ${more} more`] : []),
  ].join("\n");
}

const indent = (lines: readonly string[]): readonly string[] => lines.map((line) => `  ${line}`);

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;
