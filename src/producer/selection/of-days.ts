import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { withDatabase } from "../../shared/commands/command-context.ts";
import { findWrittenDate, periodOf } from "../../shared/text/date-period.ts";
import type { Period } from "../../shared/text/date-period.ts";
import { attachmentPlaces } from "../../shared/files/attachment-path.ts";
import { daysOf } from "../../shared/files/document-filter.ts";
import type { DocumentFilter } from "../../shared/files/document-filter.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectDays } from "../../shared/store/index/document-versions.ts";
import type { NewJob } from "../../shared/store/jobs/insert-jobs.ts";
import { pathOf } from "../../shared/job/job.ts";
import type { JobInput } from "../../shared/job/job.ts";
import { hashJson } from "../../shared/schema/json-value.ts";
import { given } from "../commands/options.ts";
import type { EnqueueOptions } from "../../shared/enqueue/enqueue-lines.ts";
import { countOf, formatCount } from "../../shared/views/quantity.ts";

const PAGE_FILES = 1_000;

/**
 * With --since or --until, the inputs whose documents have a date in the range; without them, all inputs. The date comes from
 * the index, else from the file name, else from the last change. It also reports how many documents have no date of their own.
 */
export async function onlyOfDays<Input extends { readonly path: string }>(
  context: CommandContext,
  inputs: readonly Input[],
): Promise<readonly Input[]> {
  const { terminal, invocation, config } = context;
  const { since, until } = daysOf(invocation.options);
  if (since === undefined && until === undefined) return inputs;
  const { taken, unindexed, undated } = await withDatabase(context, "create", (database) =>
    takeOfDays(database, config.roots.workroot, { inputs, since, until }),
  );
  terminal.say(`${formatCount(taken.length)} of ${countOf(inputs.length, "file")} of these days.`);
  if (undated > 0) {
    terminal.say(
      `Dated by their last change, because they say no date: ${countOf(undated, "file")}.`,
    );
  }
  if (unindexed > 0) {
    terminal.say(
      `Dated by name or last change, because the index does not know what they say: ${countOf(unindexed, "file")}. ` +
        "To have them dated by what they say: nightdesk index",
    );
  }
  return taken;
}

/**
 * With --since or --until, the selection of lines for a load. Questions and investigations get the range, unless a line has
 * its own; lines on files stay if their documents are in the range; any other line stays.
 */
export function daysOfLines(
  { invocation, config }: CommandContext,
  database: Database,
): Pick<EnqueueOptions, "select"> {
  const { since, until } = daysOf(invocation.options);
  if (since === undefined && until === undefined) return {};
  const days = given({ since, until });
  return {
    select: async (jobs) => {
      const files = jobs.flatMap((line) => {
        const { input } = line.job;
        const path = pathOf(input);
        return path === undefined ? [] : [{ line, path }];
      });
      const selection = { inputs: files, since, until };
      const { taken } = await takeOfDays(database, config.roots.workroot, selection);
      const lines = new Set(taken.map(({ line }) => line));
      return jobs
        .filter((line) => pathOf(line.job.input) === undefined || lines.has(line))
        .map((line) => ({ ...line, job: withDays(line.job, days) }));
    },
  };
}

/**
 * With --since or --until, a filter for jobs of a batch: it keeps only jobs on files whose documents are in the range; null
 * without either option.
 */
export function jobsOfDays(
  { invocation, config }: CommandContext,
  database: Database,
):
  | (<Job extends { readonly input: JobInput }>(jobs: readonly Job[]) => Promise<readonly Job[]>)
  | null {
  const { since, until } = daysOf(invocation.options);
  if (since === undefined && until === undefined) return null;
  return async (jobs) => {
    const inputs = jobs.flatMap((job) => {
      const path = pathOf(job.input);
      return path === undefined ? [] : [{ job, path }];
    });
    const { taken } = await takeOfDays(database, config.roots.workroot, { inputs, since, until });
    return taken.map(({ job }) => job);
  };
}

function withDays(job: NewJob, days: { readonly since?: string; readonly until?: string }): NewJob {
  const { input } = job;
  if (input.kind !== "ask" && input.kind !== "investigate") return job;
  const dated = { ...input, options: { ...days, ...input.options } };
  return { ...job, input: dated, inputSha256: hashJson(dated) };
}

type Selection<Input> = Pick<DocumentFilter, "since" | "until"> & {
  readonly inputs: readonly Input[];
};

async function takeOfDays<Input extends { readonly path: string }>(
  database: Database,
  workroot: string,
  { inputs, since = "0000-01-01", until = "9999-12-31" }: Selection<Input>,
): Promise<{
  readonly taken: readonly Input[];
  readonly unindexed: number;
  /** Indexed documents without a date of their own. */
  readonly undated: number;
}> {
  const taken: Input[] = [];
  let [unindexed, undated] = [0, 0];
  for (let from = 0; from < inputs.length; from += PAGE_FILES) {
    const page = inputs.slice(from, from + PAGE_FILES);
    const known = await selectDays(
      database,
      page.map(({ path }) => path),
    );
    for (const input of page) {
      const indexed = known.get(input.path);
      if (indexed === undefined) unindexed += 1;
      else if (indexed.daySource === "file_time") undated += 1;
      const period =
        indexed === undefined
          ? await guessPeriod(workroot, input.path)
          : { from: indexed.day, to: indexed.dayUntil };
      // A missing file stays: its job is refused, with the reason.
      if (period === null || (period.to >= since && period.from <= until)) taken.push(input);
    }
  }
  return { taken, unindexed, undated };
}

async function guessPeriod(workroot: string, path: string): Promise<Period | null> {
  const named = findWrittenDate(basename(path));
  if (named !== null) return periodOf(named.date);
  for (const file of [path, ...attachmentPlaces(path).map((place) => place.file)]) {
    const changed = await stat(join(workroot, file)).catch(() => null);
    const day = changed?.mtime.toISOString().slice(0, 10);
    if (day !== undefined) return { from: day, to: day };
  }
  return null;
}
