import { expect } from "@jest/globals";
import { startWorker } from "../../src/worker/start.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { answered, askJob, countOf, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import type { Topology } from "../conformance/topologies.ts";

/** Queues questions over `db`, and expects a worker of the context to succeed with all of them, and to stop. */
export async function expectWorked(
  context: Topology["context"],
  db: Database,
  jobs: number,
): Promise<void> {
  const { batchId } = await openBatchOf(
    db,
    Array.from({ length: jobs }, (_, at) => askJob(`${at}`)),
  );
  const worker = await startWorker(
    context,
    2,
    () =>
      async ({ customId }) =>
        answered(customId),
  );
  let ended: unknown;
  try {
    const done = "nightdesk_data.jobs where batch_id = $1 and state = 'succeeded'";
    await eventually("all jobs are done", async () => {
      return (await countOf(db, done, [batchId])) === jobs;
    });
  } finally {
    ended = await worker.stop(1_000);
  }
  expect(ended).toBe("closed");
}
