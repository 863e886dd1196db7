import { z } from "zod";
import type { Invocation } from "../../shared/commands/command.ts";
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
 * Reads --failed, --refused, --unresolved and --where; what --stale compares with is not known here.
 * @throws Failure USAGE_ERROR where nothing was said that chooses jobs, and for a condition that can't hold
 */
export function parseRerunFilter(
  { options }: Pick<Invocation, "options">,
  config: Config,
): Omit<RerunFilter, "stale"> {
  const isUnresolved = options["unresolved"] === true;
  const states = [
    ...(options["failed"] === true ? ["failed", "expired"] : []),
    ...(options["refused"] === true || isUnresolved ? ["refused"] : []),
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
      errorCode: of("error_code") ?? (isUnresolved ? ["UNRESOLVED"] : null),
      path: of("path")?.map((glob) => pathPattern(glob, config)) ?? null,
      customId: of("custom_id")?.map((glob) => `^${globPattern(glob)}$`) ?? null,
    },
  };
}

/** The command line gives a list, which the type of options does not tell. */
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

/** Postgres walks all of a pattern for each character of a path: within these, milliseconds for the longest path. */
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

/** A path is matched from the work root, from an allowed root, or from the root of a source. */
function pathPattern(glob: string, { security, index }: Config): string {
  const names = [...security.allowed_roots, ...index.sources.map(({ root }) => root)];
  const roots = names.map((root) => `${escaped(root.replace(/\/+$/, ""))}/`);
  return `^(${roots.join("|")})?${globPattern(glob)}$`;
}

/** `*` stands for what is between two slashes, `**` for anything, `?` for one character. */
function globPattern(glob: string): string {
  return glob
    .split(/(\*\*\/|\*+|\?)/)
    .map((piece) => WILDCARDS[piece] ?? escaped(piece))
    .join("");
}

const WILDCARDS: Readonly<Record<string, string>> = {
  "**/": "(.*/)?",
  "**": ".*",
  "*": "[^/]*",
  "?": "[^/]",
};

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

export type SelectedJobs = {
  readonly jobs: number;
  /** How many of them are stale for which reason; one may have several. */
  readonly reasons: ReadonlyMap<StaleReason, number>;
};

/** Jobs that are looked at, and at most inserted, by one statement. */
const PORTION_JOBS = 2_000;

/** Which jobs of a batch are made again. */
export type RerunChoice = {
  readonly filter: RerunFilter;
  /** Leaves of the jobs that the filter chooses those that are wanted; null for all. */
  readonly narrow: ((jobs: readonly RerunCandidate[]) => Promise<readonly RerunCandidate[]>) | null;
};

/** Goes through a batch a portion at a time. @param take is given the chosen jobs of each */
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

/** A batch that loads, the one whose jobs it repeats, and what is decided otherwise than for that one. */
type RerunBatch = {
  readonly batchId: string;
  readonly repeats: string;
  readonly settings: BatchSettings;
};

/**
 * Fills a new batch with the chosen jobs of another and with the digests above them, and opens it. Nothing is kept of the
 * jobs but one portion. A batch that could not be filled, or for which there is no job, is deleted.
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
    // Who names kinds, paths or days means those, and no digest above them.
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
