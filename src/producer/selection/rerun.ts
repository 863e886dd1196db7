import { z } from "zod";
import type { Invocation } from "../../shared/commands/command.ts";
import { escapePattern } from "../../shared/text/normalise-text.ts";
import type { Config } from "../../shared/config/schema.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { changeBatch } from "../../shared/store/jobs/batch-settings.ts";
import type { BatchSettings } from "../../shared/store/jobs/batch-settings.ts";
import { deleteBatch, openBatch } from "../../shared/store/jobs/batches.ts";
import { insertJobs } from "../../shared/store/jobs/insert-jobs.ts";
import type { NewJob } from "../../shared/store/jobs/insert-jobs.ts";
import {
  copyBatchSettings,
  FIRST_JOB,
  insertDigestsAbove,
  linkDigests,
  selectRerunPage,
} from "../../shared/store/jobs/reruns.ts";
import type { RerunCandidate, RerunFilter } from "../../shared/store/jobs/reruns.ts";
import type { StaleReason } from "../../shared/store/jobs/evidence.ts";
import { daysOf } from "../../shared/files/document-filter.ts";
import { Failure } from "../../shared/failure.ts";
import { FINAL_STATES, KINDS } from "../../shared/job/job.ts";
import { append } from "../../shared/group-by.ts";

const KEYS = ["kind", "state", "error_code", "path", "custom_id"] as const;
type Key = (typeof KEYS)[number];

/**
 * Reads --failed, --refused, --unresolved and --where; the caller adds the state that --stale compares with.
 * @throws Failure USAGE_ERROR if no option chooses jobs, and for an impossible condition
 */
export function parseRerunFilter(
  { options }: Pick<Invocation, "options">,
  config: Config,
): Omit<RerunFilter, "stale"> {
  const states = [
    ...(options["failed"] === true ? ["failed", "expired"] : []),
    ...(options["refused"] === true ? ["refused"] : []),
    ...(options["unresolved"] === true ? ["UNRESOLVED"] : []),
  ];
  const where = parseWhere(options["where"]);
  const hasDays = Object.keys(daysOf(options)).length > 0;
  if (states.length === 0 && options["stale"] !== true && where.size === 0 && !hasDays) {
    throw new Failure(
      "USAGE_ERROR",
      "Say which jobs: --stale, --failed, --refused, --unresolved, --since, --until, or --where as in --where kind=summarize.",
    );
  }
  for (const key of ["path", "custom_id"] as const) checkGlobs(key, where.get(key) ?? []);
  const of = (key: Key) => where.get(key) ?? null;
  return {
    states,
    where: {
      kind: of("kind"),
      state: of("state"),
      errorCode: of("error_code"),
      path: of("path")?.map((glob) => pathPattern(glob, config)) ?? null,
      customId: of("custom_id")?.map((glob) => `^${globPattern(glob)}$`) ?? null,
    },
  };
}

/** @param given a list, although the type of options does not say so */
function parseWhere(given: unknown): ReadonlyMap<Key, readonly string[]> {
  const texts = z.array(z.string()).safeParse(given);
  const where = new Map<Key, string[]>();
  for (const text of texts.data ?? []) {
    const { key, value } = parseCondition(text);
    append(where, key, value);
  }
  return where;
}

const VALUES: Partial<Record<Key, readonly string[]>> = {
  kind: KINDS.filter((kind) => kind !== "notify" && kind !== "check"),
  state: FINAL_STATES,
};

function parseCondition(text: string): { readonly key: Key; readonly value: string } {
  const at = text.indexOf("=");
  const [name, value] = [text.slice(0, at), text.slice(at + 1)];
  const key = KEYS.find((known) => known === name);
  if (at < 1 || key === undefined || value === "") {
    throw new Failure(
      "USAGE_ERROR",
      `--where takes key=value with one of the keys ${KEYS.join(", ")}, and ${JSON.stringify(text)} is not that.`,
    );
  }
  const values = VALUES[key];
  if (values !== undefined && !values.includes(value)) {
    throw new Failure(
      "USAGE_ERROR",
      `--where ${key}=${value}: a job that has ended has none. Expected one of ${values.join(", ")}.`,
    );
  }
  return { key, value };
}

/** Postgres tries the whole pattern at each character of a path: within these limits it takes milliseconds for the longest path. */
const MOST_WILDCARDS = 100;
const MOST_GLOB_CHARS = 4_096;

function checkGlobs(key: Key, globs: readonly string[]): void {
  const all = globs.join(",");
  const wildcards = all.match(/\*+|\?/g)?.length ?? 0;
  if (wildcards <= MOST_WILDCARDS && all.length <= MOST_GLOB_CHARS) return;
  throw new Failure(
    "USAGE_ERROR",
    `--where ${key}=… holds ${wildcards} wildcards in ${all.length} characters; at most ${MOST_WILDCARDS} in ` +
      `${MOST_GLOB_CHARS} are taken. Use fewer, or \`**\` for all folders on the way.`,
  );
}

/** Matches a path from the work root, from an allowed root, or from the root of a source. */
function pathPattern(glob: string, { security, index }: Config): string {
  const names = [...security.allowed_roots, ...index.sources.map(({ root }) => root)];
  const roots = names.map((root) => `${escapePattern(root.replace(/\/+$/, ""))}/`);
  return `^(${roots.join("|")})?${globPattern(glob)}$`;
}

/** `*` matches within one path part, `**` anything, `?` one character. */
function globPattern(glob: string): string {
  return glob
    .split(/(\*\*\/|\*+|\?)/)
    .map((piece) => WILDCARDS[piece] ?? escapePattern(piece))
    .join("");
}

const WILDCARDS: Readonly<Record<string, string>> = {
  "**/": "(.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
};

export type SelectedJobs = {
  readonly jobs: number;
  /** Number of stale jobs by reason; a job may have several reasons. */
  readonly reasons: ReadonlyMap<StaleReason, number>;
};

/** Jobs that one statement reads, and at most inserts. */
const PORTION_JOBS = 2_000;

/** Which jobs of a batch to run again. */
export type RerunChoice = {
  readonly filter: RerunFilter;
  /** Narrows the jobs that the filter chose; null: all of them. */
  readonly narrow: ((jobs: readonly RerunCandidate[]) => Promise<readonly RerunCandidate[]>) | null;
};

/** Reads a batch in portions. @param take receives the chosen jobs of each portion */
export async function selectJobs(
  database: Database,
  batchId: string,
  { filter, narrow }: RerunChoice,
  take: (chosen: readonly RerunCandidate[]) => Promise<void>,
): Promise<SelectedJobs> {
  const reasons = new Map<StaleReason, number>();
  let jobs = 0;
  let after: string | null = FIRST_JOB;
  while (after !== null) {
    const page = await selectRerunPage(database, batchId, filter, { after, limit: PORTION_JOBS });
    const chosen = narrow === null ? page.chosen : await narrow(page.chosen);
    for (const reason of chosen.flatMap((job) => job.reasons)) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    jobs += chosen.length;
    if (chosen.length > 0) await take(chosen);
    after = page.last;
  }
  return { jobs, reasons };
}

/** A loading batch, the batch whose jobs it repeats, and the settings that differ from that one. */
type RerunBatch = {
  readonly batchId: string;
  readonly repeats: string;
  readonly settings: BatchSettings;
};

/**
 * Fills a new batch with the chosen jobs of another and the digests above them, and opens it. Only one portion of jobs is in
 * memory. If there is no job, or an error occurs, the new batch is deleted.
 */
export async function rerunJobs(
  database: Database,
  { batchId, repeats, settings }: RerunBatch,
  choice: RerunChoice,
  toNewJob: (job: RerunCandidate) => NewJob,
): Promise<SelectedJobs & { readonly digests: number }> {
  try {
    await copyBatchSettings(database, repeats, batchId);
    await changeBatch(database, batchId, settings);
    const chosen = await selectJobs(database, repeats, choice, async (jobs) => {
      await insertJobs(database, batchId, jobs.map(toNewJob));
    });
    if (chosen.jobs === 0) {
      await deleteBatch(database.within("build"), batchId);
      return { ...chosen, digests: 0 };
    }
    // A choice by kind, path or date means only those jobs, and no digests above them.
    const isWhole =
      choice.narrow === null &&
      Object.values(choice.filter.where).every((values) => values === null);
    const digests = isWhole ? await insertDigestsAbove(database, repeats, batchId) : 0;
    await linkDigests(database, batchId);
    await openBatch(database, batchId);
    return { ...chosen, digests };
  } catch (error) {
    await deleteBatch(database.within("build"), batchId);
    throw error;
  }
}
