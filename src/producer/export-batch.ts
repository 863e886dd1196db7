import type { Database } from "../shared/db/database.ts";
import { FIRST, selectResultPage } from "../shared/db/jobs/read-results.ts";
import { vectorsOf } from "./print/print-result.ts";
import { exportJson } from "./print/result-json.ts";

const PAGE_JOBS = 200;

/**
 * Writes one JSON line a job, in the order of insertion, a page of rows at a time.
 * @returns how many jobs there were
 */
export async function exportBatch(
  database: Database,
  batchId: string,
  write: (line: string) => Promise<void>,
): Promise<number> {
  let jobs = 0;
  let after = FIRST;
  for (;;) {
    const page = await selectResultPage(database, batchId, after, PAGE_JOBS);
    for (const result of page) {
      await write(
        JSON.stringify({ ...exportJson(result), ...(await vectorsOf(database, result)) }),
      );
      after = result.seq;
    }
    jobs += page.length;
    if (page.length === 0) return jobs;
  }
}
