import { afterEach, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { startBin } from "../support/run-bin.ts";
import { askJob, countOf, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import { createMigratedDatabase } from "../support/templates.ts";
import { findContradictions } from "./check-history.ts";
import { findPostgres, makePostgres } from "./own-postgres.ts";

const ROUNDS = Number(process.env["KILL_POSTGRES_ROUNDS"] ?? 5);
const JOBS_A_ROUND = 40;
const WORKERS = 4;

const place = topologies.includes("postgres") ? findPostgres() : undefined;
const [describeAs, reason] =
  place === undefined
    ? [describe.skip, ": there is no PostgreSQL with pgvector to start here"]
    : [describe, ""];

describeAs(`kill -9 of a Postgres server under ${WORKERS} workers${reason}`, () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  const ended = (db: Database, batchId: string) =>
    countOf(db, "nightdesk_data.jobs where batch_id = $1 and finished_at is not null", [batchId]);

  test(
    `${ROUNDS} times: every worker lives on, and each job of the batch has one result`,
    async () => {
      if (place === undefined) throw new Error("unreachable: skipped");
      const server = await makePostgres(place);
      closers.push(() => server.dispose());
      await server.start();
      const double = await startOllamaDouble({
        models: [
          {
            name: "writer",
            contextLength: 4_096,
            respond: () => ({
              text: "A haiku.",
              after: new Promise((resolve) => setTimeout(resolve, 100)),
            }),
          },
        ],
      });
      closers.push(() => double.close());
      await createMigratedDatabase(server.url, "night");
      const url = Object.assign(new URL(server.url), { pathname: "/night" }).href;
      const topology = await startTopology("postgres", {
        database: { url },
        model: { provider: "ollama", name: "writer", base_url: double.url, num_ctx: 4_096 },
        runs: { reuse: "never" },
        log: { level: "info" },
      });
      closers.push(() => topology.dispose());
      const db = await topology.connect();
      closers.push(() => db.end());
      const jobs = Array.from({ length: ROUNDS * JOBS_A_ROUND }, (_, n) =>
        askJob(`q${n}`, { input: { kind: "chat", prompt: `Write haiku ${n}.` } }),
      );
      const { batchId } = await openBatchOf(db, jobs);
      const workers = Array.from({ length: WORKERS }, () => {
        const words = ["worker", "--concurrency", "2"];
        const worker = startBin(words, { cwd: topology.workroot });
        closers.push(() => {
          worker.kill("SIGKILL");
          return worker.ended;
        });
        return worker;
      });
      for (const worker of workers) await worker.said(/worker ready/);

      for (let round = 0; round < ROUNDS; round++) {
        const enough = (round + 0.3) * JOBS_A_ROUND;
        await eventually(
          `round ${round}: ${enough} jobs have ended`,
          async () => (await ended(db, batchId)) >= enough,
          60_000,
        );
        await server.kill();
        await server.start();
      }
      await eventually(
        "the batch is complete",
        async () => (await countOf(db, "nightdesk.batch_progress where state = 'completed'")) === 1,
        120_000,
      );
      // A call whose end could not be stored is charged by whoever looks for such calls next.
      await eventually(
        "no reservation is left",
        async () => (await countOf(db, "nightdesk_data.reservations")) === 0,
        30_000,
      );
      expect(await findContradictions(db, batchId)).toEqual([]);
      expect(
        await countOf(db, "nightdesk_data.jobs where batch_id = $1 and state = 'succeeded'", [
          batchId,
        ]),
      ).toBe(jobs.length);
      for (const worker of workers) expect(process.kill(worker.pid, 0)).toBe(true);
      for (const worker of workers) worker.kill("SIGTERM");
      for (const worker of workers) expect((await worker.ended).code).toBe(0);
    },
    60_000 + ROUNDS * 30_000,
  );
});
