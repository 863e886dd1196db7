import { resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/db/database.ts";
import { selectEmbedProgress } from "../../src/shared/db/index/embed-jobs.ts";
import { dropVectorIndex, findVectorIndex } from "../../src/shared/db/index/vector-index.ts";
import { createHashingEmbedder } from "../../src/worker/embedder/hashing.ts";
import { createRunJob } from "../../src/worker/runtime/run-job.ts";
import { startWorker } from "../../src/worker/runtime/start-worker.ts";
import type { RunningWorker } from "../../src/worker/runtime/start-worker.ts";
import { start } from "../deploy/spawned.ts";
import { askJob, countOf, expireLease, openBatchOf } from "./jobs.ts";
import { eventually } from "./signal.ts";
import { startTopology, topologies } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const bin = resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js");
const CHUNKS = 4_500;
const DOCUMENTS = 45;
const { id: MODEL, signature: SIGNATURE } = createHashingEmbedder();

describe.each(topologies)("vectors of a large index on %s", (name) => {
  let topology: Topology;
  let db: Database;
  const workers: RunningWorker[] = [];
  beforeAll(async () => {
    topology = await startTopology(name, { retrieve: { exact_below: 4_000 } });
    db = await topology.connect();
    await fill();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.embeddings");
    await dropVectorIndex(db, SIGNATURE, "at once");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  async function fill(): Promise<void> {
    await db.query(
      `insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device,
                                             settled, metadata_state, chunk_settings)
       select 'corpus', n || '.md', repeat('a', 64), 1000, 1000, 0, 0, 0, 0, true, 'absent', 'x'
         from generate_series(1, ${DOCUMENTS}) n`,
    );
    await db.query(
      `insert into nightdesk_data.chunks (doc_id, chunk_key, ordinal, start_char, end_char, line_start, line_end, text,
                                          sha256, terms)
       select doc_id, md5(doc_id || ' ' || n), n, 0, char_length(words), 1, 1, words, repeat('a', 64), 0
         from nightdesk_data.documents, generate_series(1, ${CHUNKS / DOCUMENTS}) n,
              lateral (select 'word' || n || ' of document' || doc_id as words) texts`,
    );
  }

  async function startWorkers(count: number): Promise<void> {
    const create = (database: Database) => createRunJob(topology.context, database);
    for (let at = 0; at < count; at += 1)
      workers.push(await startWorker(topology.context, 1, create));
  }
  const queueEmbed = (chunks: Readonly<Record<string, unknown>> = {}) =>
    openBatchOf(db, [askJob("embed", { input: { kind: "embed", chunks } })], "ad_hoc");
  const isCompleted = (batchId: string) =>
    eventually(
      "the batch is completed",
      async () =>
        (await countOf(db, "nightdesk.batch_progress where batch_id = $1 and state = 'completed'", [
          batchId,
        ])) === 1,
      90_000,
    );
  const countVectors = () =>
    countOf(db, "nightdesk_data.embeddings where model = $1 and signature = $2", [
      MODEL,
      SIGNATURE,
    ]);
  const summariesOf = async (batchId: string) => {
    const { rows } = await db.query(
      `select r.summary, r.worker_id, j.state, j.error_code from nightdesk_data.jobs j
         join nightdesk_data.runs r on r.run_id = j.run_id where j.batch_id = $1 order by j.seq`,
      [batchId],
    );
    return rows as {
      summary: { embedded: number; jobs?: number; vector_index?: string } | null;
      worker_id: string;
      state: string;
      error_code: string | null;
    }[];
  };

  test("are made by all workers, each chunk's once, and get their index at the end", async () => {
    await startWorkers(3);
    const { batchId } = await queueEmbed();
    await isCompleted(batchId);
    const [planned, ...ranges] = await summariesOf(batchId);
    expect(planned?.summary).toMatchObject({ jobs: 3, embedded: 0 });
    expect(ranges.map(({ summary }) => summary?.embedded)).toEqual([2_000, 2_000, 500]);
    expect(new Set(ranges.map(({ worker_id }) => worker_id)).size).toBeGreaterThanOrEqual(2);
    expect(await countVectors()).toBe(CHUNKS);
    expect(ranges.map(({ summary }) => summary?.vector_index)).toContain("created");
    expect(await findVectorIndex(db, SIGNATURE)).toMatchObject({ iterates: true });
    expect(await selectEmbedProgress(db, batchId)).toEqual({
      jobs: 4,
      ended: 4,
      due: CHUNKS,
      done: CHUNKS,
    });
  }, 120_000);

  test("of a rebuild are all made again, once", async () => {
    const { rows } = await db.query(
      `insert into nightdesk_data.embeddings (chunk_id, model, signature, dims, embedding)
       select chunk_id, $1, $2, 384, array_fill(0.5, array[384])::vector from nightdesk_data.chunks
       returning embedded_at::text as last`,
      [MODEL, SIGNATURE],
    );
    await startWorkers(2);
    const { batchId } = await queueEmbed({ rebuild: true });
    await isCompleted(batchId);
    const summaries = await summariesOf(batchId);
    const embedded = summaries.reduce((sum, { summary }) => sum + (summary?.embedded ?? 0), 0);
    expect(embedded).toBe(CHUNKS);
    const { last } = rows[0] as { last: string };
    expect(
      await countOf(db, "nightdesk_data.embeddings where embedded_at > $1::timestamptz", [last]),
    ).toBe(CHUNKS);
  }, 120_000);

  test("of a worker that was killed are finished by another, and what it had committed stays", async () => {
    const { batchId } = await queueEmbed();
    const killed = start([process.execPath, bin, "worker", "--config", topology.configFile], {
      cwd: topology.workroot,
      env: { PATH: process.env["PATH"] ?? "" },
    });
    await eventually("some vectors are there", async () => (await countVectors()) > 300, 60_000);
    killed.kill("SIGKILL");
    await killed.ended;
    const committed = await countVectors();
    expect(committed).toBeLessThan(CHUNKS);
    const { rows } = await db.query(
      "select job_id from nightdesk_data.jobs where batch_id = $1 and state = 'running'",
      [batchId],
    );
    expect(rows.length).toBeGreaterThan(0);
    for (const { job_id } of rows as { job_id: string }[]) await expireLease(db, job_id);
    await startWorkers(2);
    await isCompleted(batchId);
    const summaries = await summariesOf(batchId);
    expect(summaries.map(({ state }) => state)).toEqual(summaries.map(() => "succeeded"));
    expect(await countVectors()).toBe(CHUNKS);
    const after = summaries.reduce((sum, { summary }) => sum + (summary?.embedded ?? 0), 0);
    // Those of the ranges that the killed one had ended count too; the rest of its open range was kept.
    expect(after).toBeLessThan(CHUNKS);
  }, 120_000);

  test("are not made by a worker whose embedder is another than the planned one", async () => {
    await startWorkers(1);
    const range = { after: 0, upto: 10_000, due: CHUNKS };
    const { batchId } = await queueEmbed({ range, signature: "0".repeat(32) });
    await isCompleted(batchId);
    expect(await summariesOf(batchId)).toMatchObject([
      { state: "failed", error_code: "EMBED_DRIFT" },
    ]);
    expect(await countVectors()).toBe(0);
  });

  test("of a few chunks are one job, and a limit takes no vector away", async () => {
    await startWorkers(2);
    const first = await queueEmbed({ limit: 100 });
    await isCompleted(first.batchId);
    expect(await summariesOf(first.batchId)).toMatchObject([{ summary: { embedded: 100 } }]);
    await queueEmbed({ limit: 50, rebuild: true }).then(({ batchId }) => isCompleted(batchId));
    expect(await countVectors()).toBe(100);
  });
});
