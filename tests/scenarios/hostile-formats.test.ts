import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { paragraph, run, writeDocx } from "../support/format-writers.ts";
import { HOSTILE_FILES } from "../support/hostile-formats.ts";
import { runBin, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";

const GOOD = ["good-1.docx", "good-2.docx", "good-3.docx"];
const goodFile = (): Buffer =>
  writeDocx({ body: paragraph(run("The ferry to Inchmore leaves at 09:15 from pier two.")) });

const HEARTBEAT_AGE =
  "select extract(epoch from clock_timestamp() - max(heartbeat_at))::float8 as age from nightdesk.workers";

// A night over a folder in which most files are hostile, with a worker of its own process, as it would be.
describeOn("postgres", "hostile files beside a worker,", (name) => {
  let topology: Topology;
  let db: Database;
  let worker: Running;
  let watch: NodeJS.Timeout;
  let latest = 0;
  const nightdesk = (...words: readonly string[]): Promise<Ended> =>
    runBin(words, { cwd: topology.workroot });
  const rowsOf = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await db.query(sql)).rows as Record<string, unknown>[];

  beforeAll(async () => {
    topology = await startTopology(name, {
      security: {
        auto_create_allowed_roots: true,
        allowed_exts: [
          ...[".docx", ".xlsx", ".pdf", ".eml", ".html", ".csv", ".zip"],
          ...[".pptx", ".odp", ".ods", ".epub", ".rtf", ".ics"],
        ],
      },
    });
    db = await topology.connect();
    const folder = join(topology.workroot, "allowed", "corpus", "mixed");
    await mkdir(folder, { recursive: true });
    for (const file of HOSTILE_FILES) {
      await writeFile(join(folder, `hostile-${file.name}`), file.write());
    }
    for (const good of GOOD) await writeFile(join(folder, good), goodFile());
    worker = startBin(["worker"], { cwd: topology.workroot });
    watch = setInterval(() => {
      // The database is looked at all the time, and may be closed meanwhile.
      void rowsOf(HEARTBEAT_AGE).then(
        ([row]) => (latest = Math.max(latest, Number(row?.["age"] ?? 0))),
        () => undefined,
      );
    }, 500);
  }, 120_000);
  afterAll(async () => {
    clearInterval(watch);
    worker.kill("SIGTERM");
    await worker.ended;
    await db.end();
    await topology.dispose();
  });

  test("each fails alone with its code, the others are worked, and the worker stays alive", async () => {
    // 3: some of it failed.
    expect(await nightdesk("index", "--json")).toMatchObject({ code: 3 });
    const failures = await rowsOf(
      "select path, error_code as code from nightdesk_data.document_failures",
    );
    const codes = new Map(failures.map(({ path, code }) => [path, code]));
    const queued = await nightdesk("summarize", "allowed/corpus/mixed/*", "--batch-name", "mixed");
    expect(queued).toMatchObject({ code: 0 });
    expect((await nightdesk("batch", "wait", "mixed")).code).not.toBe(0);

    const rows = await rowsOf(
      `select j.input ->> 'path' as path, j.state, j.error_code, j.attempt
         from nightdesk_data.jobs j join nightdesk_data.batches using (batch_id) where name = 'mixed'`,
    );
    const jobs = new Map(rows.map((row) => [row["path"], row]));
    expect(jobs.size).toBe(HOSTILE_FILES.length + GOOD.length);
    for (const { name: file, code } of HOSTILE_FILES) {
      const path = `allowed/corpus/mixed/hostile-${file}`;
      expect([path, codes.get(path)]).toEqual([path, expect.stringMatching(code)]);
      expect(jobs.get(path)).toMatchObject({
        state: "refused",
        error_code: expect.stringMatching(code),
      });
    }
    for (const good of GOOD) {
      expect(jobs.get(`allowed/corpus/mixed/${good}`)).toMatchObject({ state: "succeeded" });
    }
    // A lease that ran out would have given a job a second attempt; a heartbeat of 15 s counts as that of a dead worker.
    expect(rows.filter(({ attempt }) => Number(attempt) > 1)).toEqual([]);
    expect(latest).toBeGreaterThan(0);
    expect(latest).toBeLessThan(15);
  }, 600_000);
});
