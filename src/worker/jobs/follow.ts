import { Failure } from "../../shared/failure.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { findFollowed } from "../../shared/store/jobs/followed.ts";
import type { Followed } from "../../shared/store/jobs/followed.ts";
import type { PipelineDependencies } from "../evidence/types.ts";

/**
 * What a question carries of the one that it follows.
 * @param locate of the job: it finds what the job may read
 * @throws Failure NOT_FOUND where there is none, and in the same words where the job may not read each file that its record names
 */
export async function readFollowed(
  jobId: string,
  db: Queryable,
  locate: PipelineDependencies["locate"],
): Promise<Followed> {
  const found = await findFollowed(db, jobId);
  if (found === undefined || !(await mayRead(found.seen, locate))) {
    throw new Failure(
      "NOT_FOUND",
      `There is no question ${jobId} with a result that may be followed here: it was deleted, or a file that it rests on can't be read. Ask without it.`,
    );
  }
  return { question: found.question, paths: found.paths };
}

/** A file of the same name elsewhere is another one. */
async function mayRead(
  paths: readonly string[],
  locate: PipelineDependencies["locate"],
): Promise<boolean> {
  for (const path of paths) {
    const located = await locate(path);
    if (located.kind !== "located" || located.path !== path) return false;
  }
  return true;
}
