import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { loadedBy } from "../support/loaded-by.ts";
import { runBin } from "../support/run-bin.ts";

/** Rooms, and files of kinds, that no question needs. */
const OF_OTHERS = [
  /\/sandbox\/shell\//,
  /\/tools\/(?:all-tools|shell|web-|search-|list-files|note|read-artifact|calculate)/,
  /\/(?:mcp|mcp-client|web)\//,
  /\/documents\/formats\/(?:xlsx|docx|odt|pdf|mail|html)\./,
  /\/jobs\/(?:investigate\/|(?:ask-)?digest|extract|summarize|chat|check|command|notify|reindex|embed)/,
  /\/(?:@modelcontextprotocol|saxes|htmlparser2|unbash|ollama|prom-client|@opentelemetry|ajv)\//,
];

describe("a worker", () => {
  let topology: Topology;
  let waiting: readonly string[];
  let answering: readonly string[];
  let answers: string;
  beforeAll(async () => {
    topology = await startTopology("embedded");
    const { workroot: cwd } = topology;
    await writeFile(
      join(cwd, "allowed/corpus/ferry.md"),
      "# Ferry\n\nThe Bear leaves Lind at 7:40.\n",
    );
    await runBin(["index"], { cwd });
    waiting = ours(await loadedBy(["worker", "--drain"], cwd));
    await runBin(["ask", "When does the Bear leave Lind?"], { cwd });
    answering = await loadedBy(["worker", "--drain"], cwd);
    answers = (await runBin(["sql", "select answer from results where kind = 'ask'"], { cwd }))
      .stdout;
  });
  afterAll(() => topology.dispose());

  const ours = (loaded: readonly string[]): readonly string[] =>
    loaded.filter((name) => name.includes("/dist/") && !name.includes("/node_modules/"));

  test("loads no kind of job before there is a job", () => {
    const jobs = waiting.filter((name) => name.includes("/worker/jobs/"));
    expect(jobs.map((name) => name.replace(/.*\/jobs\//, "")).sort()).toEqual([
      "call-log.js",
      "open-run.js",
      "run-job.js",
      "verification/open-verification.js",
    ]);
    // 216 when this was written, of 562 before.
    expect(waiting.length).toBeLessThanOrEqual(225);
  });

  test("that answers a question loads nothing of other kinds and of what their tools reach", () => {
    expect(answers).toContain("7:40");
    for (const room of OF_OTHERS) expect(answering.filter((name) => room.test(name))).toEqual([]);
    // 408 when this was written, of 562 before.
    expect(ours(answering).length).toBeLessThanOrEqual(420);
  });
});
