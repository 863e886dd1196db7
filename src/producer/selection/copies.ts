import type { CommandContext } from "../../shared/commands/command-context.ts";
import { groupDuplicates, LEAST_SIMILARITY } from "../../shared/files/near-duplicates.ts";
import type { Sketched } from "../../shared/files/near-duplicates.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { selectComparedJobs } from "../../shared/store/jobs/duplicates.ts";
import type { ComparedJob, DuplicateJob } from "../../shared/store/jobs/duplicates.ts";
import { selectSketchesAt } from "../../shared/views/index-documents.ts";
import { countOf } from "../../shared/views/quantity.ts";
import type { EnqueueOptions } from "../../shared/enqueue/enqueue-lines.ts";
import type { SelectedBatch } from "../../shared/enqueue/select-batch.ts";
import { hasFacts } from "./paths.ts";
import { groupBy } from "../../shared/group-by.ts";

/** A file, and the file of which it is a copy. */
export type CopiedFile = {
  readonly path: string;
  readonly of: string;
  readonly kind: "exact" | "near";
  /** The share of common groups of five words, 0 to 1. */
  readonly similarity: number;
};

type ComparedFile = {
  readonly path: string;
  /** Its job is queued or has its result, so a similar file is a copy of this one. */
  readonly isFirst?: boolean;
};

export type FoundCopies = {
  readonly copies: readonly CopiedFile[];
  /** Number of files whose current content the index does not know, so that they were not compared. */
  readonly uncompared: number;
};

const PAGE_FILES = 100;

/**
 * Finds files that are copies of others, by the index. It opens no file: as with `--changed`, it compares only files whose
 * size and times are the indexed ones.
 */
export async function findCopies(
  database: Database,
  workroot: string,
  files: readonly ComparedFile[],
): Promise<FoundCopies> {
  const compared: Sketched[] = [];
  for (let from = 0; from < files.length; from += PAGE_FILES) {
    const page = files.slice(from, from + PAGE_FILES);
    const firsts = new Map(page.map(({ path, isFirst = false }) => [path, isFirst]));
    for (const { path, sketch, known } of await selectSketchesAt(database, [...firsts.keys()])) {
      if (!known.settled || !(await hasFacts(workroot, known))) continue;
      const isFirst = firsts.get(path) ?? false;
      compared.push({ path, sha256: known.sha256, sketch, isFirst });
    }
  }
  const copies = groupDuplicates(compared, LEAST_SIMILARITY).flatMap(
    ({ path: of, copies: found }) => found.map((copy) => ({ ...copy, of })),
  );
  return { copies, uncompared: files.length - compared.length };
}

/** With `--dedupe`, the function by which a load finds its duplicates; empty without the option. */
export const duplicateFinder = (
  context: CommandContext,
  database: Database,
  { batchId }: Pick<SelectedBatch, "batchId">,
): Pick<EnqueueOptions, "findDuplicates"> =>
  context.invocation.options["dedupe"] === true
    ? { findDuplicates: () => findDuplicateJobs(context, database, batchId) }
    : {};

/** Reports the copies of a load. */
export function sayDuplicates(terminal: CommandContext["terminal"], jobs: number): void {
  if (jobs === 0) return;
  terminal.say(
    `${countOf(jobs, "job")} of them ${jobs === 1 ? "is" : "are"} not worked: the rows point to those of the files that theirs are copies of.`,
  );
}

/**
 * The jobs of a load whose files are copies of other files of the batch with the same task. Only the first file by path
 * runs, or one that the batch had before. It also reports how many files could not be compared.
 */
async function findDuplicateJobs(
  { terminal, config }: CommandContext,
  database: Database,
  batchId: string,
): Promise<readonly DuplicateJob[]> {
  const tasks = groupBy(await selectComparedJobs(database, batchId), ({ task }) => task);
  const duplicates: DuplicateJob[] = [];
  let uncompared = 0;
  for (const jobs of tasks.values()) {
    const found = await duplicatesOf(database, config.roots.workroot, jobs);
    for (const each of found.duplicates) duplicates.push(each);
    uncompared += found.uncompared;
  }
  sayUncompared(terminal, uncompared);
  return duplicates;
}

export function sayUncompared(terminal: CommandContext["terminal"], files: number): void {
  if (files === 0) return;
  terminal.say(
    `Not compared with others, because the index does not know what they say now: ${countOf(files, "file")}. ` +
      "To have them compared: nightdesk index",
  );
}

/** @param jobs the jobs of one task, in the order of their insertion */
async function duplicatesOf(
  database: Database,
  workroot: string,
  jobs: readonly ComparedJob[],
): Promise<{ readonly duplicates: readonly DuplicateJob[]; readonly uncompared: number }> {
  const workedAt = new Map<string, ComparedJob>();
  for (const job of jobs) {
    const known = workedAt.get(job.path);
    if (known === undefined || (known.isNew && !job.isNew)) workedAt.set(job.path, job);
  }
  const files = [...workedAt.values()].map(({ path, isNew }) => ({ path, isFirst: !isNew }));
  const { copies, uncompared } = await findCopies(database, workroot, files);
  const copyAt = new Map(copies.map((copy) => [copy.path, copy]));
  const duplicates = jobs.flatMap((job): readonly DuplicateJob[] => {
    const copy = copyAt.get(job.path);
    const worked = workedAt.get(copy?.of ?? job.path);
    if (!job.isNew || worked === undefined || worked === job) return [];
    return [{ jobId: job.jobId, duplicateOf: worked.jobId, message: messageOf(copy, worked) }];
  });
  return { duplicates, uncompared };
}

function messageOf(copy: CopiedFile | undefined, { customId, path }: ComparedJob): string {
  const how =
    copy === undefined
      ? "The same file"
      : copy.kind === "exact"
        ? "The same bytes"
        : `${Math.round(100 * copy.similarity)} % alike`;
  return `${how} as ${path}, which is worked in its place: job ${customId}.`;
}
