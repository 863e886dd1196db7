import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { enterHost } from "../../src/shared/store/hosts/hosts.ts";
import { openDesk } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";

const HOST = "http://models:11434";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterEach(() => desk.database.query("delete from nightdesk_data.batches"));
afterAll(() => desk.dispose());

type Span = {
  readonly reason: string;
  readonly detail?: string;
  readonly from: string;
  readonly to: string | null;
  readonly times?: number;
};

/** A batch of the night of 21 November, whose job was worked between 23:00 and 07:00, held at times of the day after. */
async function nightOf(name: string, spans: readonly Span[]): Promise<void> {
  await insertFinishedBatch(desk.database, {
    name,
    createdAt: "2026-11-21T21:00:00Z",
    jobs: [{ customId: "a", input: { kind: "ask", question: "What of it?" }, answer: "This." }],
  });
  await desk.database.query(
    `update nightdesk_data.jobs set started_at = '2026-11-21 23:00Z', finished_at = '2026-11-22 07:00Z'
      where batch_id = (select batch_id from nightdesk_data.batches where name = $1)`,
    [name],
  );
  await desk.database.query(
    `insert into nightdesk_data.hold_history (batch_id, reason, detail, began_at, since, ended_at, times, held)
     select b.batch_id, s.reason, s.detail, s."from", s."from", s."to", coalesce(s.times, 1),
            coalesce((s."to" - s."from") / coalesce(s.times, 1), '0')
       from nightdesk_data.batches b,
            jsonb_to_recordset($2) as s (reason text, detail text, "from" timestamptz, "to" timestamptz, times integer)
      where b.name = $1`,
    [name, JSON.stringify(spans)],
  );
}

const at = (time: string) => `2026-11-22T${time}Z`;
const NIGHT: readonly Span[] = [
  {
    reason: "window",
    detail: "23:00-06:00 UTC",
    from: "2026-11-21T21:00:00Z",
    to: "2026-11-21T23:00:00Z",
  },
  { reason: "host", detail: HOST, from: at("02:10:00"), to: at("03:40:00") },
  {
    reason: "budget",
    detail: "calls of the batch",
    from: at("04:00:00"),
    to: at("05:00:00"),
    times: 4,
  },
];

async function reportOf(name: string): Promise<{ page: string; text: string }> {
  const { stdout } = await desk.run("batch", "report", name, "--json", "--force");
  const { html, markdown } = JSON.parse(stdout) as { html: string; markdown: string };
  return { page: await readFile(html, "utf8"), text: await readFile(markdown, "utf8") };
}

describe("batch show", () => {
  test("tells when and why the batch was held, and for how long in all", async () => {
    await nightOf("tonight", NIGHT);
    const { stdout } = await desk.run("batch", "show", "tonight");
    expect(stdout).toContain(
      `
held      2026-11-21 21:00:00Z to 23:00:00Z, 2 h 0 min: window closed: 23:00-06:00 UTC
          2026-11-22 02:10:00Z to 03:40:00Z, 1 h 30 min: host down: ${HOST}
          2026-11-22 04:00:00Z to 05:00:00Z, 15 min 0 s: no room in the budget: calls of the batch, 4 times
          3 h 45 min in all
`,
    );
    const shown = await desk.run("batch", "show", "tonight", "--json");
    expect(JSON.parse(shown.stdout)).toMatchObject({
      pinned: null,
      holds: [
        { reason: "window", times: 1, held_ms: 7_200_000 },
        {
          reason: "host",
          detail: HOST,
          began_at: "2026-11-22T02:10:00.000Z",
          ended_at: "2026-11-22T03:40:00.000Z",
          times: 1,
          held_ms: 5_400_000,
        },
        { reason: "budget", times: 4, held_ms: 900_000 },
      ],
    });
  });

  test("names a host that has taken calls and gives no answer", async () => {
    const asked = await desk.run("ask", "What of it?", "--json");
    const { batch_id: batch } = JSON.parse(asked.stdout) as { batch_id: string };
    await enterHost(desk.database, { host: HOST, provider: "ollama", parallel: 3 });
    await desk.database.query(
      `update nightdesk_data.host_slots
          set ticket = gen_random_uuid(), run_id = gen_random_uuid(), in_use = 1,
              taken_at = clock_timestamp() - case slot when 3 then interval '10 s' else interval '125 s' end
        where slot <= 3`,
    );
    const { stdout } = await desk.run("batch", "show", batch, "--json");
    const shown = JSON.parse(stdout) as { obstacles: readonly { what: string; message: string }[] };
    const [silent] = shown.obstacles.filter(({ what }) => what === "host_silent");
    // It was 125 s ago when the row was written, and no less since.
    expect(silent?.message).toContain(`${HOST} has 2 calls without an answer for 2 min `);
    expect(silent?.message).toMatch(/ for 2 min (?:[5-9]|[1-5]\d) s:/);
    await desk.database.query("delete from nightdesk_data.hosts");
  });

  test("tells the last five of many, and counts the others", async () => {
    const spans = Array.from({ length: 9 }, (_, hour) => ({
      reason: "paused",
      from: at(`0${hour}:00:00`),
      to: at(`0${hour}:10:00`),
    }));
    await nightOf("often", spans);
    const { stdout } = await desk.run("batch", "show", "often");
    expect(stdout.match(/: paused$/gm)).toHaveLength(5);
    expect(stdout).toContain("          1 h 30 min in all, with 4 spans before these\n");
  });

  test("tells since when it is held, and says nothing of a batch that never was", async () => {
    const file = await desk.write("jobs.jsonl", `{"kind":"ask","question":"What?"}`);
    await desk.run("enqueue", file, "--batch-name", "free");
    expect((await desk.run("batch", "show", "free")).stdout).not.toContain("held");
    await desk.run("batch", "pause", "free");
    expect((await desk.run("batch", "show", "free")).stdout).toMatch(
      /^held {6}since [-\d]{10} [:\d]{8}Z, [\d.]+ m?s: paused$/m,
    );
  });

  test("says what keeps a batch from retention, until that is over", async () => {
    await nightOf("kept", []);
    const kept = async () => (await desk.run("batch", "show", "kept")).stdout;
    await desk.run("batch", "pin", "kept");
    expect(await kept()).toContain("kept      pinned, whatever its age\n");
    await desk.run("batch", "pin", "kept", "--until-exported");
    expect(await kept()).toContain("kept      pinned until exported\n");
    const shown = await desk.run("batch", "show", "kept", "--json");
    expect(JSON.parse(shown.stdout)).toMatchObject({ pinned: "until_exported", holds: [] });
    await desk.run("batch", "export", "kept", "--output", join(desk.workroot, "kept.jsonl"));
    expect(await kept()).not.toContain("pinned");
  });
});

/** On a phone each cell says its column. */
const withoutTitles = (page: string): string => page.replace(/ data-title="[^"]*"/g, "");
const withoutStyle = (page: string): string => page.replace(/<style>[^]*?<\/style>/g, "");

describe("the morning report", () => {
  test("says when and why the night stood still, and what of its duration that was", async () => {
    await nightOf("tonight", NIGHT);
    const { page, text } = await reportOf("tonight");
    for (const form of [page, text]) {
      expect(form).toContain("When it stood still, and why");
      expect(form).toContain(
        "It was held for 3 h 45 min in all: window closed 2 h 0 min, host down 1 h 30 min, no room in the budget 15 min 0 s.",
      );
      expect(form).toContain("Of that, 2 h 0 min passed before its first job began.");
    }
    expect(text).toContain("- Took: 8 h 0 min, 1 h 45 min of it held\n- Stood still: 3 h 45 min\n");
    expect(text).toContain(
      `| 2026-11-22 02:10:00 | 2026-11-22 03:40:00 | 1 h 30 min | host down: \`${HOST}\` |`,
    );
    expect(withoutTitles(page)).toContain(
      '<td>2026-11-22 04:00:00</td><td>2026-11-22 05:00:00</td><td>15 min 0 s</td><td class="why">no room in the budget: calls of the batch, 4 times</td>',
    );
  });

  test("has no such part for a batch that never was held", async () => {
    await nightOf("quick", []);
    const { page, text } = await reportOf("quick");
    for (const form of [withoutStyle(page), text]) expect(form).not.toMatch(/still|held/);
    expect(text).toContain("- Took: 8 h 0 min\n");
  });

  test("shows the longest of many spans, and how to see the others", async () => {
    const spans = Array.from({ length: 24 }, (_, index) => ({
      reason: "paused",
      from: at(`00:${String(index * 2).padStart(2, "0")}:00`),
      to: at(`00:${String(index * 2).padStart(2, "0")}:${String(index + 10)}`),
    }));
    await nightOf("often", spans);
    const { page, text } = await reportOf("often");
    expect(withoutTitles(page).match(/<td class="why">paused<\/td>/g)).toHaveLength(20);
    expect(text).toContain("… and 4 shorter");
    expect(text).not.toContain("00:06:00 |");
    const [, sql = ""] = /```sql\n(select \* from batch_holds .*)\n```/.exec(text) ?? [];
    const { stdout } = await desk.run("sql", sql, "--format", "json");
    expect(JSON.parse(stdout)).toHaveLength(24);
  });

  test("shows a hostile name of a host as text", async () => {
    const detail = `http://<script>alert(1)</script>|x`;
    await nightOf("tonight", [
      { ...NIGHT[1], reason: "host", detail, from: at("02:10:00"), to: null },
    ]);
    const { page, text } = await reportOf("tonight");
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;|x");
    expect(withoutTitles(page)).toContain("<td>still held</td>");
    expect(text).not.toMatch(/(?<!\\)<script/);
    expect(text).toContain("/script\\>\\|x");
  });
});
