import { Failure } from "../../shared/failure.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { findFollowed } from "../../shared/store/jobs/followed.ts";
import type { Followed } from "../../shared/store/jobs/followed.ts";
import type { PipelineDependencies } from "../evidence/types.ts";

/**
 * Reads what a question takes over from the question that it follows.
 * @param locate finds the files that this job may read
 * @throws Failure NOT_FOUND if there is none, and with the same message if the job may not read a file that its record names
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

/** A file of the same name at another path is another file. */
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
