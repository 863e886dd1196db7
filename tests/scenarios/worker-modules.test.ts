import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import type { DoubleMessage } from "../doubles/ollama/double-model.ts";
import { loadedBy } from "../support/loaded-by.ts";
import { partOf } from "../support/prompt-parts.ts";
import { runBin } from "../support/run-bin.ts";

/** What reads formats with parsers of others. */
const PARSERS =
  /\/documents\/(?:formats\/(?!registry|json|yaml|markdown|plain|utf8|pointed-entries|table-rows|page-blocks|mail-attachments)|reader\/(?:archive|walk-xml))/;

/** Rooms, and files of kinds, that no question needs. */
const OF_OTHERS = [
  /\/sandbox\/shell\//,
  /\/tools\/(?:all-tools|shell|web-|search-|list-files|note|read-artifact|calculate)/,
  /\/(?:mcp|mcp-client|web)\//,
  PARSERS,
  /\/(?:jobs|verify)\/judge\//,
  /\/jobs\/(?:investigate\/|(?:ask-)?digest|extract|summarize|chat|check|command|notify|reindex|embed)/,
  /\/(?:@modelcontextprotocol|saxes|htmlparser2|unbash|ollama|prom-client|@opentelemetry|ajv)\//,
];

/** Several processes one after another, beside other work. */
const LONG_MS = 120_000;

/** Answers in other words than the document's: its statement is one that a judge would be asked of. */
const respond = (messages: readonly DoubleMessage[]): string =>
  partOf(messages) === "first"
    ? JSON.stringify({
        type: "tool_call",
        name: "read_text_file",
        args: { path: "allowed/corpus/ferry.md" },
      })
    : "One needs 42 minutes for the crossing [1].";

describe("a worker whose model writes", () => {
  let double: OllamaDouble;
  beforeAll(async () => {
    double = await startOllamaDouble({ models: [{ name: "m", contextLength: 8_192, respond }] });
  });
  afterAll(() => double.close());

  const answering = async (verify: object): Promise<readonly string[]> => {
    const model = { provider: "ollama", name: "m", base_url: double.url };
    const topology = await startTopology("embedded", { model, verify });
    const { workroot: cwd } = topology;
    try {
      await writeFile(
        join(cwd, "allowed/corpus/ferry.md"),
        "# Ferry\n\nThe crossing takes 42 minutes.\n",
      );
      await runBin(["ask", "How long does it take, by allowed/corpus/ferry.md?"], { cwd });
      const loaded = await loadedBy(["worker", "--drain"], cwd);
      const { stdout } = await runBin(["sql", "select answer from results"], { cwd });
      expect(stdout).toContain("42 minutes");
      return loaded.filter((name) => /\/(?:jobs|verify)\/judge\//.test(name));
    } finally {
      await topology.dispose();
    }
  };

  test(
    "loads a judge of statements where one may be asked",
    async () => {
      expect(await answering({ judge: { model: "same" } })).not.toEqual([]);
    },
    LONG_MS,
  );

  test(
    "loads nothing of a judge where verify.judge.model is off",
    async () => {
      expect(await answering({ judge: { model: "off" } })).toEqual([]);
    },
    LONG_MS,
  );
});

describe("a worker", () => {
  let topology: Topology;
  let waiting: readonly string[];
  let answering: readonly string[];
  let reading: readonly string[];
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
    await runBin(["ask", "What does allowed/corpus/ferry.md say about Lind?"], { cwd });
    reading = await loadedBy(["worker", "--drain"], cwd);
    answers = (await runBin(["sql", "select answer from results where kind = 'ask'"], { cwd }))
      .stdout;
  }, LONG_MS);
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
  test("that reads a file of Markdown loads no parser of other formats", () => {
    expect(reading.some((name) => name.includes("/formats/registry."))).toBe(true);
    expect(reading.filter((name) => PARSERS.test(name))).toEqual([]);
    const packages = /\/(?:saxes|htmlparser2|postal-mime|unpdf|csv-parse)\//;
    expect(reading.filter((name) => packages.test(name))).toEqual([]);
  });
});
