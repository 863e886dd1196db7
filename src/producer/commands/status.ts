import {
  loadConfigFor,
  openContext,
  openTerminalOf,
  withDatabase,
} from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Config } from "../../shared/config/schema.ts";
import { isPlainWorkspace } from "../../shared/config/make-folder-config.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { countIndex } from "../../shared/store/index/totals.ts";
import { formatCounts, formatState } from "../../shared/views/batch-words.ts";
import { listBatches } from "../../shared/views/batches.ts";
import { selectWorkState } from "../../shared/views/desk.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { selectQueueStats } from "../../shared/views/queue-stats.ts";
import { decidingCommand } from "../watch/obstacles.ts";
import { textOf } from "./options.ts";
import { quoteForShell } from "../../shared/terminal/styled-text.ts";

/** The state, and the next commands: at most twelve lines. */
type Status = { readonly lines: readonly string[]; readonly next: readonly string[] };

/** The output of `nightdesk` without a command: configuration, documents, jobs, the last batch and the next three commands. */
export const status: CommandHandler = async (invocation) => {
  const { lines, next } = await findStatus(invocation);
  const folder = textOf(invocation.options, "in");
  const place = folder === undefined ? "" : ` --in ${JSON.stringify(folder)}`;
  const found = { lines, next: next.map((command) => command + place) };
  const terminal = openTerminalOf(invocation);
  if (invocation.options["json"] === true) await terminal.printJson(found);
  else {
    for (const line of found.lines) await terminal.print(line);
    await terminal.print("Next:");
    for (const command of found.next) await terminal.print(`  ${command}`);
    await terminal.print("All commands: nightdesk --help");
  }
  return EXIT.ok;
};

async function findStatus(invocation: Invocation): Promise<Status> {
  const { chosen, roots } = await loadConfigFor(invocation);
  if (chosen === "shipped" && !isPlainWorkspace(roots.workroot)) return FIRST_MINUTE;
  const context = await openContext(invocation);
  try {
    return await withDatabase(context, "must-exist", (database) => statusOf(context, database));
  } catch (error) {
    if (!(error instanceof Failure && error.code === "NOT_FOUND")) throw error;
    return {
      lines: [placeOf(context), "Nothing is indexed yet."],
      next: ["nightdesk index", ...ASK],
    };
  }
}

const FIRST_MINUTE: Status = {
  lines: [
    "Nightdesk answers from the documents of a folder, and names the lines that each answer rests on.",
    "There is no configuration here. It is made for the folder that you name:",
  ],
  next: [
    'nightdesk ask "When does the lease end?" --in ~/papers',
    "nightdesk summarize lease.pdf --in ~/papers",
    "nightdesk dashboard --in ~/papers",
  ],
};

const ASK = ['nightdesk ask "When does the lease end?"', "nightdesk dashboard"];

const placeOf = ({ config }: CommandContext): string =>
  `${config.roots.workroot}, by ${config.file}; ${modelOf(config)}`;

const modelOf = ({ model }: Config): string =>
  model.provider === "extractive"
    ? "answers are sentences of the documents (model.provider: extractive)"
    : `answers by ${[model.provider, model.name].join(" ").trim()}`;

const decisionsText = (decisions: number, values: number): string =>
  `${countOf(decisions, "decision")} for you${values === 0 ? "" : `, ${countOf(values, "value")} of paperless-ngx among them`}`;

async function statusOf(context: CommandContext, database: Database): Promise<Status> {
  const names = context.config.index.sources.map(({ name }) => name);
  const { documents, chunks, failures } = await countIndex(database, names);
  const { queued, running, parked, workers } = await selectQueueStats(database);
  const { waiting: decisions, values } = await selectWorkState(database);
  const [last] = await listBatches(database, ["file", "schedule"], 1);
  return {
    lines: [
      placeOf(context),
      documents === 0
        ? "The index is empty."
        : `${countOf(documents, "document")} indexed, in ${countOf(chunks, "passage")}`,
      ...(failures > 0
        ? [`${countOf(failures, "file")} could not be read; why: nightdesk index`]
        : []),
      `${countOf(queued + parked, "job")} ${queued + parked === 1 ? "waits" : "wait"}, ${running} run; ${countOf(workers, "worker")} awake`,
      ...(decisions > 0 ? [decisionsText(decisions, values)] : []),
      last === undefined
        ? "No batch has run yet."
        : `Last batch: ${JSON.stringify(last.name)}, ${formatState(last)}: ${formatCounts(last)}`,
    ],
    next: [
      ...(decisions > 0 ? [await decidingCommand(database, null)] : []),
      ...(documents === 0 ? ["nightdesk index"] : []),
      ...(last === undefined ? [] : [`nightdesk batch show ${quoteForShell(last.name)}`]),
      ...ASK,
      "nightdesk summarize --help",
    ].slice(0, 3),
  };
}
