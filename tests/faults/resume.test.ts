import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { describeOn } from "../support/describe-on.ts";
import { startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";
import { askJob, countOf, expireLease, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually, signal } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleMessage, Script } from "../doubles/ollama/double-model.ts";

/** Enough for two layers of summaries over the parts of the file. */
const LINES = 3_000;
const PATH = "allowed/corpus/long.md";
const LONG = Array.from(
  { length: LINES },
  (_, line) =>
    `Entry ${line}: the ferry left the quay and came back at dusk, as on any other day.\n`,
).join("");
/** The call during which the run is disturbed. */
const DISTURBED = 12;

/** The same words for the same evidence, so that a disturbed run can be held against one that was not. */
function summaryOf(messages: readonly DoubleMessage[]): string {
  const shown = messages.map(({ content }) => content).join("\n");
  const [, first = "none"] = /(Entry \d+|Days from \w+ \d+)/.exec(shown) ?? [];
  return `Days from ${first.replace("Days from ", "")} on were alike.`;
}

describeOn("redis+postgres", "a tree of summaries that is disturbed", (name) => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  let asked = 0;
  let disturb: (call: number) => Partial<Script> = () => ({});

  async function prepare(): Promise<World> {
    asked = 0;
    const double = await startOllamaDouble({
      models: [
        {
          name: "writer",
          contextLength: 4_096,
          respond(messages) {
            asked += 1;
            return { text: summaryOf(messages), ...disturb(asked) };
          },
        },
      ],
    });
    closers.push(() => double.close());
    const topology = await startTopology(name, {
      model: { provider: "ollama", name: "writer", base_url: double.url, num_ctx: 4_096 },
      // The undisturbed run must not take over what the disturbed one was told.
      runs: { reuse: "never" },
      log: { level: "info" },
    });
    closers.push(() => topology.dispose());
    await writeFile(join(topology.workroot, PATH), LONG);
    const db = await topology.connect();
    closers.push(() => db.end());
    return { topology, db, double };
  }

  async function queueSummary({ db }: World): Promise<string> {
    const job = askJob("long", { input: { kind: "summarize", path: PATH } });
    const { jobIds } = await openBatchOf(db, [job]);
    return jobIds[0] ?? "";
  }

  async function startWorker({ topology }: World): Promise<Running> {
    const worker = startBin(["worker"], { cwd: topology.workroot });
    closers.push(async () => {
      worker.kill("SIGKILL");
      await worker.ended;
    });
    await worker.said(/worker ready/);
    return worker;
  }

  const isIn = ({ db }: World, jobId: string, state: string) =>
    eventually(`${jobId} is ${state}`, async () => (await rowOf(db, jobId))["state"] === state);

  const makeDue = async ({ db }: World, jobId: string) => {
    await db.query("update nightdesk_data.jobs set due_at = now() where job_id = $1", [jobId]);
    await db.query("select pg_notify('nightdesk_jobs', '')");
  };

  /** Waits until the disturbed call is under way and all calls before it are committed. */
  async function untilDisturbed({ db }: World, jobId: string): Promise<void> {
    await eventually(
      "the call is under way",
      async () =>
        asked === DISTURBED &&
        (await countOf(db, "nightdesk_data.model_calls where job_id = $1", [jobId])) ===
          DISTURBED - 1,
    );
  }

  /** A hold on the disturbed call, which only the end of its request lifts. */
  const hold = () => {
    const held = signal();
    disturb = (call) => (call === DISTURBED ? { after: held.promise } : {});
  };

  test("by kill -9 goes on at the call where it stopped", async () => {
    const world = await prepare();
    hold();
    const jobId = await queueSummary(world);
    const first = await startWorker(world);
    await untilDisturbed(world, jobId);
    first.kill("SIGKILL");
    await first.ended;
    await expireLease(world.db, jobId);
    await startWorker(world);
    await isIn(world, jobId, "succeeded");

    expectEachPromptOnce(world.double);
    expect(await runsOf(world.db, jobId)).toEqual([
      { state: "lost", asked: 0, reused: 0 },
      { state: "succeeded", asked: expect.any(Number), reused: DISTURBED - 1 },
    ]);
    await expectSameAsUndisturbed(world, jobId);
    const replayed = await runCommand(["runs", "replay", jobId], {
      cwd: world.topology.workroot,
    });
    expect(replayed.code).toBe(0);
  }, 240_000);

  /** The same file under another job, which nothing disturbs. */
  async function expectSameAsUndisturbed(world: World, jobId: string): Promise<void> {
    const before = world.double.requests.length;
    const other = await queueSummary(world);
    await isIn(world, other, "succeeded");
    const answers = await Promise.all([jobId, other].map((id) => answerOf(world.db, id)));
    expect(answers[0]).toBe(answers[1]);
    const chats = world.double.requests.slice(before).filter(isChat).length;
    const [, second] = await runsOf(world.db, jobId);
    expect(second?.asked).toBe(chats - (DISTURBED - 1));
    expect(chats).toBeGreaterThan(2 * DISTURBED);
  }

  test("by a second SIGTERM, which hands it back, goes on at the call where it stopped", async () => {
    const world = await prepare();
    hold();
    const jobId = await queueSummary(world);
    const first = await startWorker(world);
    await untilDisturbed(world, jobId);
    first.kill("SIGTERM");
    await first.said(/stopping/);
    first.kill("SIGTERM");
    expect((await first.ended).code).toBe(0);
    await startWorker(world);
    await isIn(world, jobId, "succeeded");

    expectEachPromptOnce(world.double);
    expect(await runsOf(world.db, jobId)).toEqual([
      { state: "handed_back", asked: DISTURBED - 1, reused: 0 },
      { state: "succeeded", asked: expect.any(Number), reused: DISTURBED - 1 },
    ]);
  }, 240_000);

  test.each([
    // A host that is busy is asked a few times before the job is parked.
    { status: 503, times: 4, waits: "parked", ended: "parked" },
    { status: 500, times: 1, waits: "parked", ended: "parked" },
  ])(
    "by a host that says $status goes on at the call where it stopped",
    async ({ status, times, waits, ended }) => {
      const world = await prepare();
      disturb = (call) =>
        call >= DISTURBED && call < DISTURBED + times
          ? { failure: { status, error: "something broke" } }
          : {};
      const jobId = await queueSummary(world);
      await startWorker(world);
      await eventually("the first run has ended", async () => {
        const { state, error_code: code } = await rowOf(world.db, jobId);
        return state === waits && code !== null;
      });
      await makeDue(world, jobId);
      await isIn(world, jobId, "succeeded");

      expectEachPromptOnce(world.double, times);
      expect(await runsOf(world.db, jobId)).toEqual([
        { state: ended, asked: DISTURBED - 1, reused: 0 },
        { state: "succeeded", asked: expect.any(Number), reused: DISTURBED - 1 },
      ]);
      expect(await tokensOf(world.db, jobId)).toEqual(await tokensOfCalls(world.db, jobId));
    },
    240_000,
  );
});

type World = {
  readonly topology: Topology;
  readonly db: Database;
  readonly double: OllamaDouble;
};

const isChat = ({ path }: { readonly path: string }): boolean => path === "/api/chat";

/** Every prompt was answered once; the one that was disturbed was not answered `times` before. */
function expectEachPromptOnce({ requests }: OllamaDouble, times = 1): void {
  const chats = requests.filter(isChat);
  const promptOf = (request: (typeof chats)[number]) => JSON.stringify(request.body["messages"]);
  const done = chats.filter(({ state }) => state === "done").map(promptOf);
  expect(new Set(done).size).toBe(done.length);
  const broken = chats.filter(({ state }) => state !== "done").map(promptOf);
  expect(broken).toHaveLength(times);
  expect(new Set(broken).size).toBe(1);
  expect(done).toContain(broken[0]);
}

async function runsOf(
  db: Database,
  jobId: string,
): Promise<readonly { state: string; asked: number; reused: number }[]> {
  const { rows } = await db.query(
    `select r.state, (count(*) filter (where u.origin = 'asked'))::int as asked,
            (count(*) filter (where u.origin = 'reused'))::int as reused
       from nightdesk_data.runs r left join nightdesk_data.run_calls u using (run_id)
      where r.job_id = $1 group by r.run_id order by r.started_at`,
    [jobId],
  );
  return rows as { state: string; asked: number; reused: number }[];
}

async function answerOf(db: Database, jobId: string): Promise<unknown> {
  const { rows } = await db.query("select answer from nightdesk.results where job_id = $1", [
    jobId,
  ]);
  return (rows as { answer: unknown }[])[0]?.answer;
}

/** What the runs of a job were charged: a call that is taken again costs nothing again. */
async function tokensOf(db: Database, jobId: string): Promise<unknown> {
  const { rows } = await db.query(
    "select sum(prompt_tokens)::int as tokens from nightdesk_data.runs where job_id = $1",
    [jobId],
  );
  return rows;
}

async function tokensOfCalls(db: Database, jobId: string): Promise<unknown> {
  const { rows } = await db.query(
    "select sum(prompt_tokens)::int as tokens from nightdesk_data.model_calls where job_id = $1",
    [jobId],
  );
  return rows;
}
