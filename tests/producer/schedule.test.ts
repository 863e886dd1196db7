import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { claimJob } from "../../src/shared/store/jobs/claim-job.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { selectDueInLane } from "../../src/shared/store/jobs/dispatch.ts";
import { FULL_RECORD, MADE_WITH } from "../conformance/jobs.ts";
import { openDesk, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";

describe("the schedule commands", () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.dispose());

  const listed = async () =>
    JSON.parse((await desk.run("schedule", "list", "--json")).stdout) as Record<string, unknown>[];
  const set = (name: string, ...words: string[]) =>
    desk.run("schedule", "set", name, "--cron", "0 1 * * *", "--timezone", "UTC", "--", ...words);

  test("switch one of the shipped configuration on without a change of a file", async () => {
    const { code, stderr } = await desk.run("schedule", "enable", "nightly-index");
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^Schedule nightly-index is on\. It runs next at \d{4}-\d\d-\d\d 01:00\+00:00 \(UTC\)\./,
    );
    expect(stderr).toContain("schedules run while one is. Start it with: nightdesk worker");
    expect(await listed()).toMatchObject([
      {
        name: "nightly-index",
        origin: "file",
        enabled: true,
        next: [{}, {}, {}].map(() => expect.stringMatching(/T01:00:00\.000Z$/)),
      },
    ]);
  });

  test("list what only the configuration knows yet", async () => {
    const { stderr } = await desk.run("schedule", "list");
    expect(stderr).toContain(
      "In the configuration, and taken over when a worker starts: nightly-summaries (off), weekly-digest (off).",
    );
  });

  test("set a schedule, run it by hand, switch it off and remove it", async () => {
    expect((await set("mine", "index", "--no-embed")).stderr).toContain("Schedule mine is set.");
    const run = await desk.run("schedule", "run", "mine", "--json");
    expect(JSON.parse(run.stdout)).toMatchObject({
      ok: true,
      schedule: "mine",
      batch: expect.stringMatching(/^schedule mine \d{4}-\d\d-\d\dT/),
    });
    expect(
      await rowsOf(
        desk.database,
        "select kind, state, input->'command' as command from nightdesk_data.jobs",
      ),
    ).toEqual([{ kind: "command", state: "queued", command: ["index", "--no-embed"] }]);
    expect((await desk.run("schedule", "disable", "mine")).stderr).toContain("mine is off");
    expect(await listed()).toMatchObject([
      { name: "mine", enabled: false, next: [], last_run: { cause: "by_hand", state: "queued" } },
      { name: "nightly-index" },
    ]);
    expect((await desk.run("schedule", "remove", "mine")).code).toBe(0);
    expect((await listed()).map(({ name }) => name)).toEqual(["nightly-index"]);
  });

  test.each([
    [["schedule", "set", "x", "--", "index"], 2, "USAGE_ERROR: --cron is missing"],
    [
      ["schedule", "set", "x", "--cron", "0 25 * * *", "--", "index"],
      1,
      'INPUT_INVALID: Schedule "x": cron does not hold',
    ],
    [
      ["schedule", "set", "x", "--cron", "@daily", "--", "worker"],
      1,
      "command (worker) can't run: expected one of sync, index",
    ],
    [
      ["schedule", "set", "nightly-index", "--cron", "@daily", "--", "index"],
      1,
      "comes from a configuration",
    ],
    [["schedule", "remove", "nightly-index"], 1, "nightdesk schedule disable nightly-index"],
    [["schedule", "enable", "nightly-indx"], 1, 'did you mean "nightly-index"?'],
    [["schedule", "run", "nothing-like-it"], 1, "nightdesk schedule list shows all"],
  ])("say what is wrong with %j", async (words, code, message) => {
    const ran = await desk.run(...words);
    expect(ran.stderr).toContain(message);
    expect(ran.code).toBe(code);
  });

  /** What a worker writes about a command that ended with this exit code. */
  async function endCommands(exitCode: number): Promise<void> {
    const { database } = desk;
    for (const delivery of await selectDueInLane(database, "command", [], 10)) {
      const job = await claimJob(database, delivery, "00000000-0000-4000-8000-000000000001");
      if (job === undefined) continue;
      const summary = { exit_code: exitCode, output: [], messages: [] };
      const answer = { answer: null, scope: null, citations: [], summary };
      await settleRun(
        database,
        { runId: job.runId, runMs: 1, ...MADE_WITH },
        { kind: "succeeded", outcome: { kind: "succeeded", ...answer } },
        FULL_RECORD,
      );
    }
  }

  test.each([
    [3, "partial"],
    [0, "succeeded"],
  ])("the last run is, of a command that ended with %i, %s", async (exitCode, state) => {
    await set(`ends-${exitCode}`, "index");
    await endCommands(0);
    await desk.run("schedule", "run", `ends-${exitCode}`);
    await endCommands(exitCode);
    const row = (await listed()).find(({ name }) => name === `ends-${exitCode}`);
    expect(row).toMatchObject({ last_run: { state, error_code: null } });
    expect((await desk.run("schedule", "list")).stdout).toMatch(new RegExp(`\\d ${state}`));
    await desk.run("schedule", "remove", `ends-${exitCode}`);
  });

  test("a batch says how its end was told", async () => {
    await desk.database.query(
      "update nightdesk_data.batch_end_hook set targets = '{webhook}', origins = '{schedule}'",
    );
    const { stdout } = await desk.run("schedule", "run", "nightly-index");
    await desk.run("batch", "cancel", stdout.trim());
    expect((await desk.run("batch", "show", stdout.trim())).stdout).toContain(
      "told      webhook: not told yet",
    );
    await desk.database.query(
      `update nightdesk_data.jobs set state = 'failed', attempt = 3, error_code = 'HOOK_UNAVAILABLE',
              error_message = 'http://h/*** answered 500', finished_at = now() where kind = 'notify'`,
    );
    expect((await desk.run("batch", "show", stdout.trim())).stdout).toContain(
      "told      webhook: not told: http://h/*** answered 500",
    );
  });
});
