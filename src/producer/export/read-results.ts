import type { Database } from "../../shared/db/database.ts";
import { FIRST, selectResultPage } from "../../shared/db/jobs/read-results.ts";
import type { JobResult } from "../../shared/db/jobs/read-results.ts";

const PAGE_JOBS = 200;

/** Every job of a batch with its result, in the order of insertion; one page of rows is held at a time. */
export async function* readResults(
  database: Database,
  batchId: string,
): AsyncGenerator<JobResult, void> {
  let after = FIRST;
  for (;;) {
    const page = await selectResultPage(database, batchId, after, PAGE_JOBS);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
