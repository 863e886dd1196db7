import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { stringify } from "yaml";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { jsonLine, runBin, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";
import { writeTinyClassifier, writeTinyReranker } from "../support/tiny-model.ts";
import { childrenStartedWith } from "../support/child-processes.ts";

const MODEL_PROCESS = "embedders/transformers/child";

const BIN = resolve(import.meta.dirname, "..", "..", "bin", "nightdesk.js");
const RERANK = {
  provider: "transformers",
  model_id: "tiny-rerank",
  candidates: 10,
  timeout_s: 300,
};
const NAME = /^tiny-rerank [0-9a-f]{12}$/;
/** By words notes.md comes first, and the passage that answers last. */
const FILES = {
  "notes.md": "# Ferry\n\nThe ferry, the ferry, and again the ferry leaves.\n",
  "repairs.md": "# Repairs\n\nThe ferry leaves the dock after a ferry repair.\n",
  "timetable.md":
    "# Timetable\n\nOn weekdays the ferry leaves the quay at nine, and nobody who comes later is waited for.\n",
};
const QUESTION = "When does the ferry leave?";

type Found = {
  readonly reranker?: string;
  readonly hits: readonly {
    readonly path: string;
    readonly score: number;
    readonly explain: Readonly<Record<string, unknown>>;
  }[];
};

describeOn("postgres", "a reranker", (name) => {
  let topology: Topology;
  let worker: Running;

  beforeAll(async () => {
    topology = await startTopology(name, {
      retrieve: { rerank: RERANK },
      runs: { reuse: "never" },
      log: { level: "info" },
    });
    const corpus = join(topology.workroot, "allowed", "corpus");
    await mkdir(corpus, { recursive: true });
    for (const [file, text] of Object.entries(FILES)) await writeFile(join(corpus, file), text);
    writeTinyReranker(folder(), { weights: { nine: 5, dock: 2 } });
    worker = await startWorker();
    expect((await queue("index")).code).toBe(0);
    expect((await queue("embed")).code).toBe(0);
  });
  afterAll(async () => {
    await stopWorker();
    await topology.dispose();
  });

  const folder = () => join(topology.workroot, "models", "tiny-rerank");
  const run = (...words: readonly string[]): Promise<Ended> =>
    runBin(words, { cwd: topology.workroot });
  /** Commands that load no model themselves. */
  const queue = (...words: readonly string[]): Promise<Ended> =>
    runCommand(words, { cwd: topology.workroot });
  const startWorker = async (): Promise<Running> => {
    const started = startBin(["worker"], { cwd: topology.workroot });
    await started.said(/worker ready/);
    return started;
  };
  const stopWorker = async () => {
    worker.kill("SIGTERM");
    expect((await worker.ended).code).toBe(0);
  };
  async function configWith(file: string, rerank: object): Promise<string> {
    const path = join(topology.workroot, `${file}.yaml`);
    await writeFile(path, stringify({ extends: topology.configFile, retrieve: { rerank } }));
    return path;
  }
  const pathsOf = ({ hits }: Pick<Found, "hits">) =>
    hits.map(({ path }) => path.replace("allowed/corpus/", ""));
  const ask = async (question = QUESTION) => {
    const ended = await queue("ask", question, "--wait", "--json");
    expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 0 });
    return jsonLine(ended) as { job_id: string; evidence: { path: string }[] };
  };

  test("orders query, with its score and both ranks beside it", async () => {
    const off = await configWith("off", { provider: "off" });
    const plain = jsonLine(
      await run("query", QUESTION, "--explain", "--json", "--config", off),
    ) as Found;
    expect(pathsOf(plain)).toEqual(["notes.md", "repairs.md", "timetable.md"]);
    expect(plain.reranker).toBeUndefined();
    expect(plain.hits[0]?.explain).not.toHaveProperty("rerank_score");

    const found = jsonLine(await run("query", QUESTION, "--explain", "--json")) as Found;
    expect(pathsOf(found)).toEqual(["timetable.md", "repairs.md", "notes.md"]);
    expect(found.reranker).toMatch(NAME);
    expect(found.hits.map(({ explain }) => explain)).toMatchObject([
      { rerank_score: 5, rerank_rank: 1, fused_rank: 3, fused_score: plain.hits[2]?.score },
      { rerank_score: 2, rerank_rank: 2, fused_rank: 2, fused_score: plain.hits[1]?.score },
      { rerank_score: 0, rerank_rank: 3, fused_rank: 1, fused_score: plain.hits[0]?.score },
    ]);
    const shown = await run("query", QUESTION, "--explain");
    expect(shown.stderr).toMatch(/^Ordered by tiny-rerank [0-9a-f]{12}\.$/m);
    expect(shown.stdout).toMatch(/reranker: score 5\.0000, rank 1; before: rank 3, 0\.\d{4}/);
    const words = jsonLine(await run("query", QUESTION, "--mode", "lexical", "--json")) as Found;
    expect(pathsOf(words)[0]).toBe("notes.md");
  });

  test("orders what clients of MCP find, and the search of pages", async () => {
    const call = async (options: readonly string[], name: string, args: object) => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [BIN, "mcp", ...options],
        cwd: topology.workroot,
        env: { PATH: process.env["PATH"] ?? "" },
        stderr: "pipe",
      });
      const client = new Client({ name: "test", version: "0" });
      await client.connect(transport);
      try {
        return (await client.callTool({ name, arguments: { ...args } })).structuredContent;
      } finally {
        await client.close();
      }
    };
    expect(await call([], "search_index", { query: QUESTION })).toMatchObject({
      reranker: expect.stringMatching(NAME),
      pieces: ["timetable.md", "repairs.md", "notes.md"].map((file) => ({
        path: `allowed/corpus/${file}`,
      })),
    });
    const found = await call(["--dashboard"], "search", { text: QUESTION, limit: 9 });
    expect(pathsOf(found as Found)).toEqual(["timetable.md", "repairs.md", "notes.md"]);
    expect((found as Found).hits[0]?.explain).toMatchObject({ rerank_score: 5, fused_rank: 3 });
  });

  test("orders the evidence of ask; the run says by which model, and is repeated without it", async () => {
    const asked = await ask();
    expect(pathsOf({ hits: asked.evidence as never })).toEqual([
      "timetable.md",
      "repairs.md",
      "notes.md",
    ]);
    const shown = await queue("runs", "show", asked.job_id, "--all");
    const words = shown.stdout.replace(/\s+/g, " ");
    expect(words).toMatch(/reranker: tiny-rerank [0-9a-f]{12};/);
    expect(words).toContain("fused ranks: 3, 2, 1");
    const off = await configWith("off", { provider: "off" });
    const gone = await configWith("gone", { ...RERANK, model_id: "gone" });
    for (const config of [off, gone]) {
      const replayed = await queue("runs", "replay", asked.job_id, "--config", config);
      expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining("the same:") });
    }
  });

  test("its process is started anew when somebody killed it", async () => {
    // What was asked before is remembered.
    await ask("When is it that the ferry leaves?");
    const [before] = childrenStartedWith(MODEL_PROCESS, worker.pid);
    if (before === undefined) throw new Error("there is no process of the model");
    process.kill(before, "SIGKILL");
    await eventually(
      "it is gone",
      async () => !childrenStartedWith(MODEL_PROCESS, worker.pid).includes(before),
    );
    const { evidence } = await ask("When does the ferry leave the quay?");
    expect(evidence[0]?.path).toBe("allowed/corpus/timetable.md");
    expect(childrenStartedWith(MODEL_PROCESS, worker.pid)).toHaveLength(1);
  });

  test("a model that is broken when it is first needed fails searches with its code", async () => {
    await stopWorker();
    worker = await startWorker();
    await writeFile(join(folder(), "onnx", "model.onnx"), "half");
    const broken = {
      ok: false,
      error_code: "RERANK_MODEL_INVALID",
      error_message: expect.stringContaining("can't be loaded"),
    };
    expect(jsonLine(await queue("ask", QUESTION, "--wait", "--json"))).toMatchObject(broken);
    expect(jsonLine(await run("query", QUESTION, "--json"))).toMatchObject(broken);
    writeTinyReranker(folder(), { weights: { nine: 5, dock: 2 } });
    expect((await ask()).evidence[0]?.path).toBe("allowed/corpus/timetable.md");
  });

  test("one that is none is said by the worker at its start, and by doctor", async () => {
    writeTinyClassifier(join(topology.workroot, "models", "other"));
    const config = await configWith("other", { ...RERANK, model_id: "other" });
    const why = "is no reranker: its config.json has the labels contradiction, entailment, neutral";
    const started = await run("worker", "--drain", "--config", config);
    expect(started).toMatchObject({ code: 78, stderr: expect.stringContaining(why) });
    const told = await run("doctor", "--config", config);
    expect(told.code).toBe(1);
    expect(told.stdout.replace(/\s+/g, " ")).toMatch(/DOCTOR_RERANK_INVALID: .*is no reranker/);
    const right = await run("doctor");
    expect(right.stdout.replace(/\s+/g, " ")).toMatch(
      /DOCTOR_RERANK_OK: The first 10 passages of a search are ordered by tiny-rerank [0-9a-f]{12}/,
    );
  });
});
