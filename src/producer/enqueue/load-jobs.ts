import type { Database, Queryable } from "../../shared/db/database.ts";
import { insertJobs, selectInputHashes } from "../../shared/db/jobs/insert-jobs.ts";
import type { NewJob } from "../../shared/db/jobs/insert-jobs.ts";
import { holdBackJobs } from "../../shared/db/jobs/load-batch.ts";
import type { JobInput } from "../../shared/job.ts";
import type { LineParser } from "./line-parser.ts";
import type { LineProblems } from "./line-problems.ts";
import { readLines } from "./read-lines.ts";
import { SeenIds } from "./seen-ids.ts";

export type LoadTarget = {
  readonly batchId: string;
  /** `loading`: nothing of the batch is dispatched. `added`: it is open, so that new jobs are held back one by one. */
  readonly mode: "loading" | "added";
};

export type LoadOptions = {
  readonly problems: LineProblems;
  /** Told the number of the last line parsed, from time to time. */
  readonly onLines: (last: number) => void;
  readonly parser: LineParser;
  /** Bytes of the file that a job is about; unknown without it. */
  readonly sizeOf?: (input: JobInput) => number;
};

export type LoadCounts = { added: number; skipped: number };
type NumberedJob = { readonly number: number; readonly job: NewJob };
type Portion = { jobs: NumberedJob[]; chars: number };

const PORTION_JOBS = 2_000;
const PORTION_CHARS = 4_000_000;

/**
 * Reads JSONL and commits its jobs in portions of 2,000. A custom_id that the batch holds with the same input is
 * skipped. While one portion is written the next is parsed; nothing else is kept of the lines but their ids' hashes.
 */
export async function loadJobs(
  database: Database,
  target: LoadTarget,
  chunks: AsyncIterable<Uint8Array>,
  options: LoadOptions,
): Promise<LoadCounts> {
  const counts: LoadCounts = { added: 0, skipped: 0 };
  const writing = new OneAtATime();
  const write = (jobs: readonly NumberedJob[]) =>
    writing.run(async () => {
      const { added, conflicts } = await database.transaction((db) =>
        writePortion(db, target, jobs),
      );
      counts.added += added;
      counts.skipped += jobs.length - added - conflicts.length;
      for (const { number, job } of conflicts) {
        options.problems.add(
          number,
          `custom_id ${quote(job.customId)} is in the batch already, with another input`,
        );
      }
    });
  try {
    for await (const { jobs, last } of readPortions(chunks, options)) {
      await write(jobs);
      options.onLines(last);
    }
  } finally {
    await writing.done();
  }
  return counts;
}

async function* readPortions(
  chunks: AsyncIterable<Uint8Array>,
  { problems, parser, sizeOf = () => 0 }: LoadOptions,
): AsyncGenerator<{ readonly jobs: readonly NumberedJob[]; readonly last: number }> {
  const seen = new SeenIds();
  let portion: Portion = { jobs: [], chars: 0 };
  let last = 0;
  for await (const lines of readLines(chunks)) {
    for (const line of lines) {
      last = line.number;
      const parsed = parser.parse(line);
      const seenAt = parsed.ok ? seen.add(parsed.job.customId, line.number) : undefined;
      if (!parsed.ok) problems.add(line.number, parsed.reason);
      else if (seenAt !== undefined) {
        problems.add(
          line.number,
          `custom_id ${quote(parsed.job.customId)} is that of line ${seenAt} already`,
        );
      } else {
        const job = { ...parsed.job, size: sizeOf(parsed.job.input) };
        portion.jobs.push({ number: parsed.number, job });
        portion.chars += "text" in line ? line.text.length : 0;
      }
      if (portion.jobs.length < PORTION_JOBS && portion.chars < PORTION_CHARS) continue;
      yield { jobs: portion.jobs, last };
      portion = { jobs: [], chars: 0 };
    }
  }
  if (portion.jobs.length > 0) yield { jobs: portion.jobs, last };
}

async function writePortion(
  db: Queryable,
  { batchId, mode }: LoadTarget,
  jobs: readonly NumberedJob[],
): Promise<{ readonly added: number; readonly conflicts: readonly NumberedJob[] }> {
  const inserted = await insertJobs(
    db,
    batchId,
    jobs.map(({ job }) => job),
  );
  if (mode === "added" && inserted.size > 0) await holdBackJobs(db, [...inserted.values()]);
  const known = jobs.filter(({ job }) => !inserted.has(job.customId));
  if (known.length === 0) return { added: inserted.size, conflicts: [] };
  const hashes = await selectInputHashes(
    db,
    batchId,
    known.map(({ job }) => job.customId),
  );
  const conflicts = known.filter(({ job }) => hashes.get(job.customId) !== job.inputSha256);
  return { added: inserted.size, conflicts };
}

const MOST_QUOTED = 60;
const quote = (customId: string): string =>
  JSON.stringify(customId.length > MOST_QUOTED ? `${customId.slice(0, MOST_QUOTED)}…` : customId);

/** Lets the caller go on while one task runs, and makes it wait before the next. */
class OneAtATime {
  #pending: Promise<{ readonly error: unknown } | undefined> = Promise.resolve(undefined);

  async run(task: () => Promise<void>): Promise<void> {
    await this.done();
    this.#pending = task().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  }

  /** @throws what the last task threw */
  async done(): Promise<void> {
    const failed = await this.#pending;
    this.#pending = Promise.resolve(undefined);
    if (failed !== undefined) throw failed.error;
  }
}
