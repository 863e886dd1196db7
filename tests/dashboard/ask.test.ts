import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { reportProgress } from "../../src/shared/store/jobs/claim-job.ts";
import { settleOutcome } from "../../src/shared/job/settlement.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { queueAdHoc } from "../../src/shared/store/jobs/queue-ad-hoc.ts";
import { answered, claimNext, EMPTY_RECORD, MADE_WITH } from "../conformance/jobs.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";
import { describeOnPostgres } from "../support/test-databases.ts";
import { FORM, openDesk } from "./open-desk.ts";
import type { TestDesk } from "./open-desk.ts";

const JOB = randomUUID();
const QUEUED = { ok: true, job_id: JOB, batch_id: randomUUID(), batch: "ask", state: "queued" };
const HOSTILE = `--config=/etc/passwd <script>alert(1)</script> "'\u202e`;

describeOnPostgres("a question that is asked in the browser", () => {
  let desk: TestDesk;
  beforeAll(async () => {
    const stdout = JSON.stringify(QUEUED);
    desk = await openDesk({
      commandEnd: { code: 0, stdout, stderr: "No worker is alive: nightdesk worker" },
    });
  });
  afterAll(() => desk.close());

  const question = (words: string, options = {}) =>
    queueAdHoc(desk.db, { kind: "ask", question: words, ...options });

  test("is taken by a field of each page, and of none where nobody is signed in", async () => {
    for (const path of ["/", "/batches", "/start", "/inbox", "/index", "/sql"]) {
      const { text } = await desk.browse(path);
      expect([
        path,
        text.match(/<form class="ask" method="post" action="\/ask">/g)?.length,
      ]).toEqual([path, 1]);
    }
    const failed = await desk.browse("/nothing");
    expect(failed.text).not.toContain('action="/ask"');
  });

  test("is read by the command from its stdin, at once, and leads to the page of its job", async () => {
    const before = desk.commands.length;
    const done = await desk.browse("/ask", { question: HOSTILE });
    expect(done.status).toBe(303);
    expect(done.headers.location).toMatch(new RegExp(`^/runs/${JOB}\\?did=\\d+$`));
    expect(desk.commands.slice(before)).toEqual([
      ["ask", "--json", "--no-wait", "--now", "--", "-"],
    ]);
    expect((await desk.browse("/audit")).text).toContain("No worker is alive");
  });

  test("carries the job that it follows, by its id alone", async () => {
    const follows = randomUUID();
    await desk.browse("/ask", { question: "And?", follows });
    expect(desk.commands.at(-1)).toContain(`--follows=${follows}`);
    const before = desk.commands.length;
    for (const wrong of ["--json", "3f9a2c41", `${follows} --now`]) {
      expect((await desk.browse("/ask", { question: "And?", follows: wrong })).status).toBe(404);
    }
    expect(desk.commands).toHaveLength(before);
  });

  test("needs our origin and the word of its session", async () => {
    const before = desk.commands.length;
    const body = new URLSearchParams({ question: "Why?" }).toString();
    const foreign = { ...FORM, origin: "https://evil.example" };
    const ours = { ...FORM, origin: `http://${desk.host}` };
    for (const headers of [FORM, foreign, ours])
      expect((await desk.ask({ path: "/ask", method: "POST", headers, body })).status).toBe(403);
    expect((await desk.ask({ path: "/ask" })).status).toBe(404);
    expect(desk.commands).toHaveLength(before);
  });

  test("shows what it waits for, then its steps, then its answer, under one address", async () => {
    const { jobId } = await question("What is the rent?");
    const shown = async () => (await desk.browse(`/runs/${jobId}`)).text;
    const waiting = await shown();
    expect(waiting).toContain("waits for a worker");
    expect(waiting).toContain('<noscript><meta http-equiv="refresh" content="2"></noscript>');
    expect(waiting).toContain('data-updates="awaited"');
    const job = await claimNext(desk.db, jobId);
    await reportProgress(desk.db, job.runId, {
      step: "writes",
      steps: ["reads <b>lease</b>.pdf", "writes"],
    });
    const running = await shown();
    expect(running).toContain("<li>reads &lt;b&gt;lease&lt;/b&gt;.pdf</li><li>writes</li>");
    expect(running).not.toContain("tokens of prompts");
    expect((await desk.browse(`/runs/${job.runId}`)).text).toContain("<li>writes</li>");
    expect((await desk.browse("/")).text).not.toContain("object");
    const run = { runId: job.runId, runMs: 5, ...MADE_WITH };
    await settleRun(desk.db, run, settleOutcome(answered("It is 900 EUR.")), EMPTY_RECORD);
    const ended = await shown();
    expect(ended).toContain("It is 900 EUR.");
    expect(ended).not.toMatch(/Not answered yet|<noscript>/);
    expect(ended).toContain('data-updates="still"');
  });

  test("says why its job is parked, and what holds it", async () => {
    const { jobId, batchId } = await question("Held?");
    await desk.db.query(
      "update nightdesk_data.batches set hold_reason = 'window', hold_until = now() where batch_id = $1",
      [batchId],
    );
    expect((await desk.browse(`/runs/${jobId}`)).text).toContain("held: window");
  });

  test("shows what a follow-up would carry, and what one carries, with a way to ask it without", async () => {
    const ids = await insertFinishedBatch(desk.db, {
      name: "former",
      jobs: [
        {
          customId: "a",
          input: { kind: "ask", question: "The rent & <i>more</i>?" },
          answer: "A SECRET ANSWER",
          evidence: [{ path: "in/lease.md", lines: [1, 2], sha256: "a".repeat(64) }],
        },
        { customId: "b", input: { kind: "summarize", path: "in/lease.md" }, answer: "A summary." },
      ],
    });
    const former = ids.get("a") ?? "";
    const { text } = await desk.browse(`/runs/${former}`);
    const form = /<details id="follow-up">[^]*?<\/details>/.exec(text)?.[0] ?? "";
    expect(form).toContain(`name="follows" value="${former}" checked`);
    expect(form).toContain("“The rent &amp; &lt;i&gt;more&lt;/i&gt;?”, of in/lease.md");
    expect(form).not.toContain("SECRET");
    expect((await desk.browse(`/runs/${ids.get("b") ?? ""}`)).text).not.toContain("follow-up");
    const { jobId } = await question("And the deposit?", { options: { follows: former } });
    const carried = /<form class="carried"[^]*?<\/form>/.exec(
      (await desk.browse(`/runs/${jobId}`)).text,
    )?.[0];
    expect(carried).toContain(`<a href="/runs/${former}">The rent &amp;`);
    expect(carried).toContain("of in/lease.md");
    expect(carried).toContain('name="question" value="And the deposit?"');
    expect(carried).not.toMatch(/SECRET|name="follows"/);
    const gone = await question("And?", { options: { follows: randomUUID() } });
    expect((await desk.browse(`/runs/${gone.jobId}`)).text).toContain("is not there any more");
  });

  test("is filled in again beside what the command says against it", async () => {
    const refusing = await openDesk({
      commandEnd: {
        code: 1,
        stdout: '{"ok":false,"error_code":"NOT_FOUND","error_message":"There is no question X."}\n',
        stderr: "",
      },
    });
    try {
      const { status, text } = await refusing.browse("/ask", { question: "And <the> deposit?" });
      expect([status, text.includes("There is no question X.")]).toEqual([200, true]);
      expect(text).toContain("And &lt;the&gt; deposit?</textarea>");
    } finally {
      await refusing.close();
    }
  });
});
