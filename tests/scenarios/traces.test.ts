import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { eventually } from "../conformance/signal.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import { describeOn } from "../support/describe-on.ts";
import { loadedBy } from "../support/loaded-by.ts";
import { jsonLine, runBin, startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";

const fixtures = resolve(import.meta.dirname, "..", "fixtures", "telemetry");
const QUESTION = "When does the ferry Bear leave Lind? Read allowed/corpus/bear.md";
const ANSWER = "The Bear leaves Lind at 7:40 [1].";

const CALL = JSON.stringify({
  type: "tool_call",
  name: "read_text_file",
  args: { path: "allowed/corpus/bear.md" },
});

type Span = {
  readonly process: string;
  readonly scope: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parent: string | null;
  readonly links: readonly string[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number; readonly message?: string };
};

describeOn("redis+postgres", "spans", (name) => {
  let double: OllamaDouble;
  let topology: Topology;
  let worker: Running;
  let env: Record<string, string>;
  beforeAll(async () => {
    double = await startOllamaDouble({
      models: [
        {
          name: "small",
          contextLength: 8_192,
          respond: (messages) =>
            messages.some(({ content }) => content.includes("7:40")) ? ANSWER : CALL,
        },
      ],
    });
    topology = await startTopology(name, {
      model: { provider: "ollama", name: "small", base_url: double.url, num_ctx: 8_192 },
      runs: { reuse: "never" },
    });
    await writeFile(
      join(topology.workroot, "allowed", "corpus", "bear.md"),
      "The Bear leaves Lind at 7:40.\n",
    );
    env = {
      NODE_OPTIONS: `--import=${join(fixtures, "spans-to-file.js")}`,
      SPANS_FILE: join(topology.workroot, "spans"),
    };
    worker = startBin(["worker"], { cwd: topology.workroot, env });
  });
  afterAll(async () => {
    worker.kill("SIGTERM");
    await worker.ended;
    await topology.dispose();
    await double.close();
  });

  const spans = async (): Promise<readonly Span[]> =>
    (await readFile(env["SPANS_FILE"] ?? "", "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Span);
  const runOf = async (jobId: unknown): Promise<Span> => {
    let found: Span | undefined;
    await eventually("its run has ended", async () => {
      found = (await spans()).find(
        ({ attributes }) =>
          attributes["nightdesk.run_id"] !== undefined && attributes["nightdesk.job_id"] === jobId,
      );
      return found !== undefined;
    });
    if (found === undefined) throw new Error("no span");
    return found;
  };

  test("go from the command over the queue to the model, and hold no content", async () => {
    const ended = await runBin(["ask", QUESTION, "--wait", "--json"], {
      cwd: topology.workroot,
      env,
    });
    const result = jsonLine(ended);
    expect(result).toMatchObject({ ok: true });
    const run = await runOf(result["job_id"]);
    const all = await spans();
    const enqueued = all.find(({ spanId }) => spanId === run.parent);
    expect(enqueued).toMatchObject({ process: "ask", name: "enqueue batch", traceId: run.traceId });
    expect(run).toMatchObject({
      process: "worker",
      name: "run ask",
      attributes: { "nightdesk.outcome": "succeeded", "nightdesk.attempt": 1 },
    });
    const steps = all.filter(({ parent, scope }) => parent === run.spanId && scope === "nightdesk");
    expect(steps.map((step) => step.name)).toEqual(
      expect.arrayContaining(["step classify", "step second_pass", "step check"]),
    );
    const second = steps.find((step) => step.name === "step second_pass");
    const chat = all.find((span) => span.name === "chat small" && span.parent === second?.spanId);
    expect(chat?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "ollama",
      "gen_ai.request.model": "small",
      "gen_ai.usage.input_tokens": expect.any(Number),
      "gen_ai.usage.output_tokens": expect.any(Number),
      "gen_ai.response.finish_reasons": ["stop"],
    });
    expect(all.find((span) => span.name === "execute_tool read_text_file")).toMatchObject({
      traceId: run.traceId,
      attributes: { "gen_ai.tool.name": "read_text_file" },
    });
    // The queue's own spans end behind the run's.
    await eventually("the queue was given the job, and has ended it", async () => {
      const names = (await spans())
        .filter(({ scope }) => scope === "bullmq")
        .map((one) => one.name);
      return [/^addBulk/, /^process/].every((wanted) => names.some((one) => wanted.test(one)));
    });
    const written = await readFile(env["SPANS_FILE"] ?? "", "utf8");
    for (const word of ["Bear", "7:40", "bear.md"]) expect(written).not.toContain(word);
  });

  test("of a batch of many jobs are a trace a job, with a link to what queued it", async () => {
    const lines = ["a", "b"].map((id) =>
      JSON.stringify({ custom_id: id, kind: "chat", prompt: `Say ${id}.` }),
    );
    await writeFile(join(topology.workroot, "two.jsonl"), `${lines.join("\n")}\n`);
    await runBin(["enqueue", "two.jsonl", "--batch-name", "two", "--wait"], {
      cwd: topology.workroot,
      env,
    });
    let runs: readonly Span[] = [];
    await eventually("both have ended", async () => {
      runs = (await spans()).filter((span) => span.name === "run chat");
      return runs.length === 2;
    });
    const enqueued = (await spans()).find(
      (span) => span.name === "enqueue batch" && span.process === "enqueue",
    );
    expect(new Set(runs.map(({ traceId }) => traceId)).size).toBe(2);
    for (const run of runs) {
      expect(run.parent).toBeNull();
      expect(run.links).toEqual([enqueued?.spanId]);
    }
  });

  test("of a refusal have its code and are no error", async () => {
    const ended = await runBin(["ask", "Read allowed/corpus/nowhere.md", "--wait", "--json"], {
      cwd: topology.workroot,
      env,
    });
    expect(jsonLine(ended)).toMatchObject({ error_code: "FILE_NOT_FOUND" });
    const run = await runOf(jsonLine(ended)["job_id"]);
    expect(run.attributes["nightdesk.error_code"]).toBe("FILE_NOT_FOUND");
    expect(run.status.code).toBe(0);
  });
});

describe("a command without an SDK", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nightdesk-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("loads nothing of OpenTelemetry, and no more modules than it needs", async () => {
    const topology = await startTopology("embedded");
    try {
      const version = await loadedBy(["--version"], topology.workroot);
      const sql = await loadedBy(["sql", "select 1"], topology.workroot);
      for (const loaded of [version, sql]) {
        expect(loaded.filter((name) => name.includes("opentelemetry"))).toEqual([]);
        expect(loaded.filter((name) => name.includes("modelcontextprotocol"))).toEqual([]);
        // It logs nothing, and prints no time.
        expect(loaded.filter((name) => /\/(pino|luxon)\//.test(name))).toEqual([]);
      }
      expect(sql.some((name) => name.includes("/pg/"))).toBe(true);
      // 31 and 295 when this was written.
      expect(version.length).toBeLessThanOrEqual(32);
      expect(sql.length).toBeLessThanOrEqual(300);
    } finally {
      await topology.dispose();
    }
  });

  test("parses no YAML where nobody has a configuration of his own", async () => {
    const loaded = await loadedBy(["config", "show"], folder);
    expect(loaded.some((name) => name.endsWith("/config/parsed-tree.js"))).toBe(true);
    expect(loaded.filter((name) => /\/yaml\/|parse-yaml/.test(name))).toEqual([]);
  });
});
