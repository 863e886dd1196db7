import { resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { selectEmbedProgress } from "../../src/shared/store/index/embeddings.ts";
import { dropVectorIndex, findVectorIndex } from "../../src/shared/store/index/vector-index.ts";
import { startTrace } from "../../src/worker/run-trace.ts";
import { createHashingEmbedder } from "../../src/worker/embedders/hashing.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { start } from "../deploy/spawned.ts";
import { askJob, claimNext, countOf, expireLease, openBatchOf } from "./jobs.ts";
import { eventually } from "./signal.ts";
import { startTopology, topologies } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const bin = resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js");
/** More than one job of 2,000. */
const CHUNKS = 2_100;
const DOCUMENTS = 21;
const { id: MODEL, signature: SIGNATURE } = createHashingEmbedder();

describe.each(topologies.filter((name) => name !== "postgres"))(
  "vectors of a large index on %s",
  (name) => {
    let topology: Topology;
    let db: Database;
    const workers: RunningWorker[] = [];
    beforeAll(async () => {
      topology = await startTopology(name, { retrieve: { exact_below: 2_000 } });
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
          (await countOf(
            db,
            "nightdesk.batch_progress where batch_id = $1 and state = 'completed'",
            [batchId],
          )) === 1,
        90_000,
      );
    const countVectors = () =>
      countOf(db, "nightdesk_data.embeddings where model = $1 and signature = $2", [
        MODEL,
        SIGNATURE,
      ]);
    /** Each chunk that has a vector, and when that was made. */
    const selectVectors = async () => {
      const { rows } = await db.query(
        "select chunk_id::text, embedded_at::text from nightdesk_data.embeddings",
      );
      return (rows as { chunk_id: string; embedded_at: string }[]).map(
        ({ chunk_id, embedded_at }) => [chunk_id, embedded_at] as const,
      );
    };
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
      expect(planned?.summary).toMatchObject({ jobs: 2, embedded: 0 });
      expect(ranges.map(({ summary }) => summary?.embedded)).toEqual([2_000, 100]);
      expect(new Set(ranges.map(({ worker_id }) => worker_id)).size).toBeGreaterThanOrEqual(2);
      expect(await countVectors()).toBe(CHUNKS);
      expect(ranges.map(({ summary }) => summary?.vector_index)).toContain("created");
      expect(await findVectorIndex(db, SIGNATURE)).toMatchObject({ iterates: true });
      expect(await selectEmbedProgress(db, batchId)).toEqual({
        jobs: 3,
        ended: 3,
        due: CHUNKS,
        done: CHUNKS,
      });
    }, 120_000);

    /** @returns when they were made */
    async function insertVectors(): Promise<string> {
      const { rows } = await db.query(
        `insert into nightdesk_data.embeddings (chunk_id, model, signature, dims, embedding)
       select chunk_id, $1, $2, 384, array_fill(0.5, array[384])::vector from nightdesk_data.chunks
       returning embedded_at::text as last`,
        [MODEL, SIGNATURE],
      );
      return (rows[0] as { last: string }).last;
    }

    test("of a rebuild are all made again, once", async () => {
      const last = await insertVectors();
      await startWorkers(2);
      const { batchId } = await queueEmbed({ rebuild: true });
      await isCompleted(batchId);
      const summaries = await summariesOf(batchId);
      const embedded = summaries.reduce((sum, { summary }) => sum + (summary?.embedded ?? 0), 0);
      expect(embedded).toBe(CHUNKS);
      expect(
        await countOf(db, "nightdesk_data.embeddings where embedded_at > $1::timestamptz", [last]),
      ).toBe(CHUNKS);
    }, 120_000);

    test("of a rebuild are made without their index, which the last job or the next embed builds", async () => {
      await insertVectors();
      await startWorkers(1);
      await queueEmbed().then(({ batchId }) => isCompleted(batchId));
      expect(await findVectorIndex(db, SIGNATURE)).toBeDefined();
      await workers.pop()?.stop(0);

      const interrupted = await queueEmbed({ rebuild: true });
      const planner = await claimNext(db, interrupted.jobIds[0] ?? "");
      const runJob = createRunJob(topology.context, db);
      const outcome = await runJob(planner, startTrace(), new AbortController().signal);
      expect(outcome).toMatchObject({ summary: { jobs: 2 } });
      expect(await findVectorIndex(db, SIGNATURE)).toBeUndefined();
      await db.query("delete from nightdesk_data.batches where batch_id = $1", [
        interrupted.batchId,
      ]);

      const indexStatesOf = async (chunks: Readonly<Record<string, unknown>>) => {
        const { batchId } = await queueEmbed(chunks);
        await isCompleted(batchId);
        return (await summariesOf(batchId)).map(({ summary }) => summary?.vector_index);
      };
      await startWorkers(2);
      expect(await indexStatesOf({})).toEqual(["created"]);
      expect(await findVectorIndex(db, SIGNATURE)).toBeDefined();
      expect(await indexStatesOf({ rebuild: true })).toContain("created");
      expect(await findVectorIndex(db, SIGNATURE)).toBeDefined();
    }, 120_000);

    test("that a rebuild took away are made without their index, which is built anew at the end", async () => {
      await startWorkers(2);
      await queueEmbed().then(({ batchId }) => isCompleted(batchId));
      expect(await findVectorIndex(db, SIGNATURE)).toBeDefined();
      await db.query("delete from nightdesk_data.embeddings");
      const { batchId } = await openBatchOf(
        db,
        [askJob("index", { input: { kind: "index" } })],
        "ad_hoc",
      );
      await isCompleted(batchId);
      const summaries = await summariesOf(batchId);
      expect(summaries.map(({ summary }) => summary?.vector_index)).toContain("created");
      expect(await countVectors()).toBe(CHUNKS);
    }, 120_000);

    test("of a worker that was killed are finished by another, and what it had committed stays", async () => {
      const { batchId } = await queueEmbed({ batch_size: 8 });
      const killed = start([process.execPath, bin, "worker", "--config", topology.configFile], {
        cwd: topology.workroot,
        env: { PATH: process.env["PATH"] ?? "" },
      });
      await eventually("some vectors are there", async () => (await countVectors()) > 0, 60_000);
      killed.kill("SIGKILL");
      await killed.ended;
      const committed = await selectVectors();
      expect(committed.length).toBeLessThan(CHUNKS);
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
      const vectors = new Map(await selectVectors());
      expect(vectors.size).toBe(CHUNKS);
      expect(committed.filter(([chunk, at]) => vectors.get(chunk) !== at)).toEqual([]);
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
  },
);
