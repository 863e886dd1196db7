import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { findOrCreateBatch } from "../../src/shared/store/jobs/batches.ts";
import { queueScheduleRun } from "../../src/shared/store/schedules/schedule-runs.ts";
import {
  putSchedule,
  replaceFileSchedules,
  SCHEDULES_CHANNEL,
  selectSchedules,
  switchSchedule,
} from "../../src/shared/store/schedules/schedules.ts";
import type { ScheduleEntry } from "../../src/shared/schedules/schedule.ts";
import { runWhenDue } from "../../src/worker/services/schedules.ts";
import type { RunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { answered, askJob, countOf, openBatchOf, rowOf } from "./jobs.ts";
import { eventually, signal } from "./signal.ts";
import { databases, startTopology, topologies } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const entry = (overrides: Partial<ScheduleEntry> = {}): ScheduleEntry => ({
  name: "nightly",
  cron: "0 1 * * *",
  timezone: "Europe/Berlin",
  command: ["index"],
  catchUp: "12h",
  enabled: true,
  ...overrides,
});

const at = (iso: string) => new Date(iso);

describe.each(topologies)("schedules on %s", (name) => {
  let topology: Topology;
  let db: Database;
  const workers: RunningWorker[] = [];
  beforeAll(async () => {
    topology = await startTopology(name, { schedules: [] });
    db = await topology.connect();
  });
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.schedules");
    await db.query("delete from nightdesk_data.schedule_runs");
    await db.query("delete from nightdesk_data.applied_config");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  /** A schedule that has been there since, for tests that look at times of the past. */
  async function put(schedule: ScheduleEntry, since = "2020-01-01T00:00:00Z"): Promise<void> {
    await putSchedule(db, schedule, "set");
    await db.query("update nightdesk_data.schedules set since = $2 where name = $1", [
      schedule.name,
      since,
    ]);
  }
  const only = async () => {
    const [schedule] = await selectSchedules(db);
    if (schedule === undefined) throw new Error("no schedule");
    return schedule;
  };
  const runs = async () =>
    (
      await db.query(
        `select r.planned_at, r.cause, b.name, b.origin, b.state, j.kind, j.input
           from nightdesk_data.schedule_runs r join nightdesk_data.batches b using (batch_id)
           join nightdesk_data.jobs j using (batch_id) order by r.planned_at`,
      )
    ).rows as Record<string, unknown>[];
  const start = async (run: RunJob, concurrency = 1) => {
    workers.push(await startWorker(topology.context, concurrency, () => run));
  };
  const wake = () => db.query(`select pg_notify('${SCHEDULES_CHANNEL}', '')`);

  test("two workers run what was missed once", async () => {
    const done: string[] = [];
    const run: RunJob = async (job) => {
      done.push(job.customId);
      return answered("done");
    };
    await start(run);
    await start(run);
    // A minute of the last hour, so that the next time is far away.
    const minute = new Date(Date.now() - 20 * 60_000).getUTCMinutes();
    await put(entry({ cron: `${minute} * * * *`, timezone: "UTC" }));
    await wake();
    await eventually("it has run", async () => (await runs())[0]?.["state"] === "completed");
    await wake();
    expect(await runs()).toMatchObject([{ cause: "missed" }]);
    expect(done).toEqual(["nightly"]);
  });

  test("a command has a place of its own beside the only job of a worker", async () => {
    const jobDone = signal();
    await start(async ({ input }) => {
      if (input.kind === "command") await jobDone.promise;
      else jobDone.resolve();
      return answered("done");
    });
    const { batchId } =
      (await queueScheduleRun(db, entry(), at("2026-11-21T00:00:00Z"), "tick")) ?? {};
    await eventually(
      "the command runs",
      async () =>
        (await countOf(db, "nightdesk_data.jobs where kind = 'command' and state = 'running'")) ===
        1,
    );
    await openBatchOf(db, [askJob("a")]);
    await eventually(
      "the command has ended",
      async () =>
        (await countOf(db, "nightdesk_data.batches where batch_id = $1 and state = 'completed'", [
          batchId,
        ])) === 1,
    );
  });

  test("a worker that stops hands a command back, and another one runs it", async () => {
    const begun = signal();
    await start(
      (_job, _trace, aborted) =>
        new Promise((_, reject) => {
          begun.resolve();
          aborted.addEventListener("abort", () => {
            reject(aborted.reason as Error);
          });
        }),
    );
    await queueScheduleRun(db, entry(), at("2026-11-21T00:00:00Z"), "tick");
    await begun.promise;
    await Promise.all(workers.splice(0).map((worker) => worker.stop(0)));
    const { rows } = await db.query("select job_id from nightdesk_data.jobs");
    const { job_id: jobId } = rows[0] as { job_id: string };
    expect(await rowOf(db, jobId)).toMatchObject({ state: "queued", attempt: 0 });
    await start(async () => answered("done"));
    await eventually("it has run", async () => (await rowOf(db, jobId))["state"] === "succeeded");
  });

  // What the rows decide knows no queue.
  if (!databases.includes(name)) return;

  test("twenty workers at one time make one run, with its planned time in the words of its command", async () => {
    const schedule = {
      name: "nightly",
      timezone: "Europe/Berlin",
      command: ["summarize", "allowed/**/*.md", "--batch-name", "{schedule} {date} {planned}"],
    };
    const plannedAt = at("2026-10-25T00:30:00Z");
    const made = await Promise.all(
      Array.from({ length: 20 }, () => queueScheduleRun(db, schedule, plannedAt, "tick")),
    );
    expect(made.filter((run) => run !== undefined)).toHaveLength(1);
    expect(await runs()).toEqual([
      {
        planned_at: plannedAt,
        cause: "tick",
        name: "schedule nightly 2026-10-25T02:30:00+02:00",
        origin: "schedule",
        state: "open",
        kind: "command",
        input: {
          kind: "command",
          schedule: "nightly",
          planned_at: "2026-10-25T00:30:00.000Z",
          command: [
            "summarize",
            "allowed/**/*.md",
            "--batch-name",
            "nightly 2026-10-25 2026-10-25T02:30:00+02:00",
          ],
        },
      },
    ]);
  });

  test("the batch of a run takes no jobs beside its command", async () => {
    const made = await queueScheduleRun(db, entry(), at("2026-11-21T00:00:00Z"), "tick");
    await expect(findOrCreateBatch(db, made?.batch ?? "", "file")).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("is the run of a schedule"),
    });
  });

  test("a time that has come is run once, under its planned time", async () => {
    await put(entry());
    expect(await runWhenDue(db, await only(), at("2026-11-21T00:00:00Z"))).toMatchObject({
      batch: "schedule nightly 2026-11-21T01:00:00+01:00",
      cause: "tick",
    });
    expect(await runWhenDue(db, await only(), at("2026-11-21T00:00:04Z"))).toBeUndefined();
  });

  test.each([
    ["that has just come runs, whatever catch_up says", "0", "2026-11-21T00:00:05Z", "tick"],
    ["a minute ago still does", "0", "2026-11-21T00:01:00Z", "tick"],
    ["that was missed is never run with catch_up 0", "0", "2026-11-21T00:01:01Z", undefined],
    [
      "that was missed runs while it is no older than catch_up",
      "12h",
      "2026-11-21T12:00:00Z",
      "missed",
    ],
    ["that was missed and is older does not run", "12h", "2026-11-21T12:00:01Z", undefined],
  ])("a time %s", async (_, catchUp, now, cause) => {
    await put(entry({ catchUp }));
    const made = await runWhenDue(db, await only(), at(now));
    expect(made?.cause).toBe(cause);
    expect((await runs()).map((run) => run["cause"])).toEqual(cause === undefined ? [] : [cause]);
  });

  test("several missed times make one run, of the last of them", async () => {
    await put(entry({ catchUp: "7d" }));
    for (const minute of ["05", "06"]) {
      await runWhenDue(db, await only(), at(`2026-11-21T00:${minute}:00Z`));
    }
    expect(await runs()).toMatchObject([{ planned_at: at("2026-11-21T00:00:00Z") }]);
  });

  test("times before a schedule was there, or was switched on, were not missed", async () => {
    await put(entry(), "2026-11-21T00:00:01Z");
    await runWhenDue(db, await only(), at("2026-11-21T09:00:00Z"));
    expect(await runs()).toEqual([]);
    await switchSchedule(db, "nightly", "off");
    await switchSchedule(db, "nightly", "on");
    expect(Date.now() - (await only()).since.getTime()).toBeLessThan(60_000);
  });

  test("a changed file replaces the schedules of the file, however many workers start", async () => {
    await put(entry({ name: "by-hand" }));
    const before = [entry({ name: "a" }), entry({ name: "b" }), entry({ name: "by-hand" })];
    const leftOut = await Promise.all(
      Array.from({ length: 5 }, () => replaceFileSchedules(db, before)),
    );
    expect(leftOut).toEqual(Array.from({ length: 5 }, () => ["by-hand"]));
    await switchSchedule(db, "b", "off");
    await db.query("update nightdesk_data.schedules set since = '2020-01-01' where name = 'b'");
    const after = [entry({ name: "b" }), entry({ name: "c", cron: "@daily" })];
    expect(await replaceFileSchedules(db, after)).toEqual([]);
    expect(await selectSchedules(db)).toMatchObject([
      { name: "b", origin: "file", enabled: false, since: at("2020-01-01T00:00:00Z") },
      { name: "by-hand", origin: "set" },
      { name: "c", origin: "file", cron: "@daily" },
    ]);
  });

  test("what was switched by hand follows its entry again when that says something else", async () => {
    await replaceFileSchedules(db, [entry({ enabled: false })]);
    await switchSchedule(db, "nightly", "on");
    await replaceFileSchedules(db, [entry({ enabled: false, catchUp: "1h" })]);
    expect(await only()).toMatchObject({ enabled: true, catchUp: "1h" });
    await replaceFileSchedules(db, [entry()]);
    await replaceFileSchedules(db, [entry({ enabled: false })]);
    expect(await only()).toMatchObject({ enabled: false });
  });

  // What waits for the next minute waits for it once.
  if (name !== "embedded") return;

  test("a row with times that nobody can read keeps no other schedule from its own, and one that is off has none", async () => {
    await db.query(
      `insert into nightdesk_data.schedules (name, origin, cron, timezone, command, catch_up, enabled)
       values ('bad-cron', 'set', 'often', 'UTC', '{index}', '12h', true),
              ('bad-zone', 'set', '0 1 * * *', 'Nowhere', '{index}', 'ages', true),
              ('control', 'set', E'0 1 * * \\u001b[31m', 'UTC', E'{"a\\nb"}', '12h', true)`,
    );
    await put(entry({ name: "asleep", cron: "* * * * *", enabled: false }));
    await put(entry({ cron: "* * * * *" }));
    const done = new Set<string>();
    await start(async ({ customId }) => {
      done.add(customId);
      return answered("done");
    });
    await eventually("the sound one has run", async () => done.size > 0);
    expect([...done]).toEqual(["nightly"]);
  });

  test("two workers run each time once, when it comes, and nobody has to wake them", async () => {
    const done: string[] = [];
    const run: RunJob = async (job) => {
      done.push(job.batchId);
      return answered("done");
    };
    await put(entry({ cron: "* * * * *" }));
    await start(run);
    await start(run);
    let ended: readonly Record<string, unknown>[] = [];
    await eventually(
      "it has run at the minute that was, and at the next",
      async () => {
        ended = (await runs()).filter(({ state }) => state === "completed");
        return ended.length >= 2;
      },
      90_000,
    );
    const [first, second] = ended.map(({ planned_at: planned }) => (planned as Date).getTime());
    expect(second).toBe((first ?? 0) + 60_000);
    expect(ended).toMatchObject([{ cause: "tick" }, { cause: "tick" }]);
    expect(new Set(done).size).toBe(done.length);
  }, 120_000);
});
