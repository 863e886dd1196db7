import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { openDesk, pretendWorker } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";

const windowIn = (from: number, to: number): string =>
  `${[from, to].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)).join("-")} UTC`;
const CLOSED_NOW = windowIn(1, 2);
const OTHER = windowIn(3, 4);
const TO_COME = new Date(Date.now() + 3_600_000).toISOString();

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterAll(() => desk.dispose());
beforeEach(async () => {
  await desk.database.query("delete from nightdesk_data.batches");
  await insertFinishedBatch(desk.database, {
    name: "night",
    jobs: [
      {
        customId: "q",
        input: { kind: "ask", question: "Why?" },
        state: "failed",
        code: "MODEL_NOT_FOUND",
        message: "x",
      },
    ],
  });
  await decided({ windows: [CLOSED_NOW], priority: 7, deadlineAt: TO_COME });
});

/** What was decided about the old batch. */
const decided = ({
  windows,
  priority,
  deadlineAt,
}: {
  readonly windows: readonly string[] | null;
  readonly priority: number;
  readonly deadlineAt: string | null;
}) =>
  desk.database.query(
    "update nightdesk_data.batches set windows = $1, priority = $2, deadline_at = $3 where name = 'night'",
    [windows, priority, deadlineAt],
  );

const rerun = (...flags: readonly string[]) =>
  desk.run("batch", "rerun", "night", "--failed", "--batch-name", "again", ...flags);

async function rerunAndShow(...flags: readonly string[]): Promise<Record<string, unknown>> {
  expect(await rerun(...flags)).toMatchObject({ code: 0 });
  const shown = await desk.run("batch", "show", "again", "--json");
  return JSON.parse(shown.stdout) as Record<string, unknown>;
}

describe("a rerun", () => {
  test("has the windows, the priority and the deadline of the old batch, and says what holds it", async () => {
    const ran = await rerun();
    expect(ran.stderr).toMatch(/Queued 1 job in batch "again"\.\nIt is held: window, until /);
    expect(ran.stderr).toContain('nightdesk batch set "again" --no-windows');
    const shown = await desk.run("batch", "show", "again", "--json");
    expect(JSON.parse(shown.stdout)).toMatchObject({
      windows: [CLOSED_NOW],
      priority: 7,
      deadline_at: TO_COME,
    });
  });

  test("has no deadline where that of the old batch has passed", async () => {
    await decided({ windows: null, priority: 0, deadlineAt: "2026-11-20T06:00:00Z" });
    expect(await rerunAndShow()).toMatchObject({ state: "queued", deadline_at: null });
  });

  test("with --now runs at once, and keeps what was not said otherwise", async () => {
    expect(await rerunAndShow("--now")).toMatchObject({
      state: "queued",
      windows: [],
      priority: 7,
      deadline_at: TO_COME,
    });
  });

  test("takes other windows, another priority and another deadline", async () => {
    const flags = ["--windows", OTHER, "--priority", "-3", "--deadline", "2031-01-01T06:00:00Z"];
    expect(await rerunAndShow(...flags)).toMatchObject({
      state: "held",
      windows: [OTHER],
      priority: -3,
      deadline_at: "2031-01-01T06:00:00.000Z",
    });
  });

  test("goes back to the windows of the desk and to no deadline", async () => {
    expect(await rerunAndShow("--windows", "desk", "--deadline", "none")).toMatchObject({
      state: "queued",
      windows: [],
      deadline_at: null,
    });
    const { rows } = await desk.database.query(
      "select windows from nightdesk_data.batches where name = 'again'",
    );
    expect(rows).toEqual([{ windows: null }]);
  });

  test("is not made where a value can't be read, whose message is that of enqueue", async () => {
    const file = await desk.write("q.jsonl", '{"kind":"ask","question":"Why?"}');
    for (const flags of [
      ["--windows", "22-6 Berlin"],
      ["--windows", OTHER, "--now"],
      ["--deadline", "yesterday"],
      ["--priority", "101"],
    ]) {
      const ran = await rerun(...flags);
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toBe((await desk.run("enqueue", file, ...flags)).stderr);
    }
    const { rows } = await desk.database.query("select name from nightdesk_data.batches");
    expect(rows).toEqual([{ name: "night" }]);
  });
});

test("the help says what is taken over", async () => {
  const { stdout } = await desk.run("batch", "rerun", "--help");
  const help = stdout.replace(/\s+/g, " ");
  expect(help).toContain("desk for the configured ones; default: the old batch's");
  expect(help).toContain("or none; default: the old batch's, if that is still to come");
  expect(help).toContain("nightdesk batch rerun tonight --failed --now --deadline 2h");
});
