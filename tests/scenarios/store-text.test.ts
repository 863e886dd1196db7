import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import type { JobInput } from "../../src/shared/job/job.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { packText, selectContent, storeContents } from "../../src/shared/store/index/contents.ts";
import { selectPassages } from "../../src/shared/views/result-list.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import { askJob, openBatchOf, rowOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";

const FOLDER = "allowed/corpus";
const FILES: Readonly<Record<string, string>> = {
  "rail.md":
    "# Rail\n\nTrains to the harbour run every 20 minutes.\n\nNo train runs after midnight.\n",
  "ferry.html": "<h1>Ferry</h1><p>The ferry leaves at six.</p><p>It carries 40 people.</p>",
};
const QUESTIONS: readonly JobInput[] = [
  { kind: "ask", question: `How often do trains run, by ${FOLDER}/rail.md?` },
  { kind: "ask", question: `When does the ferry leave, by ${FOLDER}/ferry.html?` },
];

describeOn("postgres", "an index that keeps the texts of documents", (name) => {
  let topology: Topology;
  let db: Database;
  let readers: string[];

  const pathOf = (file: string) => join(topology.workroot, FOLDER, file);
  const nightdesk = (...words: readonly string[]) =>
    runCommand([...words, "--config", topology.configFile, "--workroot", topology.workroot], {
      cwd: topology.workroot,
    });
  async function configure(name: string, documents: object): Promise<string> {
    const file = join(topology.workroot, name);
    await writeFile(file, stringify({ extends: topology.configFile, documents }));
    return file;
  }
  const extractors = async () =>
    (await db.query("select extractor from nightdesk_data.contents order by 1")).rows.map(
      (row) => (row as { extractor: string | null }).extractor,
    );

  beforeAll(async () => {
    topology = await startTopology(name, {
      documents: { keep: "text" },
      runs: { reuse: "never" },
    });
    db = await topology.connect();
    for (const [file, text] of Object.entries(FILES)) await writeFile(pathOf(file), text);
    const worker = await startWorker(topology.context, 1, (database) =>
      createRunJob(topology.context, database),
    );
    expect(await nightdesk("index")).toMatchObject({ code: 0 });
    const jobs = QUESTIONS.map((input, at) => askJob(`job ${at}`, { input }));
    readers = (await openBatchOf(db, jobs)).jobIds;
    await eventually("the jobs have ended", async () => {
      const rows = await Promise.all(readers.map((jobId) => rowOf(db, jobId)));
      return rows.every(({ finished_at: at }) => at !== null);
    });
    await worker.stop(0);
    for (const jobId of readers)
      expect(await rowOf(db, jobId)).toMatchObject({ state: "succeeded" });
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  test("stores a text a document, and none of its bytes", async () => {
    expect(await extractors()).toEqual([expect.stringMatching(/^html/), "utf-8"]);
    const { rows } = await db.query(
      "select bool_and(is_kept) as are_kept, bool_and(not_kept_code is null) as have_room from nightdesk.documents",
    );
    expect(rows).toEqual([{ are_kept: true, have_room: true }]);
  });

  test("refuses documents to a worker that needs their bytes", async () => {
    const both = await configure("both.yaml", { from: "store" });
    expect(
      await runBin(["config", "show", "--config", both], { cwd: topology.workroot }),
    ).toMatchObject({
      code: 78,
      stderr: expect.stringMatching(
        /documents\.keep.*expected bytes, .*where documents\.from is store/s,
      ),
    });
    const config = await configure("store.yaml", { from: "store", keep: "none" });
    const [job = ""] = (
      await openBatchOf(db, [
        askJob("again", {
          input: { kind: "ask", question: "How often do trains run, by rail.md?" },
        }),
      ])
    ).jobIds;
    const worker = ["worker", "--drain", "--config", config, "--workroot", topology.workroot];
    expect(await runBin(worker, { cwd: topology.workroot })).toMatchObject({ code: 0 });
    expect(await rowOf(db, job)).toMatchObject({
      state: "refused",
      error_code: "CONTENT_NOT_KEPT",
      error_message: expect.stringContaining("holds its text alone: set documents.keep to bytes"),
    });
  });

  test("lets runs be repeated and their lines be shown when the files are gone", async () => {
    for (const file of Object.keys(FILES)) await rm(pathOf(file));
    for (const jobId of readers) {
      expect(await nightdesk("runs", "replay", jobId)).toMatchObject({ code: 0 });
    }
    const shown = jsonLine(await nightdesk("evidence", "show", readers[1] ?? "", "--json"));
    expect(shown["statements"]).toMatchObject([{ error_code: "CONTENT_NOT_KEPT" }]);
    const places = await db.query(
      "select path, sha256, extractor from nightdesk_data.evidence where path like '%ferry.html' limit 1",
    );
    const [place] = places.rows as { path: string; sha256: string; extractor: string }[];
    if (place === undefined) throw new Error("no evidence");
    await db.query("delete from nightdesk_data.documents");
    const lines = { ...place, lineStart: 1, lineEnd: 1 };
    expect(await selectPassages(db, lines)).toMatchObject([
      { text: expect.stringContaining("The ferry leaves at six.") },
    ]);
    // Lines of a text are counted otherwise by another extractor.
    expect(await selectPassages(db, { ...lines, extractor: "other" })).toEqual([]);
  });

  test("takes bytes in place of texts, and no texts in place of bytes", async () => {
    for (const [file, text] of Object.entries(FILES)) await writeFile(pathOf(file), text);
    const { config } = topology.context;
    for (const keep of ["bytes", "text"] as const) {
      const documents = { ...config.documents, keep };
      const context = { ...topology.context, config: { ...config, documents } };
      const worker = await startWorker(context, 1, (database) => createRunJob(context, database));
      expect(await nightdesk("index", "--verify")).toMatchObject({ code: 0 });
      await worker.stop(0);
      expect(await extractors()).toEqual([null, null]);
    }
  });

  test("has the text of the extractor that read a document last", async () => {
    const sha256 = "b".repeat(64);
    const text = (words: string) => ({
      text: words,
      places: { numbers: [], sheets: [] },
      leftOut: {},
    });
    const keep = (words: string, extractor: string) =>
      db.transaction((transaction) =>
        storeContents(transaction, "corpus", {
          contents: [{ path: "x", sha256, content: packText(text(words)), extractor }],
          quota: 1e9,
        }),
      );
    await keep("one", "pdf 1");
    await keep("lost", "pdf 1");
    expect(await selectContent(db, sha256)).toEqual({ ...text("one"), extractor: "pdf 1" });
    await keep("a\u0000\ud800b", "pdf 2");
    expect(await selectContent(db, sha256)).toEqual({
      ...text("a\u0000\ud800b"),
      extractor: "pdf 2",
    });
  });
});
