import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { answered, askJob, openBatchOf, rowOf } from "./jobs.ts";
import { eventually, signal } from "./signal.ts";
import { startTopology, topologies } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const CONCURRENCY = 2;
/** Less than a lease: what is renewed no sooner is lost. */
const IN_TIME_MS = 14_000;

describe.each(topologies)("leases of a worker on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let worker: RunningWorker | undefined;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterEach(async () => {
    await worker?.stop(0);
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const numberOf = async (sql: string, values: readonly unknown[]): Promise<number> => {
    const { rows } = await db.query(sql, values);
    const [row] = rows as readonly { readonly ms: string | null }[];
    return Number(row?.ms ?? 0);
  };
  const leaseOf = (jobId: string) =>
    numberOf(
      "select extract(epoch from lease_until) * 1000 as ms from nightdesk_data.jobs where job_id = $1",
      [jobId],
    );
  const lastHeartbeat = () =>
    numberOf(
      "select max(extract(epoch from heartbeat_at)) * 1000 as ms from nightdesk_data.workers",
      [],
    );

  test("are renewed while others hold every connection that runs use", async () => {
    const [begun, mayEnd] = [signal(), signal()];
    worker = await startWorker(topology.context, CONCURRENCY, () => async (_, __, aborted) => {
      begun.resolve();
      await mayEnd.promise;
      aborted.throwIfAborted();
      return answered("yes");
    });
    const { jobIds } = await openBatchOf(db, [askJob("a")]);
    const [jobId = ""] = jobIds;
    await begun.promise;
    const release = await holdAll(worker.database);
    try {
      for (const renewal of ["first", "second"]) {
        const [lease, heartbeat] = [await leaseOf(jobId), await lastHeartbeat()];
        await eventually(
          `the ${renewal} renewal and heartbeat`,
          async () => (await leaseOf(jobId)) > lease && (await lastHeartbeat()) > heartbeat,
          IN_TIME_MS,
        );
      }
    } finally {
      release();
      mayEnd.resolve();
    }
    await eventually("it is done", async () => (await rowOf(db, jobId))["finished_at"] !== null);
    expect(await rowOf(db, jobId)).toMatchObject({ state: "succeeded", attempt: 1 });
  }, 90_000);
});

/** Takes each connection of a pool as soon as its holder lets go of it, so that who comes later waits. */
async function holdAll({ pool }: Database): Promise<() => void> {
  // The listener never lets go of its own: the last of these waits until it gives up.
  const held = Array.from({ length: pool.options.max }, () => pool.connect().catch(() => null));
  await eventually(
    "all connections are held",
    async () =>
      pool.totalCount === pool.options.max && pool.idleCount === 0 && pool.waitingCount > 0,
  );
  return () => {
    for (const client of held) void client.then((one) => one?.release());
  };
}
