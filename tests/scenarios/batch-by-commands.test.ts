import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, jsonLines, runBin, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";

const JOBS = 120;

describeOn("postgres", "a batch by commands", (name) => {
  let topology: Topology;
  let worker: Running;
  beforeAll(async () => {
    topology = await startTopology(name);
    const lines = Array.from({ length: JOBS }, (_, n) =>
      JSON.stringify({ custom_id: `q${n}`, kind: "summarize", path: "allowed/corpus/bear.md" }),
    );
    await file("jobs.jsonl", lines.join("\n"));
    await file("allowed/corpus/bear.md", "# The Bear\n\nThe Bear burns 4.2 litres an hour.\n");
    worker = startBin(["worker"], { cwd: topology.workroot });
  });
  afterAll(async () => {
    worker.kill("SIGTERM");
    await worker.ended;
    await topology.dispose();
  });

  const run = (...words: readonly string[]): Promise<Ended> =>
    runBin(words, { cwd: topology.workroot });
  const file = (path: string, text: string): Promise<void> =>
    writeFile(join(topology.workroot, path), text);

  test("a batch is loaded, worked, waited for, and exported in the order of its lines", async () => {
    const queued = await run("enqueue", "jobs.jsonl", "--batch-name", "night", "--json");
    expect(jsonLine(queued)).toMatchObject({ ok: true, added: JOBS, skipped: 0 });
    const waited = await run("batch", "wait", "night", "--json");
    expect(waited.code).toBe(0);
    expect(jsonLine(waited)).toMatchObject({ total: JOBS, succeeded: JOBS });
    const exported = jsonLines(await run("batch", "export", "night"));
    expect(exported.map(({ custom_id: id }) => id)).toEqual(
      Array.from({ length: JOBS }, (_, n) => `q${n}`),
    );
  });

  test("the same file again is nothing new, and there is nothing to wait for", async () => {
    const again = await run("enqueue", "jobs.jsonl", "--batch-name", "night", "--wait", "--json");
    expect(again.code).toBe(0);
    expect(jsonLine(again)).toMatchObject({ ok: true, added: 0, skipped: JOBS });
  });

  test("ask --wait of what nothing answers is refused, and is a row", async () => {
    const asked = await run("ask", "What does nowhere.md say?", "--wait", "--json");
    expect(asked.code).toBe(4);
    const { job_id: id, error_code: code } = jsonLine(asked);
    const rows = await run(
      "sql",
      `select state, error_code from results where job_id = '${String(id)}'`,
      "--json",
    );
    expect(JSON.parse(rows.stdout)).toEqual([{ state: "refused", error_code: code }]);
  });
});
