import { hash } from "node:crypto";
import type { Database, Queryable } from "../store/connection/database.ts";
import { setBatchFormat } from "../store/jobs/batches.ts";
import { endDuplicates } from "../store/jobs/duplicates.ts";
import type { DuplicateJob } from "../store/jobs/duplicates.ts";
import { evaluateHolds } from "../store/jobs/holds.ts";
import { insertJobs, selectInputHashes } from "../store/jobs/insert-jobs.ts";
import type { NewJob } from "../store/jobs/insert-jobs.ts";
import { holdBackJobs, releaseJobs, renewLoad, undoLoad } from "../store/jobs/loads.ts";
import type { Load } from "../store/jobs/loads.ts";
import type { JobInput } from "../job/job.ts";
import { formatCount } from "../views/quantity.ts";
import { whileLoading } from "./select-batch.ts";
import type { SelectedBatch } from "./select-batch.ts";
import type { LineParser } from "./parse-line.ts";
import { readLines } from "./read-lines.ts";

export type EnqueueResult = LoadCounts & {
  /** `queued`: the batch is open. `rejected`: no job of this file is left. `empty`: the file has no line. */
  readonly outcome: "queued" | "rejected" | "empty";
  readonly problems: LineProblems;
  /** Jobs that only have a row: their file is a copy, and the job of the original runs in their place. */
  readonly duplicates: number;
};

export type EnqueueOptions = Omit<LoadOptions, "problems"> & {
  readonly badLines: "strict" | "skip";
  /** Returns the jobs of the load that must not run because another job stands in for them; called before the batch opens. */
  readonly findDuplicates?: () => Promise<readonly DuplicateJob[]>;
  /** Writes what else belongs to the batch, in the transaction that opens it. */
  readonly beforeOpening?: (db: Queryable, counts: LoadCounts) => Promise<void>;
};

/**
 * Loads a file into a batch and opens the batch after the last line. With `strict` one bad line rejects the file: a batch that
 * was never opened is deleted, and an open one keeps the jobs that it had. An unknown model name rejects the file even with
 * `skip`: a whole night without its model costs more than a look at the configuration.
 */
export function enqueueLines(
  database: Database,
  batch: SelectedBatch,
  chunks: AsyncIterable<Uint8Array>,
  options: EnqueueOptions,
): Promise<EnqueueResult> {
  return whileLoading(database, batch, () => loadAndOpen(database, batch, chunks, options));
}

async function loadAndOpen(
  database: Database,
  batch: SelectedBatch,
  chunks: AsyncIterable<Uint8Array>,
  options: EnqueueOptions,
): Promise<EnqueueResult> {
  const problems = new LineProblems();
  const { parser } = options;
  const counts = await loadJobs(database, batch, chunks, { ...options, problems });
  const isEmpty = counts.added + counts.skipped === 0;
  const isRejected =
    parser.unknownModels().length > 0 ||
    (problems.count > 0 && (options.badLines === "strict" || isEmpty));
  if (isRejected || isEmpty) {
    await undoLoad(database.within("build"), batch);
    return { ...counts, outcome: isRejected ? "rejected" : "empty", problems, duplicates: 0 };
  }
  const found = (await options.findDuplicates?.()) ?? [];
  const duplicates = await database.within("build").transaction(async (db) => {
    const ended = await endDuplicates(db, batch.batchId, found);
    if (batch.mode === "loading") await setBatchFormat(db, batch.batchId, parser.format());
    await options.beforeOpening?.(db, counts);
    await releaseJobs(db, batch);
    return ended;
  });
  await evaluateHolds(database);
  return { ...counts, outcome: "queued", problems, duplicates };
}

type LoadOptions = {
  readonly problems: LineProblems;
  /** Receives the number of the last parsed line, after each portion. */
  readonly onLines: (last: number) => void;
  readonly parser: LineParser;
  /** Replaces or drops jobs of a portion before it is written. */
  readonly select?: (jobs: readonly NumberedJob[]) => Promise<readonly NumberedJob[]>;
  /** Size in bytes of the file that a job reads; 0 for every job without this function. */
  readonly sizeOf?: (input: JobInput) => number;
};

type LoadCounts = {
  added: number;
  skipped: number;
  /** Jobs that `select` dropped. */
  leftOut: number;
};
/** A job with the number of its line. */
type NumberedJob = { readonly number: number; readonly job: NewJob };
type Portion = { jobs: NumberedJob[]; chars: number };

const PORTION_JOBS = 2_000;
/** Characters of all lines of a portion. Two portions and the statements that send them take about ten times as much memory. */
const PORTION_CHARS = 1_000_000;

/**
 * Reads JSONL and commits its jobs in portions of 2,000, after `select`. A line is skipped when the batch has its custom_id with
 * the same input already. The next portion is parsed while one is written; of past lines only hashes of ids stay.
 */
async function loadJobs(
  database: Database,
  load: Load,
  chunks: AsyncIterable<Uint8Array>,
  options: LoadOptions,
): Promise<LoadCounts> {
  const counts: LoadCounts = { added: 0, skipped: 0, leftOut: 0 };
  const writing = new OneAtATime();
  const write = (read: readonly NumberedJob[]) =>
    writing.run(async () => {
      const jobs = (await options.select?.(read)) ?? read;
      counts.leftOut += read.length - jobs.length;
      if (jobs.length === 0) return;
      const { added, conflicts } = await database.transaction((db) => writePortion(db, load, jobs));
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
  load: Load,
  jobs: readonly NumberedJob[],
): Promise<{ readonly added: number; readonly conflicts: readonly NumberedJob[] }> {
  const { batchId, mode } = load;
  await renewLoad(db, load);
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

/** Runs one task in the background; a caller that starts the next one waits for it first. */
class OneAtATime {
  #pending: Promise<{ readonly error: unknown } | undefined> = Promise.resolve(undefined);

  async run(task: () => Promise<void>): Promise<void> {
    await this.done();
    this.#pending = task().then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  }

  /** @throws the error of the last task */
  async done(): Promise<void> {
    const failed = await this.#pending;
    this.#pending = Promise.resolve(undefined);
    if (failed !== undefined) throw failed.error;
  }
}

type LineProblem = { readonly line: number; readonly reason: string };

const MOST_KEPT = 100;

/** The first hundred bad lines by number, and the count of all. */
class LineProblems {
  #kept: LineProblem[] = [];
  #count = 0;

  add(line: number, reason: string): void {
    this.#count += 1;
    this.#kept.push({ line, reason });
    // A portion reports its conflicts after later lines were parsed, so the order is by chance.
    if (this.#kept.length > MOST_KEPT * 2) this.#trim();
  }

  get count(): number {
    return this.#count;
  }

  first(): readonly LineProblem[] {
    this.#trim();
    return this.#kept;
  }

  /** One line of text for each problem, and one that counts those left out. */
  describe(): readonly string[] {
    const lines = this.first().map(({ line, reason }) => `line ${line}: ${reason}`);
    const more = this.#count - lines.length;
    return more === 0 ? lines : [...lines, `… and ${formatCount(more)} more`];
  }

  #trim(): void {
    this.#kept = this.#kept.sort((a, b) => a.line - b.line).slice(0, MOST_KEPT);
  }
}

const FIRST_SLOTS = 1 << 14;

/**
 * Remembers the line of every custom_id in about 20 bytes each, whatever the ids' length: a million lines take 24 to 48 MB. Holds
 * 64 bits of SHA-256 and the line, in typed arrays with open addressing. The chance that two different ids of a million lines
 * look equal is 3e-8.
 */
class SeenIds {
  #keys = new BigUint64Array(FIRST_SLOTS);
  #lines = new Uint32Array(FIRST_SLOTS);
  #size = 0;

  /** @returns the line that had the id before; undefined when the id is new, which is then remembered */
  add(customId: string, line: number): number | undefined {
    if (this.#size * 2 >= this.#keys.length) this.#grow();
    const key = keyOf(customId);
    const slot = this.#find(key);
    const seenAt = this.#lines[slot];
    if (seenAt !== undefined && seenAt !== 0) return seenAt;
    this.#keys[slot] = key;
    this.#lines[slot] = line;
    this.#size += 1;
    return undefined;
  }

  /** The slot that holds a key, or the free slot where the key belongs. A free slot holds line 0. */
  #find(key: bigint): number {
    const mask = this.#keys.length - 1;
    let slot = Number(BigInt.asUintN(32, key)) & mask;
    while (this.#lines[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const keys = this.#keys;
    const lines = this.#lines;
    this.#keys = new BigUint64Array(keys.length * 2);
    this.#lines = new Uint32Array(keys.length * 2);
    lines.forEach((line, index) => {
      const key = keys[index];
      if (line === 0 || key === undefined) return;
      const slot = this.#find(key);
      this.#keys[slot] = key;
      this.#lines[slot] = line;
    });
  }
}

const keyOf = (customId: string): bigint => hash("sha256", customId, "buffer").readBigUInt64LE();
