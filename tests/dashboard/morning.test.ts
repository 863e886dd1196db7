import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { queueAdHoc } from "../../src/shared/store/jobs/queue-ad-hoc.ts";
import { putSchedule } from "../../src/shared/store/schedules/schedules.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

const agoOf = (hours: number): string => new Date(Date.now() - hours * 3_600_000).toISOString();
const ask = (question: string) => ({ kind: "ask", question }) as const;
const headings = (text: string): readonly string[] =>
  [...text.matchAll(/<h[12][^>]*>([^<]+)/g)].map(([, words]) => words?.trim() ?? "");

describeOnPostgres("the first page", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await openDesk();
    await insertFinishedBatch(desk.db, {
      name: "a week ago",
      createdAt: agoOf(7 * 24),
      jobs: [{ customId: "old", input: ask("Old?"), answer: "Old." }],
    });
    await insertFinishedBatch(desk.db, {
      name: "all well",
      createdAt: agoOf(9),
      jobs: [{ customId: "one", input: ask("One?"), answer: "One." }],
    });
    const jobs = await insertFinishedBatch(desk.db, {
      name: "notes <b>",
      createdAt: agoOf(10),
      jobs: [
        { customId: "good", input: ask("Good?"), answer: "Good." },
        {
          customId: "gone",
          input: { kind: "summarize", path: "gone.md" },
          state: "refused",
          code: "FILE_NOT_FOUND",
          message: "gone.md is not there.",
        },
      ],
    });
    await desk.db.query("update nightdesk_data.runs set grade = 'unconfirmed' where job_id = $1", [
      jobs.get("good"),
    ]);
  });
  afterAll(() => desk.close());

  test("is the morning: the last night, what needs somebody first, with its grades and what to do", async () => {
    const { text } = await desk.browse("/");
    expect(headings(text).slice(0, 2)).toEqual(["Morning", "Last night"]);
    expect(text).toContain('<a href="/" aria-current="page">Morning</a>');
    const [, night = ""] = /<h2 id="last">(.*?)<\/section>/s.exec(text) ?? [];
    expect(night.indexOf("notes &lt;b&gt;")).toBeLessThan(night.indexOf("all well"));
    expect(night).not.toContain("a week ago");
    expect(night).toContain("<strong>1 of 2 jobs</strong> succeeded");
    expect(night).toContain('<span class="state s-unconfirmed">1 unconfirmed</span>');
    expect(night).toMatch(/1 refused<\/a> <code class="s-refused">FILE_NOT_FOUND<\/code> No file/);
    expect(night).toContain("<strong>Correct the path;");
    // A schedule without problems has no card, and counts.
    await desk.db.query(
      "update nightdesk_data.batches set origin = 'schedule' where name = 'all well'",
    );
    const { text: lead } = await desk.browse("/");
    await desk.db.query(
      "update nightdesk_data.batches set origin = 'file' where name = 'all well'",
    );
    expect(lead).toContain("Last night 2 of 3 jobs succeeded.");
    const [, before = ""] = /<h2 id="ended">(.*?)<\/section>/s.exec(text) ?? [];
    expect(before).toContain("a week ago");
    expect(before).toContain('<td class="n" data-title="failed"><span class="zero">0</span></td>');
  });

  test("leads to a batch that has ended, of which nothing can be cancelled", async () => {
    const found = await desk.db.query(
      "select batch_id from nightdesk_data.batches where name = 'a week ago'",
    );
    const [{ batch_id: id } = { batch_id: "" }] = found.rows as { batch_id: string }[];
    const done = await desk.browse(`/batches/${id}/cancel`, {});
    const { text } = await desk.browse(String(done.headers.location));
    expect(text).toContain("Batch a week ago has ended: there was nothing to cancel.");
  });

  test("shows a question by its words, folded, and in no list of batches", async () => {
    await queueAdHoc(desk.db, ask("When does the <ferry> leave?"));
    for (const path of ["/", "/batches"]) {
      const { text } = await desk.browse(path);
      const [, asked = ""] = /<details id="asked-today"(.*?)<\/details>/s.exec(text) ?? [];
      expect(asked).not.toMatch(/^[^>]* open/);
      expect(asked).toContain("<strong>Asked today</strong>: 1");
      expect(asked).toMatch(/<a href="\/runs\/[^"]+">When does the &lt;ferry&gt; leave\?<\/a>/);
      expect(text).not.toContain("ask 20");
    }
    await desk.db.query(
      "update nightdesk_data.batches set created_at = now() - interval '3 days' where origin = 'ad_hoc'",
    );
    await desk.db.query(
      "update nightdesk_data.jobs set created_at = now() - interval '3 days' where input->>'question' like 'When%'",
    );
    expect((await desk.browse("/")).text).not.toContain("ferry");
    expect((await desk.browse("/batches")).text).toContain("<strong>Asked before</strong>: 1");
    await desk.db.query("delete from nightdesk_data.batches where origin = 'ad_hoc'");
  });

  test("names what waits for a person, and a hold by the clocks of the page", async () => {
    await desk.db.query(
      `insert into nightdesk_data.batches (batch_id, name, state, format, hold_reason, paused_at)
       values (gen_random_uuid(), 'stopped', 'open', 'native', 'paused', now())`,
    );
    await desk.db.query(
      `insert into nightdesk_data.batches (batch_id, name, state, format, hold_reason, hold_until)
       values (gen_random_uuid(), 'tonight', 'open', 'native', 'window', '2099-01-01T22:00:00Z')`,
    );
    const { text } = await desk.browse("/");
    const [, waits = ""] = /<h2 id="waits">(.*?)<\/section>/s.exec(text) ?? [];
    expect(waits).toContain("nightdesk batch resume");
    expect(waits).not.toContain(">tonight<");
    expect(text).toContain("held: window closed, until 2099-01-01 22:00<");
    const rows = [
      ...(await desk.browse("/batches")).text.matchAll(/<th scope="row"><a[^>]*>([^<]+)/g),
    ];
    expect(rows.map(([, name]) => name)).toEqual([
      "stopped",
      "notes &lt;b&gt;",
      "tonight",
      "all well",
      "a week ago",
    ]);
    await desk.db.query("delete from nightdesk_data.batches where state = 'open'");
  });

  test("is tonight while something runs, and what runs stands first", async () => {
    await insertFinishedBatch(desk.db, {
      name: "at it",
      createdAt: agoOf(1),
      jobs: [
        { customId: "x", input: ask("X?"), answer: "X." },
        { customId: "y", input: ask("Y?"), answer: "Y." },
      ],
    });
    await desk.db.query(
      `with b as (update nightdesk_data.batches set state = 'open', finished_at = null where name = 'at it' returning batch_id)
       update nightdesk_data.jobs j set state = 'queued', finished_at = null, started_at = null, run_id = null, attempt = 0
         from b where j.batch_id = b.batch_id and j.custom_id = 'y'`,
    );
    const { text } = await desk.browse("/");
    expect(headings(text)[0]).toBe("Tonight");
    expect(text.indexOf('id="at-work"')).toBeLessThan(text.indexOf('id="last"'));
    expect((await desk.browse("/batches")).text).toContain('<a href="/">Tonight</a>');
  });

  test("shows an open batch behind thirty newer ones, and says of an old night that it is not the last", async () => {
    await desk.db.query(
      `insert into nightdesk_data.batches (name, state, finished_at)
       select 'newer ' || n, 'completed', now() from generate_series(1, 30) n`,
    );
    const { text } = await desk.browse("/");
    expect(/<h2 id="at-work">(.*?)<\/section>/s.exec(text)?.[1]).toContain("at it");
    await desk.db.query(
      "update nightdesk_data.batches set finished_at = finished_at - interval '3 days' where finished_at is not null",
    );
    const { text: later } = await desk.browse("/");
    expect(headings(later)).toContain("The last night with work");
    expect(later).toMatch(/In the last night with work \d+ of \d+ jobs? succeeded\./);
  });
});

describeOnPostgres("schedules on their page", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await openDesk();
    const command = ["index"];
    const entry = { cron: "0 1 * * *", timezone: "UTC", command, catchUp: "12h", enabled: true };
    await putSchedule(desk.db, { name: "nightly", ...entry }, "set");
    await putSchedule(
      desk.db,
      { name: "broken", ...entry, command: ["worker"], enabled: false },
      "set",
    );
  });
  afterAll(() => desk.close());

  const said = async (path: string, form: Readonly<Record<string, string>>): Promise<string> => {
    const done = await desk.browse(path, form);
    expect(done.status).toBe(303);
    const { text } = await desk.browse(String(done.headers.location));
    return /role="status">([^<]*)<\/p>/.exec(text)?.[1] ?? "";
  };

  test("say when they run next, are switched, and run at once, and each is written down", async () => {
    const { text } = await desk.browse("/schedules");
    expect(text).toMatch(/data-title="next"><time datetime="[^"]+T01:00:00.000Z">/);
    expect(await said("/schedules/nightly/switch", { to: "off" })).toContain("nightly is off");
    expect((await desk.browse("/schedules")).text).toContain('aria-label="Switch nightly on"');
    expect(await said("/schedules/nightly/switch", { to: "on" })).toBe("Schedule nightly is on.");
    expect(await said("/schedules/nightly/run", {})).toMatch(/^Queued as schedule nightly 20/);
    const { rows } = await desk.db.query(
      "select action, outcome, batch_id is not null as made from nightdesk.operator_actions order by action_id",
    );
    expect(rows).toEqual([
      { action: "switch-schedule", outcome: "done", made: false },
      { action: "switch-schedule", outcome: "done", made: false },
      { action: "run-schedule", outcome: "done", made: true },
    ]);
    const { rows: jobs } = await desk.db.query("select kind from nightdesk_data.jobs");
    expect(jobs).toEqual([{ kind: "command" }]);
  });

  test("are not switched on where they can't run, and one that is gone is not found", async () => {
    expect(await said("/schedules/broken/switch", { to: "on" })).toContain("can&#39;t run");
    expect(await said("/schedules/broken/run", {})).toContain("can&#39;t run");
    expect((await desk.browse("/schedules/..%2Fx/run", {})).status).toBe(404);
  });
});

describeOnPostgres("whose clocks a page shows", () => {
  const timesWith = async (desk: TestDesk, cookie: string): Promise<string> =>
    (await desk.ask({ path: "/batches", headers: { accept: "text/html", cookie } })).text;

  describe.each([
    ["those of the browser, where nothing says whose", null, "<footer><span>Asia/Tokyo</span>"],
    ["those that are configured, whatever a browser says", "UTC", "<footer><span>UTC</span>"],
  ])("%s", (_, zone, shown) => {
    let desk: TestDesk;
    beforeAll(async () => {
      desk = await openDesk({ dashboard: { zone } });
      const jobs = [{ customId: "one", input: ask("One?"), answer: "One." }];
      await insertFinishedBatch(desk.db, {
        name: "dated",
        createdAt: "2026-11-20T21:00:00Z",
        jobs,
      });
    });
    afterAll(() => desk.close());

    test("in the foot and in each time", async () => {
      const text = await timesWith(desk, "nightdesk_zone=Asia/Tokyo");
      expect(text).toContain(shown);
      expect(text).toContain(zone === null ? ">2026-11-21 06:00 GMT+9<" : ">2026-11-20 21:00 UTC<");
    });

    test("and what is no zone changes nothing", async () => {
      for (const wrong of ["", "+02:00", "../../etc/passwd", "%00", "<b>", `A${"a".repeat(5_000)}`])
        expect(await timesWith(desk, `nightdesk_zone=${wrong}`)).toContain(
          "<footer><span>UTC</span>",
        );
    });
  });
});
