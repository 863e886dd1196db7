import { hash } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import type { JobInput } from "../../src/shared/job/job.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { dispatchDueJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { heartbeat } from "../../src/shared/store/jobs/workers.ts";
import { selectPassages } from "../../src/shared/views/result-list.ts";
import { selectResult } from "../../src/shared/views/results.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { openFiles } from "../../src/worker/resources.ts";
import { startWorker } from "../../src/worker/start.ts";
import type { RunningWorker } from "../../src/worker/start.ts";
import { askJob, claimNext, countOf, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";

const RAIL =
  "# Rail\n\nTrains to the harbour run every 20 minutes.\n\nNo train runs after midnight.\n";
const MAIL = [
  "From: a@example.org",
  "Subject: Prices",
  "Date: Mon, 02 Nov 2026 10:00:00 +0000",
  'Content-Type: multipart/mixed; boundary="b"',
  "",
  "--b\r\nContent-Type: text/plain\r\n\r\nThe prices are attached.\r",
  '--b\r\nContent-Type: text/plain; name="prices.txt"\r\nContent-Disposition: attachment; filename="prices.txt"\r\n\r\nA day ticket costs 7 euros.\r',
  "--b--\r\n",
].join("\r\n");
const FOLDER = "allowed/corpus";
const QUESTIONS: readonly JobInput[] = [
  { kind: "ask", question: `How often do trains run, by ${FOLDER}/rail.md?` },
  { kind: "ask", question: "When does no train run, by rail.md?" },
  { kind: "summarize", path: `${FOLDER}/prices.eml/attachments/1/prices.txt` },
];

describeOn("postgres", "a worker that reads documents from the store", (name) => {
  let topology: Topology;
  let db: Database;
  let files: RunningWorker;
  /** A work root that holds a configuration alone. */
  let elsewhere: string;
  let readers: string[];

  const nightdesk = (...words: readonly string[]) =>
    runCommand([...words, "--config", topology.configFile, "--workroot", topology.workroot], {
      cwd: topology.workroot,
    });
  const write = (path: string, text: string) =>
    writeFile(join(topology.workroot, FOLDER, path), text);
  const documents = (columns: string) =>
    db.query(`select ${columns} from nightdesk.documents order by path`).then(({ rows }) => rows);
  async function queue(inputs: readonly JobInput[]): Promise<string[]> {
    const jobs = inputs.map((input, at) => askJob(`job ${at}`, { input }));
    return (await openBatchOf(db, jobs)).jobIds;
  }
  const ended = (jobIds: readonly string[]) =>
    eventually("the jobs have ended", async () => {
      const rows = await Promise.all(jobIds.map((jobId) => rowOf(db, jobId)));
      return rows.every(({ finished_at: at }) => at !== null);
    });
  /** What jobs came to, and what they rest on, without ids. */
  async function workOf(jobIds: readonly string[]): Promise<unknown> {
    const { rows } = await db.query(
      `select r.state, r.answer, r.scope, (
                select jsonb_agg(to_jsonb(e) - '{evidence_id,run_id}'::text[] order by e.ordinal)
                  from nightdesk_data.evidence e where e.run_id = r.run_id) as evidence
         from unnest($1::uuid[]) with ordinality as t (job_id, place)
         join nightdesk_data.jobs j using (job_id) join nightdesk_data.runs r on r.run_id = j.run_id order by place`,
      [jobIds],
    );
    return rows;
  }

  beforeAll(async () => {
    topology = await startTopology(name, {
      documents: { keep: "bytes" },
      runs: { reuse: "never" },
    });
    db = await topology.connect();
    elsewhere = await mkdtemp(join(tmpdir(), "nightdesk-store-"));
    await writeFile(
      join(elsewhere, "nightdesk.yaml"),
      stringify({ extends: topology.configFile, documents: { from: "store" } }),
    );
    await write("rail.md", RAIL);
    await write("copy.md", RAIL);
    await write("prices.eml", MAIL);
    files = await startWorker(topology.context, 1, (database) =>
      createRunJob(topology.context, database),
    );
    expect(await nightdesk("index")).toMatchObject({ code: 0 });
    readers = await queue(QUESTIONS);
    await ended(readers);
    await files.stop(0);
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
    await rm(elsewhere, { recursive: true });
  });

  test("answers with the evidence of a worker that has the files", async () => {
    expect(await documents("path, is_kept, not_kept_code")).toHaveLength(4);
    expect(await countOf(db, "nightdesk_data.contents")).toBe(3);
    const jobIds = await queue(QUESTIONS);
    const config = join(elsewhere, "nightdesk.yaml");
    const worker = await runBin(
      ["worker", "--drain", "--config", config, "--workroot", elsewhere],
      {
        cwd: elsewhere,
      },
    );
    expect(worker).toMatchObject({ code: 0 });
    expect(await readdir(elsewhere)).toEqual(["nightdesk.yaml"]);
    const work = await workOf(jobIds);
    expect(work).toMatchObject(QUESTIONS.map(() => ({ state: "succeeded" })));
    expect(work).toEqual(await workOf(readers));
  });

  test("takes no jobs that need files", async () => {
    const worker = { workerId: "4fdc0a5e-8b0c-4c3c-9a0e-0d4f8f3f9a11", host: "other", pid: 1 };
    const facts = { version: "0", concurrency: 1, modelHosts: [], embedderHosts: [] };
    const configuration = { configFile: "/nightdesk.yaml", sharedConfig: new Map<never, never>() };
    await db.query("delete from nightdesk_data.workers");
    await heartbeat(db, { ...worker, ...facts, ...configuration, documentsFrom: "store" });
    const [index = ""] = await queue([{ kind: "index" }]);
    expect(await dispatchDueJobs(db, 10)).toEqual([]);
    await db.query("delete from nightdesk_data.workers");
    expect(await claimNext(db, index)).toMatchObject({ input: { kind: "index" } });
    await db.query(
      "delete from nightdesk_data.batches where batch_id = (select batch_id from nightdesk_data.jobs where job_id = $1)",
      [index],
    );
  });

  test("lets runs be repeated and shown when their files are gone", async () => {
    await rm(join(topology.workroot, FOLDER, "rail.md"));
    expect(await nightdesk("runs", "replay", readers[0] ?? "")).toMatchObject({ code: 0 });
    const shown = jsonLine(await nightdesk("evidence", "show", readers[0] ?? "", "--json"));
    // It has no pages that could be drawn, which its bytes alone can tell.
    expect(shown["statements"]).toMatchObject([{ error_code: "INVALID_ARGS", line_start: 3 }]);
  });

  test("keeps what evidence names, and prunes the rest", async () => {
    await db.query(
      "delete from nightdesk_data.documents where path like '%rail.md' or path like '%copy.md'",
    );
    await db.query(
      `insert into nightdesk_data.contents (sha256, bytes, content) values (repeat('a', 64), 1, 'x')`,
    );
    const prune = async () => jsonLine(await nightdesk("prune", "--json"));
    expect(await prune()).toMatchObject({ removed_contents: 0 });
    await db.query("update nightdesk_data.contents set used_at = now() - interval '1 day'");
    expect(await prune()).toMatchObject({ removed_contents: 1, removed_bytes: 1 });
    expect(await countOf(db, "nightdesk_data.contents")).toBe(3);
  });

  test("forgets a document after a yes, and names the runs that read it", async () => {
    const path = `${FOLDER}/prices.eml`;
    expect(await nightdesk("forget", path)).toMatchObject({ code: 2 });
    const forgotten = jsonLine(await nightdesk("forget", path, "--yes", "--json"));
    expect(forgotten).toMatchObject({
      contents: 2,
      documents: [path, `${path}/attachments/1/prices.txt`],
    });
    expect(forgotten["runs"]).toContainEqual(expect.objectContaining({ job_id: readers[2] }));
    expect(await documents("path")).toEqual([]);
    expect(await countOf(db, "nightdesk.operator_actions where action = 'forget'")).toBe(1);
    expect(await nightdesk("forget", path.replace("prices", "none"), "--yes")).toMatchObject({
      code: 1,
    });
  });

  test("keeps no more than the quota, and what is over it when that is raised", async () => {
    const index = async (quota: number) => {
      const config = {
        ...topology.context.config,
        documents: { ...topology.context.config.documents, quota },
      };
      const context = { ...topology.context, config };
      const worker = await startWorker(context, 1, (database) => createRunJob(context, database));
      try {
        return jsonLine(await nightdesk("index", "--json"));
      } finally {
        await worker.stop(0);
      }
    };
    await write("rail.md", RAIL.replace("20", "30"));
    await write("long.md", `# Long\n\n${"word ".repeat(200)}\n`);
    const states = () => documents("path, is_kept, not_kept_code");
    expect((await index(700))["summary"]).toMatchObject({
      not_kept: { code: "STORE_FULL", documents: 1 },
    });
    const over = { path: `${FOLDER}/long.md`, is_kept: false, not_kept_code: "STORE_FULL" };
    expect(await states()).toContainEqual(over);
    expect(await states()).toHaveLength(5);
    const sha256 = hash("sha256", RAIL, "hex");
    const place = { path: `${FOLDER}/rail.md`, sha256, lineStart: 3, lineEnd: 3 };
    expect(await selectPassages(db, place)).toEqual([]);
    expect(await selectPassages(db, { ...place, extractor: "utf-8" })).toMatchObject([
      { text: RAIL, line_start: 1 },
    ]);
    expect(await selectResult(db, readers[0] ?? "")).toMatchObject({
      outdated: [`${FOLDER}/rail.md`],
    });
    await index(7_000);
    expect(await states()).toContainEqual({ ...over, is_kept: true, not_kept_code: null });
  });

  test("refuses bytes that are not those that were indexed, and names by the rules of files", async () => {
    const { packageRoot } = topology.context.invocation;
    const flags = { config: join(elsewhere, "nightdesk.yaml"), workroot: elsewhere };
    const config = await loadConfig({ flags, env: {}, cwd: elsewhere, packageRoot });
    const store = await openFiles(config, db);
    const read = (path: string, of: Pick<typeof store, "readTextFile"> = store) =>
      of.readTextFile({ path, maxChars: 1_000 });
    expect(await read("rail.md")).toMatchObject({ kind: "read", path: `${FOLDER}/rail.md` });
    expect(await read("corpus")).toMatchObject({ code: "PATH_DENIED" });
    expect(await read(FOLDER)).toMatchObject({ code: "PATH_DENIED" });
    expect(await read(`../${FOLDER}/rail.md`)).toMatchObject({ code: "PATH_DENIED" });
    expect(await read("tram.md")).toMatchObject({ code: "FILE_NOT_FOUND" });
    expect(await read("rail.md", store.within([`${FOLDER}/post/`]))).toMatchObject({
      code: "FILE_NOT_FOUND",
    });
    await db.query(
      "update nightdesk_data.contents set content = overlay(content placing 'X'::bytea from 3)",
    );
    expect(await read("rail.md")).toMatchObject({ code: "EVIDENCE_INVALID" });
    await db.query("delete from nightdesk_data.contents");
    expect(await read("rail.md")).toMatchObject({ code: "CONTENT_NOT_KEPT" });
  });
});
