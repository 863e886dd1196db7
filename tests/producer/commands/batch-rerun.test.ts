import { resolve } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { configFingerprint } from "../../../src/shared/config/config-fingerprint.ts";
import { loadConfig } from "../../../src/shared/config/load-config.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { answered, failed, refused, workByHand } from "../work-by-hand.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterAll(() => desk.dispose());
afterEach(() => desk.database.query("delete from nightdesk_data.documents"));

const summary = (name: string) => ({
  custom_id: name,
  kind: "summarize",
  path: `allowed/corpus/${name}`,
});
const FILES = [summary("a.md"), summary("b.md"), summary("minutes/c.md")];
const QUESTION = { custom_id: "q", kind: "ask", question: "Why?" };

/** A batch whose jobs were worked by hand: those of `bad` end so, all others succeed. */
async function workedBatch(
  name: string,
  jobs: readonly Readonly<Record<string, string>>[],
  bad: Readonly<Record<string, typeof failed>> = {},
): Promise<void> {
  const file = await desk.write(`${name}.jsonl`, jobs.map((job) => JSON.stringify(job)).join("\n"));
  expect((await desk.run("enqueue", file, "--batch-name", name)).code).toBe(0);
  await workByHand(
    desk.database,
    jobs.length,
    ({ customId }) => bad[customId] ?? answered(customId),
  );
}

/** The jobs of a batch with the custom_id that they repeat. */
const repeatedBy = (batch: string) =>
  rowsOf(
    desk.database,
    `select j.custom_id, o.custom_id as repeats, j.state, j.input from nightdesk.results j
       join nightdesk.results o on o.job_id = j.rerun_of where j.batch = $1 order by 1`,
    [batch],
  );

const queue = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await desk.run("batch", "rerun", ...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
  return JSON.parse(stdout) as { batch: string | null; jobs: number; reasons: object };
};

test("what is unresolved is chosen beside what failed, and not in its place", async () => {
  const unresolved = { ...refused, code: "UNRESOLVED" } as const;
  await workedBatch("open", FILES, { "a.md": failed, "b.md": unresolved, "minutes/c.md": refused });
  const jobsOf = async (...args: string[]) => (await queue("open", ...args, "--dry-run")).jobs;
  expect(await jobsOf("--unresolved")).toBe(1);
  expect(await jobsOf("--unresolved", "--failed")).toBe(2);
  expect(await jobsOf("--unresolved", "--refused")).toBe(2);
  expect(await jobsOf("--unresolved", "--where", "kind=ask")).toBe(0);
});

test("days choose jobs on files by the dates of their documents", async () => {
  const files = ["minutes 2026-02-27.md", "minutes 2026-03-05.md"].map(summary);
  await workedBatch("dated", [...files, QUESTION]);
  const march = ["dated", "--since", "2026-03-01", "--until", "2026-03-31"];
  expect(await queue(...march, "--dry-run")).toMatchObject({ batch: null, jobs: 1 });
  expect(await queue(...march, "--batch-name", "march")).toMatchObject({ jobs: 1 });
  expect(await repeatedBy("march")).toMatchObject([{ custom_id: "minutes 2026-03-05.md" }]);
  const long = `path=${"x".repeat(600)}`;
  expect(await queue(...march, "--where", long, "--dry-run")).toMatchObject({ jobs: 0 });
  const exchanged = ["--since", "2026-03-31", "--until", "2026-03-01"];
  for (const words of [
    ["batch", "rerun", "dated"],
    ["ask", "Who?"],
    ["query", "Who?"],
  ]) {
    expect(await desk.run(...words, ...exchanged)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--since 2026-03-31 is after --until 2026-03-01"),
    });
  }
  expect(await desk.run("batch", "rerun", "dated", "--since", "March")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--since takes a day as YYYY-MM-DD"),
  });
});

/** The index knows what the hand-made runs rest on: `allowed/corpus/a.md` with 64 times b. */
const indexAs = (sha256: string, at = "2000-01-01") =>
  desk.database.query(
    `insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device,
            settled, metadata_state, chunk_settings, indexed_at)
     values ('corpus', 'allowed/corpus/a.md', $1, 10, 10, 1, 1, 1, 1, true, 'absent', 'x', $2)`,
    [sha256, at],
  );
const SAME = "b".repeat(64);

describe("by how a job ended", () => {
  test("queues what failed, under the same custom_id, in a batch of its own", async () => {
    await workedBatch("ended", [...FILES, QUESTION], { "a.md": failed, "b.md": refused });
    const made = await queue("ended", "--failed");
    expect(made).toMatchObject({ jobs: 1, reasons: {} });
    expect(made.batch).toMatch(/^ended rerun 2/);
    expect(await repeatedBy(made.batch ?? "")).toEqual([
      expect.objectContaining({ custom_id: "a.md", repeats: "a.md", state: "queued" }),
    ]);
  });

  test("with --wait waits for the new batch, and its exit code tells how that ended", async () => {
    await workedBatch("waited", FILES, { "a.md": failed, "b.md": failed });
    const waited = desk.run(
      "batch",
      "rerun",
      "waited",
      "--failed",
      "--batch-name",
      "anew",
      "--wait",
    );
    await workByHand(desk.database, 2, ({ customId }) =>
      customId === "a.md" ? failed : answered("yes"),
    );
    const { code, stderr } = await waited;
    expect({ code, end: stderr.split("\n").slice(-2) }).toEqual({
      code: 3,
      end: ['Batch "anew" has ended: 1 succeeded, 1 failed.', ""],
    });
  });

  test("takes several ways together, and a name for the batch", async () => {
    const made = await queue("ended", "--failed", "--refused", "--batch-name", "both");
    expect(made).toMatchObject({ batch: "both", jobs: 2 });
    const again = await desk.run("batch", "rerun", "ended", "--failed", "--batch-name", "both");
    expect(again.code).not.toBe(0);
    expect(again.stderr).toContain('There is a batch "both" already');
  });

  test("says so where there is nothing, and leaves no batch behind", async () => {
    await workedBatch("good", FILES);
    const { code, stderr } = await desk.run("batch", "rerun", "good", "--failed");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining("Nothing to rerun"),
    });
    expect(
      await rowsOf(
        desk.database,
        "select from nightdesk_data.batches where name like 'good rerun%'",
      ),
    ).toEqual([]);
  });

  test("leaves alone what has not ended", async () => {
    const file = await desk.write("open.jsonl", JSON.stringify(QUESTION));
    await desk.run("enqueue", file, "--batch-name", "open");
    expect(await queue("open", "--where", "kind=ask")).toMatchObject({ batch: null, jobs: 0 });
    await desk.database.query("delete from nightdesk_data.batches where name = 'open'");
  });
});

describe("--where", () => {
  test.each([
    [["kind=ask"], ["q"]],
    [["kind=summarize", "state=refused"], ["b.md"]],
    [
      ["state=refused", "state=failed"],
      ["a.md", "b.md"],
    ],
    [["error_code=MODEL_NOT_FOUND"], ["a.md"]],
    [["path=minutes/*"], ["minutes/c.md"]],
    [["path=allowed/corpus/*.md"], ["a.md", "b.md"]],
    [["path=**/*.md"], ["a.md", "b.md", "minutes/c.md"]],
    [["custom_id=?.md"], ["a.md", "b.md"]],
  ])("%j chooses %j", async (conditions, chosen) => {
    const made = await queue("ended", ...conditions.flatMap((text) => ["--where", text]));
    expect((await repeatedBy(made.batch ?? "")).map((row) => row["custom_id"])).toEqual(chosen);
  });

  test.each([
    ["colour=red", "one of the keys kind, state, error_code, path, custom_id"],
    ["kind", "key=value"],
    ["kind=poem", "Expected one of ask, summarize"],
    ["state=queued", "Expected one of succeeded, refused"],
    [`path=${"*a".repeat(101)}`, "101 wildcards in 202 characters; at most 100 in 4096"],
    [`custom_id=${"a".repeat(4_097)}`, "0 wildcards in 4097 characters"],
  ])("%s is no condition", async (condition, message) => {
    const { code, stderr } = await desk.run("batch", "rerun", "ended", "--where", condition);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  test("or another choice must be there", async () => {
    const { code, stderr } = await desk.run("batch", "rerun", "ended");
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("Say which jobs"),
    });
  });
});

test("--model and --big are those of the new jobs alone", async () => {
  await workedBatch("models", [...FILES, { custom_id: "c", kind: "chat", prompt: "Hi" }]);
  const made = await queue("models", "--where", "state=succeeded", "--model", "m2", "--big");
  const [, , chat, minutes] = await repeatedBy(made.batch ?? "");
  expect(minutes?.["input"]).toMatchObject({ options: { model: "m2", route: "big" } });
  expect(chat?.["input"]).toEqual({ kind: "chat", prompt: "Hi", model: "m2" });
  const [old] = await rowsOf(
    desk.database,
    "select input from nightdesk.results where batch = 'models' and custom_id = 'c'",
  );
  expect(old?.["input"]).toEqual({ kind: "chat", prompt: "Hi" });
});

describe("--stale", () => {
  // The runs of this test were made with this version and configuration as far as the desk can tell.
  const current = () =>
    desk.database.query(
      "update nightdesk_data.runs set version = '0.0.0-test', config_sha256 = $1",
      [fingerprint],
    );
  let fingerprint = "";
  beforeAll(async () => {
    await workedBatch("worked", [FILES[0] ?? QUESTION, QUESTION]);
    const packageRoot = resolve(import.meta.dirname, "..", "..", "..");
    fingerprint = configFingerprint(
      await loadConfig({ flags: {}, env: {}, cwd: desk.workroot, packageRoot }),
    );
    await current();
  });
  const counted = () => queue("worked", "--stale", "--dry-run");

  test("finds nothing while all is as it was", async () => {
    await indexAs(SAME);
    expect(await counted()).toMatchObject({ batch: null, jobs: 0, reasons: {} });
  });

  test("tells evidence that has changed since from evidence that is gone", async () => {
    expect(await counted()).toMatchObject({ jobs: 2, reasons: { document_gone: 2 } });
    await indexAs("0".repeat(64));
    expect(await counted()).toMatchObject({ jobs: 2, reasons: { evidence_changed: 2 } });
  });

  test("takes evidence for changed where another extractor makes text of the same bytes", async () => {
    await indexAs(SAME);
    await desk.database.query("update nightdesk_data.documents set extractor = 'pdf 2'");
    expect(await counted()).toMatchObject({ jobs: 2, reasons: { evidence_changed: 2 } });
  });

  test("takes a question for stale when any document has changed since", async () => {
    await indexAs(SAME, "2100-01-01");
    expect(await counted()).toMatchObject({ jobs: 1, reasons: { index_changed: 1 } });
  });

  test("compares version and configuration, and says how many for which reason", async () => {
    await indexAs(SAME);
    await desk.database.query("update nightdesk_data.runs set version = '0.0.1'");
    const { stdout } = await desk.run("batch", "rerun", "worked", "--stale", "--dry-run");
    expect(stdout).toContain("2 jobs of batch");
    expect(stdout).toContain("2: another version of Nightdesk");
    await current();
    await desk.database.query(
      "update nightdesk_data.runs set config_sha256 = repeat('0', 64) from nightdesk_data.jobs j where j.run_id = runs.run_id and j.kind = 'ask'",
    );
    expect(await counted()).toMatchObject({ jobs: 1, reasons: { config_changed: 1 } });
    await current();
  });

  test("compares the weights with those that are pinned", async () => {
    await indexAs(SAME);
    await desk.database.query(
      `update nightdesk_data.runs set models = '[{"facts": {"provider": "ollama", "digest": "${"1".repeat(64)}"}}]'`,
    );
    expect(await counted()).toMatchObject({ jobs: 0 });
    const config = await desk.write(
      "pinned.yaml",
      `extends: ./nightdesk.yaml\nmodel: { provider: ollama, name: m, digest: "${"2".repeat(64)}" }\n`,
    );
    const { stdout } = await desk.run(
      ...["batch", "rerun", "worked", "--stale", "--dry-run", "--json", "--config", config],
    );
    expect(JSON.parse(stdout)).toMatchObject({
      reasons: { model_changed: 2, config_changed: 2 },
    });
  });

  test("compares the durable notes with those of the prompts, where a model read any", async () => {
    await indexAs(SAME);
    await desk.database.query("update nightdesk_data.runs set models = '[]'");
    await desk.run("memory", "add", "--type", "preference", "Be brief.");
    expect(await counted()).toMatchObject({ jobs: 0 });
    await desk.database.query(
      `update nightdesk_data.runs set models = '[{"pass": "second", "facts": {"reads_prompts": true}}]'`,
    );
    expect(await counted()).toMatchObject({ jobs: 2, reasons: { notes_changed: 2 } });
    await desk.database.query(
      "update nightdesk_data.runs set memory_ids = array(select memory_id from nightdesk_data.memory)",
    );
    expect(await counted()).toMatchObject({ jobs: 0 });
    await desk.database.query("delete from nightdesk_data.memory");
    expect(await counted()).toMatchObject({ jobs: 2, reasons: { notes_changed: 2 } });
    await desk.database.query("update nightdesk_data.runs set models = '[]', memory_ids = '{}'");
  });

  test("takes a result that rests on what a command printed for changed when the files are that it was given", async () => {
    await workedBatch("counted", [QUESTION]);
    await current();
    await desk.database.query(
      `with job as (
         select j.job_id, j.run_id from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id) where b.name = 'counted'),
       kept as (delete from nightdesk_data.evidence e using job where e.run_id = job.run_id returning e.run_id),
       allowed as (
         insert into nightdesk_data.grants (job_id, preset, preset_sha256, tools, roots, limits)
         select job_id, 'shell_sandboxed', repeat('a', 64), '{shell}', '{}', '{}' from job returning grant_id, job_id),
       stepped as (
         insert into nightdesk_data.steps (job_id, ordinal, run_id, kind, effect, state, ended_at)
         select job_id, 0, run_id, 'tool', 'exec', 'done', now() from job returning job_id, run_id)
       insert into nightdesk_data.tool_calls (run_id, ordinal, name, args, result, duration_ms, job_id, step, grant_id, args_sha256)
       select run_id, 100, 'shell', '{}', '{"input_paths": ["allowed/corpus/a.md"]}', 1, job_id, 0, grant_id, repeat('b', 64)
         from stepped join allowed using (job_id)`,
    );
    await desk.database.query(
      `insert into nightdesk_data.evidence (run_id, ordinal, kind, admitted, path, sha256, text_sha256, chars_full,
              chars_returned, truncated, start_char, end_char, line_start, line_end, preview)
       select j.run_id, 0, 'output', true, 'output of shell, step 1', repeat('c', 64), repeat('c', 64), 1, 1, false, 0, 1, 1, 1, '7'
         from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id) where b.name = 'counted'`,
    );
    const indexedAt = (day: string) =>
      desk.database.query("update nightdesk_data.documents set indexed_at = $1", [day]);
    await indexAs(SAME);
    expect(await queue("counted", "--stale", "--dry-run")).toMatchObject({ jobs: 0 });
    await indexedAt("2100-01-01");
    const { reasons } = await queue("counted", "--stale", "--dry-run");
    expect(reasons).toMatchObject({ evidence_changed: 1 });
  });

  test("takes a refused file for stale that was indexed since", async () => {
    await workedBatch("missing", [FILES[0] ?? QUESTION], { "a.md": refused });
    await current();
    await desk.database.query(
      "delete from nightdesk_data.evidence e using nightdesk_data.runs r join nightdesk_data.jobs j using (job_id) where r.run_id = e.run_id and j.state = 'refused'",
    );
    expect(await queue("missing", "--stale", "--dry-run")).toMatchObject({ jobs: 0 });
    await indexAs(SAME, "2100-01-01");
    expect(await queue("missing", "--stale", "--dry-run")).toMatchObject({
      reasons: { evidence_changed: 1 },
    });
  });
});

describe("digests", () => {
  test("above a job that is made again are made again, with the old results beside the new", async () => {
    await workedBatch("tree", FILES, { "a.md": failed });
    await desk.database.query(
      `with batch as (select batch_id from nightdesk_data.batches where name = 'tree'),
       digests as (
         insert into nightdesk_data.jobs (batch_id, custom_id, kind, input, input_sha256, state, finished_at, error_code, error_message)
         select batch_id, level, 'digest', jsonb_build_object('kind', 'digest', 'title', level, 'level', level),
                repeat('0', 64), 'failed', now(), 'X', 'x'
           from batch, unnest(array['folder', 'batch']) as level returning job_id, custom_id)
       insert into nightdesk_data.job_dependencies (parent_id, child_id)
       select p.job_id, c.job_id from digests p, nightdesk_data.jobs c join batch using (batch_id)
        where p.custom_id = 'folder' and c.kind = 'summarize'
        union all
       select p.job_id, c.job_id from digests p, digests c where p.custom_id = 'batch' and c.custom_id = 'folder'`,
    );
    await desk.database.query(
      "update nightdesk_data.jobs set error_code = 'MODEL_NOT_FOUND', error_message = 'x' where custom_id in ('folder', 'batch')",
    );
    const made = await queue("tree", "--where", "custom_id=a.md", "--where", "state=failed");
    expect(made).toMatchObject({ jobs: 1, digests: 0 });
    await desk.database.query(
      "update nightdesk_data.jobs set state = 'cancelled' where kind = 'digest'",
    );
    const whole = await queue("tree", "--failed");
    expect(whole).toMatchObject({ jobs: 1, digests: 2 });
    const waits = await rowsOf(
      desk.database,
      "select j.custom_id, j.waits_for, (select count(*)::int from nightdesk_data.job_dependencies d where d.parent_id = j.job_id) as children from nightdesk_data.jobs j join nightdesk_data.batches b using (batch_id) where b.name = $1 order by 1",
      [whole.batch],
    );
    expect(waits).toEqual([
      { custom_id: "a.md", waits_for: 0, children: 0 },
      { custom_id: "batch", waits_for: 1, children: 1 },
      { custom_id: "folder", waits_for: 1, children: 3 },
    ]);
  });
});
