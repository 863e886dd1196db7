import { afterEach, expect, test } from "@jest/globals";
import { describeOn } from "../support/describe-on.ts";
import { startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";
import { askJob, countOf, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { findContradictions } from "./check-history.ts";
import { startFaultyTopology } from "./faulty-topology.ts";
import type { FaultyTopology } from "./faulty-topology.ts";

const GOODBYE = { code: "57P01", message: "terminating connection" } as const;
const JOBS = 40;
const ROUNDS = 20;
/** A packet takes so long that a start can be met in its middle. */
const SLOW_MS = 40;
/** For a busy machine. */
const RECOVERY_MS = 120_000;

// The queue has connections of its own to the same server, which says goodbye to those as well.
describeOn("postgres", "processes whose server says goodbye as it lets them in,", (name) => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function prepare(): Promise<FaultyTopology> {
    const faulty = await startFaultyTopology(name, { log: { level: "info" } });
    closers.push(() => faulty.dispose());
    return faulty;
  }

  function run({ topology, env }: FaultyTopology, ...words: string[]): Running {
    const running = startBin([...words, "--config", topology.configFile], {
      cwd: topology.workroot,
      env,
    });
    closers.push(async () => {
      running.kill("SIGKILL");
      await running.ended;
    });
    return running;
  }

  /** A worker that has said that it is alive, and, most of the time, not yet that it is ready. */
  async function startAsFarAsHeartbeat(faulty: FaultyTopology): Promise<Running> {
    faulty.database.delay(SLOW_MS);
    const worker = run(faulty, "worker", "--concurrency", "2");
    const ofWorker = "nightdesk_data.workers where pid = $1";
    let end: string | undefined;
    void worker.ended.then(({ code, stderr }) => (end = `${code}: ${stderr}`));
    await eventually("it says that it is alive", async () => {
      if (end !== undefined) throw new Error(`the worker has ended with ${end}`);
      return (await countOf(faulty.onlooker, ofWorker, [worker.pid])) === 1;
    });
    return worker;
  }

  async function expectWhole({ onlooker }: FaultyTopology, batchId: string): Promise<void> {
    const completed = "nightdesk_data.batches where batch_id = $1 and state = 'completed'";
    await eventually(
      "the batch is completed",
      async () => (await countOf(onlooker, completed, [batchId])) === 1,
      RECOVERY_MS,
    );
    expect(await findContradictions(onlooker, batchId)).toEqual([]);
    const failed = "nightdesk_data.jobs where batch_id = $1 and state = 'failed'";
    expect(await countOf(onlooker, failed, [batchId])).toBe(0);
  }

  const openJobs = async ({ onlooker }: FaultyTopology): Promise<string> => {
    const jobs = Array.from({ length: JOBS }, (_, i) => askJob(`${i}`));
    return (await openBatchOf(onlooker, jobs)).batchId;
  };

  /** Strikes while workers start, and again and again while they run. */
  async function expectSurvivors(
    faulty: FaultyTopology,
    strike: (round: number) => Promise<void>,
  ): Promise<void> {
    const batchId = await openJobs(faulty);
    const workers: Running[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      if (round % 5 === 0) workers.push(await startAsFarAsHeartbeat(faulty));
      await strike(round);
      faulty.database.pass();
    }
    for (const worker of workers) await worker.said(/worker ready/);
    await expectWhole(faulty, batchId);
    await expectWhole(faulty, await openJobs(faulty));
    for (const worker of workers) worker.kill("SIGTERM");
    const ends = await Promise.all(workers.map(({ ended }) => ended));
    expect(ends.filter(({ code }) => code !== 0)).toEqual([]);
  }

  test.each([["batch", "list"], ["worker"]])(
    "end with 69 when they never had an answer (%s)",
    async (...words) => {
      const faulty = await prepare();
      faulty.database.answerFatal(GOODBYE);
      const { code, stderr } = await run(faulty, ...words).ended;
      expect(stderr).toMatch("DATABASE_UNREACHABLE");
      expect(code).toBe(69);
    },
    60_000,
  );

  test(
    "are workers that outlive twenty rounds of it, from their first heartbeat",
    async () => {
      const faulty = await prepare();
      const { database } = faulty;
      await expectSurvivors(faulty, async (round) => {
        const before = database.accepted();
        if (round % 2 === 0) database.answerFatal(GOODBYE);
        else database.refuse();
        database.cut();
        database.delay(0);
        await eventually("they try again", async () => database.accepted() > before + 1);
      });
    },
    2 * RECOVERY_MS + 60_000,
  );

  test(
    "are workers that outlive twenty rounds of pg_terminate_backend",
    async () => {
      const faulty = await prepare();
      const others =
        "pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
      await expectSurvivors(faulty, async () => {
        await eventually(
          "they are connected",
          async () => (await countOf(faulty.onlooker, others)) > 0,
        );
        await faulty.onlooker.query(`select pg_terminate_backend(pid) from ${others}`);
      });
    },
    2 * RECOVERY_MS + 60_000,
  );

  test("are workers that hear SIGTERM while they wait for it to start", async () => {
    const faulty = await prepare();
    const worker = await startAsFarAsHeartbeat(faulty);
    const before = faulty.database.accepted();
    faulty.database.answerFatal(GOODBYE);
    faulty.database.cut();
    await worker.said(/trying again/);
    await eventually("it tries again", async () => faulty.database.accepted() > before);
    worker.kill("SIGTERM");
    expect((await worker.ended).code).toBe(0);
  }, 60_000);
});
