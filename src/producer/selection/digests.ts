import { hash } from "node:crypto";
import { posix } from "node:path";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { countBatchDigests, insertDependencies } from "../../shared/store/jobs/dependencies.ts";
import type { FileJob } from "../../shared/store/jobs/dependencies.ts";
import { insertJobs } from "../../shared/store/jobs/insert-jobs.ts";
import type { NewJob } from "../../shared/store/jobs/insert-jobs.ts";
import type { DigestInput, JobInput } from "../../shared/job/job.ts";
import { hashJson } from "../../shared/schema/json-value.ts";
import { groupBy } from "../../shared/group-by.ts";

type DigestPlan = {
  /** The batch of the digests. */
  readonly batchId: string;
  /** The title of the digest of everything. */
  readonly title: string;
  readonly options: DigestInput["options"];
  /** The model that will answer a job, or "". */
  readonly affinityOf: (input: JobInput) => string;
};

/**
 * Queues the digests of jobs, one per folder and one of everything. Each waits for the jobs that it summarizes. Call it in a
 * transaction, so that all or none are queued.
 * @returns the number of digests
 */
export async function insertDigests(
  db: Queryable,
  files: readonly FileJob[],
  plan: DigestPlan,
): Promise<number> {
  const round = (await countBatchDigests(db, plan.batchId)) + 1;
  const folders = [...byFolder(files)];
  const ofFolders = folders.map(([folder]) =>
    digestJob(plan, { title: folder, level: "folder", round }),
  );
  const ofAll = digestJob(plan, { title: plan.title, level: "batch", round });
  const ids = await insertJobs(db, plan.batchId, [...ofFolders, ofAll]);
  const idOf = ({ customId }: NewJob): string => {
    const id = ids.get(customId);
    if (id === undefined) throw new Error(`the digest ${customId} was not inserted`);
    return id;
  };
  const beside = files.filter(({ path }) => !isOfAFolder(path));
  const toFiles = folders.flatMap(([, children], index) => {
    const digest = ofFolders[index];
    if (digest === undefined) return [];
    return children.map(({ jobId }) => ({ parentId: idOf(digest), childId: jobId }));
  });
  const toFolders = ofFolders.map((digest) => ({ parentId: idOf(ofAll), childId: idOf(digest) }));
  const toOthers = beside.map(({ jobId }) => ({ parentId: idOf(ofAll), childId: jobId }));
  await insertDependencies(db, [...toFiles, ...toFolders, ...toOthers]);
  return ofFolders.length + 1;
}

/** Whether a path gets a folder digest: one outside of the work root was refused, and only the digest of everything names it. */
const isOfAFolder = (path: string): boolean =>
  !posix.isAbsolute(path) && !/^\.\.(?:\/|$)/.test(posix.normalize(path));

/** The files of each folder, folders by name. A folder ends with `/`; the work root itself is `./`. */
function byFolder(files: readonly FileJob[]): Map<string, readonly FileJob[]> {
  const inFolders = files.filter(({ path }) => isOfAFolder(path));
  const folders = groupBy(inFolders, ({ path }) => `${posix.dirname(path)}/`);
  return new Map([...folders].sort(([one], [other]) => (one < other ? -1 : 1)));
}

type Wanted = Pick<DigestInput, "title" | "level"> & {
  /** 2 for the second digest of a batch. */
  readonly round: number;
};

function digestJob({ options, affinityOf }: DigestPlan, { title, level, round }: Wanted): NewJob {
  const input: DigestInput = {
    kind: "digest",
    title,
    level,
    ...(options === undefined ? {} : { options }),
  };
  const again = round === 1 ? "" : ` ${round}`;
  const customId = level === "batch" ? `digest${again}` : `digest${again} ${title}`;
  return {
    customId: customId.length <= MOST_ID_CHARS ? customId : shortened(customId),
    input,
    inputSha256: hashJson(input),
    priority: 0,
    affinity: affinityOf(input),
  };
}

const MOST_ID_CHARS = 512;
const HASH_CHARS = 16;

const shortened = (customId: string): string =>
  `${customId.slice(0, MOST_ID_CHARS - HASH_CHARS - 1)}…${hash("sha256", customId).slice(0, HASH_CHARS)}`;
