import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Night } from "../../../src/shared/views/night.ts";
import { selectNight } from "../../../src/shared/views/night.ts";
import {
  describeNight,
  modelsPicture,
  nightPicture,
} from "../../../src/shared/views/night-picture.ts";
import { openDesk } from "../../producer/desk.ts";
import type { Desk } from "../../producer/desk.ts";
import { insertFinishedBatch } from "../../support/finished-batch.ts";

const HOSTILE = `</svg><script>alert(1)</script><a href="javascript:x" style="x">`;

let desk: Desk;
let batchId = "";
beforeAll(async () => {
  desk = await openDesk();
  await insertFinishedBatch(desk.database, {
    name: HOSTILE,
    createdAt: "2026-11-20T21:00:00Z",
    jobs: [
      { customId: "a", input: { kind: "chat", prompt: "a" }, answer: "A", model: HOSTILE },
      {
        customId: "b",
        input: { kind: "chat", prompt: "b" },
        state: "refused",
        code: "X",
        message: "x",
      },
      {
        customId: "c",
        input: { kind: "chat", prompt: "c" },
        state: "failed",
        code: "X",
        message: "x",
      },
    ],
  });
  const { rows } = await desk.database.query("select batch_id from nightdesk_data.batches");
  batchId = (rows[0] as { batch_id: string }).batch_id;
  // The second began at once and took all night; the third began late.
  await desk.database.query(
    `update nightdesk_data.jobs set finished_at = created_at + interval '8 h' where custom_id in ('b', 'c')`,
  );
  await desk.database.query(
    `update nightdesk_data.jobs set started_at = created_at + interval '4 h' where custom_id = 'c'`,
  );
  await desk.database.query(
    `insert into nightdesk_data.hold_history (batch_id, reason, detail, began_at, since, ended_at)
     select batch_id, 'host', $1, created_at + interval '1 h', created_at + interval '1 h', created_at + interval '3 h'
       from nightdesk_data.batches`,
    [HOSTILE],
  );
});
afterAll(() => desk.dispose());

const statesAt = (night: Night, hours: number) =>
  night.points.find(({ at }) => at.getTime() >= night.from.getTime() + hours * 3_600_000);

describe("a night", () => {
  test("has every job in one state at any time", async () => {
    const night = await selectNight(desk.database, { batchId });
    expect([night.from, night.to].map((at) => at.toISOString())).toEqual([
      "2026-11-20T21:00:00.000Z",
      "2026-11-21T05:00:00.000Z",
    ]);
    const none = { succeeded: 0, refused: 0, failed: 0, running: 0, waiting: 0 };
    expect(statesAt(night, 0)).toMatchObject({ ...none, running: 2, waiting: 1 });
    expect(statesAt(night, 2)).toMatchObject({ ...none, succeeded: 1, running: 1, waiting: 1 });
    expect(statesAt(night, 6)).toMatchObject({ ...none, succeeded: 1, running: 2 });
    expect(statesAt(night, 8)).toMatchObject({ ...none, succeeded: 1, refused: 1, failed: 1 });
    expect(night.models.map(({ prompt_tokens }) => prompt_tokens)).toEqual([200, 100]);
  });

  test("of all batches begins with the first job, and where there is none with its span", async () => {
    const to = new Date("2026-11-21T06:00:00Z");
    const noon = await selectNight(desk.database, { from: new Date("2026-11-20T12:00:00Z"), to });
    expect(noon.from.toISOString()).toBe("2026-11-20T21:00:00.000Z");
    const early = {
      from: new Date("2026-11-19T12:00:00Z"),
      to: new Date("2026-11-20T12:00:00Z"),
    };
    expect(await selectNight(desk.database, early)).toMatchObject({ from: early.from });
  });

  test("of all batches is cut to its span", async () => {
    const night = await selectNight(desk.database, {
      from: new Date("2026-11-20T23:00:00Z"),
      to: new Date("2026-11-21T02:00:00Z"),
    });
    expect(statesAt(night, 0)).toMatchObject({ succeeded: 0, running: 1, waiting: 1 });
    expect(statesAt(night, 3)).toMatchObject({ refused: 0, running: 2, waiting: 0 });
    expect(night.holds).toHaveLength(1);
  });

  test("without a job is empty, and is drawn", async () => {
    const night = await selectNight(desk.database, { batchId: randomUUID() });
    expect(night.holds).toEqual([]);
    expect(String(nightPicture(night, "UTC"))).toContain("at the end no job");
  });
});

describe("the picture of a night", () => {
  test("shows its hours on the clocks of a zone, also over a change of them", () => {
    const from = new Date("2026-10-24T22:00:00Z");
    const to = new Date("2026-10-25T04:00:00Z");
    const none = { succeeded: 0, refused: 0, failed: 0, running: 0, waiting: 1 };
    const points = [from, to].map((at) => ({ at, ...none }));
    const night = { from, to, points, holds: [], models: [] };
    const svg = String(nightPicture(night, "Europe/Berlin"));
    const ticks = [...svg.matchAll(/text-anchor="middle">(\d\d:\d\d)</g)].map(([, label]) => label);
    expect(ticks).toEqual(["01:00", "02:00", "03:00", "04:00"]);
    expect(describeNight(night, "Europe/Berlin")).toContain("2026-10-25 00:00 to 05:00");
  });

  test("names no colour, runs nothing and shows a hostile name as text", async () => {
    const night = await selectNight(desk.database, { batchId });
    for (const svg of [nightPicture(night, "UTC"), modelsPicture(night.models)].map(String)) {
      expect(svg).not.toMatch(/<script|style="|<a |<style/);
      expect(svg).toContain("&lt;/svg&gt;");
      expect(svg.match(/<title id="\w+-title">/g)).toHaveLength(1);
      expect(svg).toMatch(/role="img" aria-labelledby="(\w+)-title \1-desc"/);
      expect(svg.length).toBeLessThan(12_000);
    }
    expect(String(nightPicture(night, "UTC"))).toContain(">host down</text>");
  });
});
