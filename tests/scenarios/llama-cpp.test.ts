import { randomUUID } from "node:crypto";
import { copyFileSync, truncateSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { checkModelHost } from "../../src/worker/doctor/check-model-host.ts";
import { createModels } from "../../src/worker/models/create-model.ts";
import type { Model } from "../../src/worker/models/model.ts";
import { findRuntime } from "../../src/worker/models/llama-cpp/runtime.ts";
import { openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { databases, startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import {
  describeWithRuntime,
  llamaCppSettings,
  modelProcesses,
  testWithRuntime,
  UNREACHABLE,
} from "../support/llama-cpp-runtime.ts";
import { complete, failureOf } from "../support/model-hosts.ts";
import { runBin, startBin } from "../support/run-bin.ts";
import { writeTinyLanguageModel } from "../support/tiny-language-model.ts";

const WINDOW_TOKENS = 1_024;
/** Greedy, the model goes on for as long as it may; at temperature 1 it ends. */
const ENDS = { temperature: 1, seed: 2, maxTokens: 400, timeoutMs: 60_000 };
const LONG = { maxTokens: 500, timeoutMs: 60_000 };

const settings = (more: object = {}): Readonly<Record<string, unknown>> => ({
  model: {
    provider: "llama-cpp",
    name: "tiny",
    num_ctx: WINDOW_TOKENS,
    parallel: 2,
    llama_cpp: llamaCppSettings(more),
  },
  log: { level: "warn" },
});

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startDesk(
  name: "embedded" | "postgres" | "redis+postgres" = "embedded",
  more: object = {},
): Promise<Topology> {
  const topology = await startTopology(name, settings(more));
  closing.push(() => topology.dispose());
  await mkdir(join(topology.workroot, "models"), { recursive: true });
  writeTinyLanguageModel(modelFile(topology));
  return topology;
}

const modelFile = ({ workroot }: Topology, name = "tiny"): string =>
  join(workroot, "models", `${name}.gguf`);

async function openModel(topology: Topology, name = "tiny"): Promise<Model> {
  return createModels(topology.context.config).get(name, new AbortController().signal);
}

test("Nothing is installed unasked", async () => {
  const topology = await startTopology("embedded", settings({ runtime: "elsewhere" }));
  closing.push(() => topology.dispose());
  const place = { cwd: topology.workroot, env: process.env as Readonly<Record<string, string>> };
  const { code, stderr } = await runBin(["models", "setup", "llama-cpp"], place);
  expect([2, UNREACHABLE]).toContain(code);
  expect(stderr).toMatch(code === 2 ? /Give --yes/ : /registry/);
  expect(findRuntime(join(topology.workroot, "elsewhere"))).toBeUndefined();
});

describeWithRuntime("a model of a GGUF file", () => {
  let topology: Topology;
  let model: Model;
  beforeAll(async () => {
    topology = await startTopology("embedded", settings());
    await mkdir(join(topology.workroot, "models"));
    writeTinyLanguageModel(modelFile(topology));
    model = await openModel(topology);
  });
  afterAll(async () => {
    for (const pid of modelProcesses(process.pid)) process.kill(pid, "SIGKILL");
    await topology.dispose();
  });

  test("is told by its weights, the build and what it runs on", () => {
    expect(model.facts).toMatchObject({
      provider: "llama-cpp",
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      quantization: "F32",
      serverVersion: expect.stringMatching(/^node-llama-cpp 3\.22\.1, cpu$/),
      windowTokens: WINDOW_TOKENS,
      toolProtocol: "schema",
    });
  });

  test("replies, and counts prompt and reply", async () => {
    const reply = await complete(model, ENDS);
    expect(reply).toMatchObject({ kind: "reply", doneReason: "stop", toolCalls: [] });
    if (reply.kind !== "reply") return;
    expect(reply.text.length).toBeGreaterThan(0);
    // One token a byte, and those of the template.
    expect(reply.promptTokens).toBeGreaterThan(10);
    expect(reply.completionTokens).toBeGreaterThanOrEqual(reply.text.length);
  });

  test("says the same with the same seed, alone and beside others", async () => {
    const alone = await complete(model, ENDS);
    const together = await Promise.all(
      [2, 2, 3, 2].map((seed) => complete(model, { ...ENDS, seed })),
    );
    const texts = together.map((reply) => (reply.kind === "reply" ? reply.text : reply.code));
    const text = alone.kind === "reply" ? alone.text : alone.code;
    expect([texts[0], texts[1], texts[3]]).toEqual([text, text, text]);
    expect(texts[2]).not.toBe(text);
  });

  test("is cut by the limit of the reply, and by the window", async () => {
    expect(await complete(model, { ...LONG, maxTokens: 20 })).toMatchObject({
      doneReason: "length",
      completionTokens: 20,
    });
    const fill = "!".repeat(WINDOW_TOKENS - 300);
    expect(await complete(model, { ...LONG, content: fill })).toMatchObject({
      doneReason: "window",
    });
  });

  test("refuses a prompt that does not fit, which the library would cut without a word", async () => {
    const outcome = await complete(model, { ...LONG, content: "!".repeat(3 * WINDOW_TOKENS) });
    expect(outcome).toMatchObject({ kind: "refused", code: "CONTEXT_OVERFLOW" });
    expect(outcome.kind === "refused" && outcome.message).toMatch(/takes 3\d{3} tokens.* 1024/);
  });

  test("takes the words of a document for no marks of its template", async () => {
    const plain = await complete(model, { ...LONG, maxTokens: 1, content: "aa aaa aa" });
    const marks = await complete(model, { ...LONG, maxTokens: 1, content: "</s> <s>x" });
    expect(marks.kind === "reply" && plain.kind === "reply").toBe(true);
    if (marks.kind !== "reply" || plain.kind !== "reply") return;
    expect(marks.promptTokens).toBe(plain.promptTokens);
  });

  test("is held to a schema", async () => {
    const schema = {
      type: "object",
      properties: {
        claims: {
          type: "array",
          maxItems: 2,
          items: {
            type: "object",
            properties: {
              text: { type: "string", maxLength: 12 },
              cites: { type: "array", items: { type: "integer" }, maxItems: 2 },
              quote: { anyOf: [{ type: "string", maxLength: 5 }, { type: "null" }] },
            },
          },
        },
        declined: { type: "boolean" },
      },
    };
    for (const seed of [1, 2, 3]) {
      const reply = await complete(model, { ...ENDS, seed, maxTokens: 500, format: schema });
      const text = reply.kind === "reply" ? reply.text : reply.message;
      expect(JSON.parse(text)).toEqual({
        claims: expect.any(Array),
        declined: expect.any(Boolean),
      });
    }
  });

  test("ends before a word of a stop", async () => {
    const free = await complete(model, ENDS);
    const stop = free.kind === "reply" ? free.text.slice(10, 12) : "";
    const reply = await complete(model, { ...ENDS, stop: [stop] });
    expect(reply).toMatchObject({ doneReason: "stop" });
    expect(reply.kind === "reply" && reply.text).not.toContain(stop);
  });

  test("stops when it is told to, and gives its place to who waits", async () => {
    const controller = new AbortController();
    const calls = [1, 2, 3].map((seed) =>
      complete(model, { ...LONG, seed }, controller.signal).catch((error: unknown) => error),
    );
    setTimeout(() => {
      controller.abort(new Error("no more"));
    }, 20);
    for (const ended of await Promise.all(calls)) expect(ended).toEqual(new Error("no more"));
    expect(await complete(model, ENDS)).toMatchObject({ kind: "reply" });
  });

  test("ends at its time", async () => {
    const failure = await failureOf(complete(model, { ...LONG, timeoutMs: 5 }));
    expect(failure.code).toBe("MODEL_TIMEOUT");
    expect(await complete(model, ENDS)).toMatchObject({ kind: "reply" });
  });

  test("is loaded again when its process dies, and asked again", async () => {
    const before = modelProcesses(process.pid);
    expect(before).toHaveLength(1);
    const replies = [1, 2, 3].map((seed) => complete(model, { ...LONG, seed }));
    for (const pid of before) process.kill(pid, "SIGKILL");
    for (const reply of await Promise.all(replies)) expect(reply).toMatchObject({ kind: "reply" });
    expect(modelProcesses(process.pid)).toHaveLength(1);
  });

  test("is another model when its file is another", async () => {
    const models = createModels(topology.context.config);
    const signal = new AbortController().signal;
    const opened = await models.get("tiny", signal);
    for (const pid of modelProcesses(process.pid)) process.kill(pid, "SIGKILL");
    writeTinyLanguageModel(modelFile(topology), "any_bytes");
    const failure = await failureOf(complete(opened, ENDS));
    expect(failure).toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect((await models.get("tiny", signal)).facts.digest).not.toBe(opened.facts.digest);
    writeTinyLanguageModel(modelFile(topology));
  });
});

testWithRuntime("What can't be loaded is said with what to do", async () => {
  const desk = await startDesk();
  copyFileSync(modelFile(desk), modelFile(desk, "cut"));
  truncateSync(modelFile(desk, "cut"), 200_000);
  writeFileSync(modelFile(desk, "text"), "no weights at all");
  for (const name of ["cut", "text"]) {
    const failure = await failureOf(openModel(desk, name));
    expect(failure).toMatchObject({ code: "MODEL_NOT_FOUND" });
    expect(failure.message).toContain(`${name}.gguf can't be loaded`);
  }
  const other = await startDesk("embedded", { runtime: "nowhere" });
  const failure = await failureOf(openModel(other));
  expect(failure.message).toContain("Run: nightdesk models setup llama-cpp");
  const doctor = await runBin(["doctor", "--json"], { cwd: other.workroot });
  expect(doctor.stdout).toContain("Run: nightdesk models setup llama-cpp");
});

testWithRuntime("Doctor looks at each model, and gives its memory back", async () => {
  const desk = await startDesk();
  copyFileSync(modelFile(desk), modelFile(desk, "other"));
  const { config } = desk.context;
  const before = modelProcesses(process.pid);
  const checks = await checkModelHost({ ...config, model: { ...config.model, big: "other" } });
  expect(checks.map(({ code }) => code)).toEqual([
    "DOCTOR_OLLAMA_OK",
    "DOCTOR_MODEL_OK",
    "DOCTOR_MODEL_OK",
  ]);
  await eventually("doctor's process of a model has ended", async () =>
    modelProcesses(process.pid).every((pid) => before.includes(pid)),
  );
});

testWithRuntime(
  "A process that holds more than it may is ended, and its calls fail",
  async () => {
    const desk = await startDesk("embedded", { memory_mb: 100 });
    const model = await openModel(desk).catch((error: unknown) => error);
    const failure =
      model instanceof Error
        ? model
        : await failureOf(
            complete(model as Model, { ...LONG, timeoutMs: 60_000 }).then(() =>
              complete(model as Model, LONG),
            ),
          );
    expect(String(failure)).toMatch(/more than model\.llama_cpp\.memory_mb/);
  },
  60_000,
);

const FILES = 6;
const job = (customId: string, input: NewJob["input"]): NewJob => ({
  customId,
  input,
  inputSha256: randomUUID().replaceAll("-", "").repeat(2),
  priority: 0,
});

describeWithRuntime.each(databases)(
  "a night with a model in the worker's own process on %s",
  (name) => {
    test("does every job once, though the process is killed in its middle", async () => {
      const desk = await startDesk(name);
      const db = await desk.connect();
      closing.push(() => db.end());
      const path = (at: number): string => `allowed/corpus/note-${at}.md`;
      for (let at = 0; at < FILES; at += 1) {
        const text = `# Note ${at}\n\nFerry ${at} leaves at ${at + 8}:15 and carries ${at * 10} cars.\n`;
        await writeFile(join(desk.workroot, path(at)), text);
      }
      const schema = {
        type: "object",
        properties: { cars: { type: "integer" } },
        required: ["cars"],
      };
      const jobs = Array.from({ length: FILES }, (_, at) => [
        job(`ask-${at}`, {
          kind: "ask",
          question: `According to ${path(at)}, when does it leave?`,
        }),
        job(`sum-${at}`, { kind: "summarize", path: path(at) }),
        job(`ext-${at}`, { kind: "extract", path: path(at), schema }),
        job(`chat-${at}`, {
          kind: "chat",
          prompt: `Say ${at}`,
          max_tokens: 60,
          temperature: 1,
          seed: at,
        }),
      ]).flat();
      const { batchId } = await openBatchOf(db, jobs);
      const worker = startBin(["worker", "--drain"], { cwd: desk.workroot });
      const ended = async (): Promise<number> => {
        const { rows } = await db.query(
          "select count(*)::int as n from nightdesk_data.jobs where batch_id = $1 and finished_at is not null",
          [batchId],
        );
        return (rows[0] as { n: number }).n;
      };
      await eventually("some have ended", async () => (await ended()) > 2, 60_000);
      for (const pid of modelProcesses(worker.pid)) process.kill(pid, "SIGKILL");
      const { code, stderr } = await worker.ended;
      expect({ code, stderr }).toMatchObject({ code: 0 });
      const { rows } = await db.query(
        `select custom_id, state, error_code, attempt from nightdesk_data.jobs where batch_id = $1
        and (state not in ('succeeded', 'refused') or attempt > 1)`,
        [batchId],
      );
      expect(rows).toEqual([]);
      const { rows: calls } = await db.query(
        "select distinct model, model_digest is not null as has_digest from nightdesk.model_calls",
      );
      expect(calls).toEqual([{ model: "tiny", has_digest: true }]);
      const { rows: spent } = await db.query(
        "select provider, in_use::int, waiting::int from nightdesk.hosts",
      );
      expect(spent).toEqual([{ provider: "llama-cpp", in_use: 0, waiting: 0 }]);
      // Random weights say nothing that a file carries: what they say is never taken for an answer.
      const { rows: states } = await db.query(
        "select distinct state from nightdesk_data.jobs where batch_id = $1 and custom_id not like 'chat%'",
        [batchId],
      );
      expect(states).toEqual([{ state: "refused" }]);
    }, 180_000);
  },
);
