import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

const HOSTILE = "--config=/etc/passwd <b>";

describeOnPostgres("pages that ask commands", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    const checks = [{ level: "warn", message: HOSTILE, suggested_fix: "mend" }];
    desk = await openDesk({ toolAnswer: { ok: true, result: { checks } } });
  });
  afterAll(() => desk.close());

  test("what a browser writes is never an option of a command", async () => {
    await desk.browse("/sql", { statement: HOSTILE, form: "table" });
    for (const words of desk.commands.slice(-1)) {
      expect(words.slice(words.indexOf("--"))).toEqual(["--", HOSTILE]);
    }
  });

  test("shows what doctor found, escaped, and gives rows as CSV", async () => {
    const health = await desk.browse("/health", {});
    expect(health.text).toContain("--config=/etc/passwd &lt;b&gt;");
    const csv = await desk.browse("/sql", { statement: "select 1", form: "csv" });
    expect(csv.headers["content-type"]).toContain("text/csv");
    expect(csv.headers["content-disposition"]).toBe('attachment; filename="nightdesk.csv"');
    expect((await desk.browse("/schedules")).text).toContain("There is no schedule.");
  });

  test("a statement is kept under a name, replaced, and removed, and each is written down", async () => {
    const statement = "select '<b>' as mark";
    await desk.browse("/sql", { statement: "select 1", name: "marks & co", form: "keep" });
    const kept = await desk.browse("/sql", { statement, name: "marks & co", form: "keep" });
    const shown = await desk.browse(String(kept.headers.location));
    expect(shown.text).toContain("The statement is kept as marks &amp; co.");
    expect(shown.text).toContain("select &#39;&lt;b&gt;&#39; as mark</textarea>");
    expect(shown.text.match(/<th scope="row">/g)).toHaveLength(1);
    const none = await desk.browse("/sql", { statement, name: " ", form: "keep" });
    expect((await desk.browse(String(none.headers.location))).text).toContain("1 to 100");
    await desk.browse("/sql/remove", { name: "marks & co" });
    expect((await desk.browse("/sql")).text).not.toContain("Kept statements");
    const { rows } = await desk.db.query(
      "select action, outcome from nightdesk.operator_actions order by action_id",
    );
    expect(rows).toEqual([
      { action: "save-query", outcome: "done" },
      { action: "save-query", outcome: "done" },
      { action: "save-query", outcome: "failed" },
      { action: "remove-query", outcome: "done" },
    ]);
  });

  test("pages of results go on behind the last one, by filter", async () => {
    await insertFinishedBatch(desk.db, {
      name: "many",
      jobs: Array.from({ length: 120 }, (_, at) => ({
        customId: `job-${at}`,
        input: { kind: "ask", question: `Question ${at}?` },
        ...(at % 2 === 0
          ? { answer: "Yes." }
          : { state: "refused" as const, code: "FILE_EMPTY", message: "It is empty." }),
      })),
    });
    const { rows } = await desk.db.query("select batch_id from nightdesk_data.batches");
    const batch = (rows[0] as { batch_id: string }).batch_id;
    const seen: string[] = [];
    let next: string | undefined = `/batches/${batch}?state=refused`;
    while (next !== undefined) {
      const { text } = await desk.browse(next);
      seen.push(...[...text.matchAll(/>(job-\d+)<\/a><\/th>/g)].map(([, id]) => id ?? ""));
      next = /href="([^"]+)">Next page/.exec(text)?.[1]?.replaceAll("&amp;", "&");
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, at) => `job-${at * 2 + 1}`));
  });

  test("hosts stand on it by their names, with their limits and what they cost tonight", async () => {
    await desk.db.query(
      `insert into nightdesk_data.hosts (host, provider, capacity, capacity_reason, sizing, most, name, requests_per_minute,
              tokens_per_minute)
       values ('https://models.example', 'openai-compatible', 4, 'configured', 'configured', 4, 'office', 30, 90000),
              ('http://127.0.0.1:11434', 'ollama', 2, 'found', 'found', 8, null, null, null)`,
    );
    await desk.db.query(
      `with night as (insert into nightdesk_data.nights (night, ends_at, money_used)
                      values (current_date, clock_timestamp() + interval '9 h', 0.34) returning night)
       insert into nightdesk_data.host_nights (host, night, calls, tokens, money)
       select 'https://models.example', night, 1200, 81000, 0.34 from night
        union all select 'https://models.example', night - 1, 7, 7, 7 from night`,
    );
    const { text } = await desk.browse("/");
    const [office = "", local = ""] = [...text.matchAll(/<tr>.*?<\/tr>/gs)]
      .map(([row]) => row)
      .filter((row) => /models\.example|11434/.test(row))
      .sort((one) => (one.includes("office") ? -1 : 1));
    expect(office).toContain('<th scope="row">office<br>');
    expect(office).toContain("30 calls/min, 90,000 tokens/min");
    expect(office).toContain("1,200 calls, 81,000 tokens, 0.34");
    expect(local).toContain('<th scope="row">http://127.0.0.1:11434</th>');
    expect(local).toContain("nothing");
    await desk.db.query("update nightdesk_data.nights set ends_at = clock_timestamp()");
    expect((await desk.browse("/")).text).not.toContain("1,200 calls");
  });

  test("a budget of money shows amounts of less than one as other lists do", async () => {
    await desk.db.query(
      `with batch as (insert into nightdesk_data.batches (batch_id, name, state, format)
                      values (gen_random_uuid(), 'paid', 'open', 'native') returning batch_id)
       insert into nightdesk_data.batch_budgets (batch_id, money_limit, money_used) select batch_id, 2.5, 0.0034 from batch`,
    );
    const { text } = await desk.browse("/");
    expect(text).toContain("Used: 0.0034 of 2.50 of money of its budget.");
  });

  test("of a run name what was left out of an answer, with the reason", async () => {
    const jobs = await insertFinishedBatch(desk.db, {
      name: "shortened",
      jobs: [
        { customId: "q", input: { kind: "ask", question: "When?" }, answer: "On the fifth [1]." },
      ],
    });
    await desk.db.query(
      `with shortened as (update nightdesk_data.runs set claims_dropped = 1 where job_id = $1 returning run_id)
       insert into nightdesk_data.claims (run_id, draft, ordinal, text, cites, grade, fate, reason, stands)
       select run_id, 0, ordinal, claims.text, '{}', 'unsupported', fate, reason, stands
         from shortened, (values (0, 'On the fifth.', 'flagged', 'figure', true),
                                 (1, 'In cash <b>.', 'dropped', 'figure', false))
              as claims (ordinal, text, fate, reason, stands)`,
      [jobs.get("q")],
    );
    const run = await desk.browse(`/runs/${jobs.get("q") ?? ""}`);
    expect(run.text).toMatch(
      /In cash &lt;b&gt;\.<\/p>\s*<p class="note"><span [^>]*>unsupported<\/span>, left out: a figure, date or unit of it/,
    );
  });
});

describeOnPostgres("the page Index", () => {
  let desk: TestDesk;
  const hit = { line_start: 1, line_end: 4, score: 0.5, text: "The ferry leaves at 09:15." };
  const dated = { day: "2025-03-01", day_until: "2025-03-31", day_source: "file_name" };
  const changed = { day: "2026-01-02", day_until: "2026-01-02", day_source: "file_time" };
  const newer = { newer_versions: ["notes/ferry <2026>.md", "notes/ferry-b.md"] };
  const explain = { rerank_score: 5, rerank_rank: 1, fused_rank: 3, fused_score: 1 / 62 };
  const hits = [
    { ...hit, path: "notes/ferry-2025-03.md", ...dated, ...newer },
    { ...hit, path: "notes/ferry.md", ...changed, newer_versions: [] },
    { ...hit, path: "notes/gone.md", explain },
  ];
  beforeAll(async () => {
    desk = await openDesk({ toolAnswer: { ok: true, result: { hits, reranker: "tiny 0123" } } });
  });
  afterAll(() => desk.close());

  test("tells of each hit when it is of, what says so, and whether there is a newer version", async () => {
    const { text } = await desk.browse("/index?q=ferry");
    const articles = text.split("<article>").slice(1);
    expect(articles[0]).toMatch(
      /Of <time[^>]*>2025-03-01<\/time> to <time[^>]*>2025-03-31<\/time>, by file name\./,
    );
    expect(articles[0]).toContain(
      "There is a newer version: notes/ferry &lt;2026&gt;.md, and 1 more between them.",
    );
    expect(articles[1]).toMatch(/Last changed <time[^>]*>2026-01-02<\/time>\./);
    expect(articles[1]).not.toContain("newer version");
    expect(articles[2]).toContain('<summary class="note">Score 0.5000</summary>');
  });

  test("names the reranker, and says of a hit what it gave and both of its ranks", async () => {
    const { text } = await desk.browse("/index?q=ferry");
    expect(text).toContain('<p class="note">Ordered by tiny 0123.</p>');
    expect(text.split("<article>").at(-1)).toContain(
      "rerank score: 5; rerank rank: 1; fused rank: 3; fused score: 0.01613",
    );
  });
});

describeOnPostgres("what changed since the last run", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    desk = await openDesk();
  });
  afterAll(() => desk.close());

  test("is told against the last batch whose name differs in its day alone", async () => {
    const night = (day: string, answer: string) =>
      insertFinishedBatch(desk.db, {
        name: `minutes ${day}`,
        createdAt: `${day}T21:00:00Z`,
        jobs: [
          { customId: "one", input: { kind: "ask", question: "One?" }, answer },
          { customId: "two", input: { kind: "ask", question: "Two?" }, answer: "Two." },
        ],
      });
    await night("2026-11-18", "Old.");
    await night("2026-11-19", "Yes.");
    await night("2026-11-20", "No.");
    const { rows } = await desk.db.query(
      "select batch_id from nightdesk_data.batches order by created_at desc limit 1",
    );
    const batch = (rows[0] as { batch_id: string }).batch_id;
    const { text } = await desk.browse(`/batches/${batch}/changes`);
    expect(text).toContain("minutes 2026-11-19</a>");
    expect(text).toContain("1 job with another answer");
    expect(text).toContain("1 job as before");
    expect((await desk.browse(`/batches/${batch}`)).text).toContain("Jobs by state over time");
  });
});
