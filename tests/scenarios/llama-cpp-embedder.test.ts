import { copyFileSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, jest, test } from "@jest/globals";
import type { ConfigValues } from "../../src/shared/config/schema.ts";
import { createLlamaCppEmbedder } from "../../src/worker/embedders/llama-cpp.ts";
import { shapeEmbedder } from "../../src/worker/embedders/shape-vectors.ts";
import { checkModelHost } from "../../src/worker/doctor/check-model-host.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import {
  describeWithRuntime,
  llamaCppSettings,
  modelProcesses,
} from "../support/llama-cpp-runtime.ts";
import { failureOf } from "../support/model-hosts.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import { writeTinyLanguageModel } from "../support/tiny-language-model.ts";

type Settings = Parameters<typeof createLlamaCppEmbedder>[0];
type Created = Awaited<ReturnType<typeof createLlamaCppEmbedder>>;
type LlamaCpp = ConfigValues["model"]["llama_cpp"];

/** Of the model that writeTinyLanguageModel writes, one token a byte. */
const DIMS = 64;
const MANY = 20_000;
const SETTINGS: Settings = {
  model_id: "tiny",
  cache_dir: null,
  batch_size: 3,
  max_length: 64,
  timeout_s: 60,
  recycle_texts: 1_000,
  recycle_mb: 10_000,
};

// Each process of a model takes seconds to start where others calculate, and some tests start five.
jest.setTimeout(240_000);

describeWithRuntime("an embedder of a GGUF file", () => {
  const { signal } = new AbortController();
  const created: Created[] = [];
  let workroot: string;
  beforeAll(() => {
    workroot = mkdtempSync(join(tmpdir(), "nightdesk-gguf-"));
    mkdirSync(join(workroot, "models"));
    writeTinyLanguageModel(fileOf("tiny"));
  });
  afterEach(async () => {
    for (const embedder of created.splice(0)) embedder.close();
    await eventually(
      "no process of a model is left",
      async () => modelProcesses(process.pid).length === 0,
    );
  });
  afterAll(() => {
    rmSync(workroot, { recursive: true });
  });

  const fileOf = (name: string, folder = "models"): string =>
    join(workroot, folder, `${name}.gguf`);
  const create = async (
    settings: Partial<Settings> = {},
    llamaCpp: object = {},
  ): Promise<Created> => {
    const runtime = llamaCppSettings({ memory_mb: null, recycle_replies: 1, ...llamaCpp });
    const place = { workroot, llamaCpp: runtime as LlamaCpp };
    const embedder = await createLlamaCppEmbedder({ ...SETTINGS, ...settings }, place);
    created.push(embedder);
    return embedder;
  };

  test("gives vectors of unit length in order, the same for a text whatever is embedded beside it", async () => {
    const embedder = await create();
    const texts = ["a night", "a desk", "rail", "äöü 漢字", "a night"];
    const vectors = await embedder.embed(texts, signal);
    expect(embedder).toMatchObject({ id: "tiny", dims: DIMS, defaultWeight: 1 });
    expect(vectors.map((vector) => [vector.length, Math.hypot(...vector).toFixed(4)])).toEqual(
      texts.map(() => [DIMS, "1.0000"]),
    );
    expect(vectors[4]).toEqual(vectors[0]);
    expect(vectors[1]).not.toEqual(vectors[0]);
    const together = await Promise.all([
      embedder.embed(texts.toReversed(), signal),
      ...texts.map((text) => embedder.embed([text], signal)),
    ]);
    const [backwards, ...alone] = together;
    expect(backwards.toReversed()).toEqual(vectors);
    expect(alone.flat()).toEqual(vectors);
    expect(await embedder.embed([], signal)).toEqual([]);
  });

  test("a text beyond the window is cut until it fits, and counted; a blank one has no direction", async () => {
    const embedder = await create();
    const long = "! ".repeat(100);
    let cut = 0;
    const onCut = (): void => {
      cut += 1;
    };
    const [one, beginning, blank, two] = await embedder.embed(
      ["one", long, " \n", "two"],
      signal,
      onCut,
    );
    expect(cut).toBe(1);
    // Three tenths of 200 characters are taken away, until one token a byte fits beside the one it begins with.
    const shorter = [140, 98, 68.6, 48.02].map(Math.floor).find((length) => length < 64) ?? 0;
    expect(await embedder.embed([long.slice(0, shorter), "one", "two"], signal)).toEqual([
      beginning,
      one,
      two,
    ]);
    expect(blank).toEqual(new Float32Array(DIMS));
  });

  test("takes the words of a document for no marks of the model", async () => {
    const embedder = await create();
    let cut = 0;
    // Each of them would be one token.
    await embedder.embed(["</s>".repeat(20)], signal, () => {
      cut += 1;
    });
    expect(cut).toBe(1);
  });

  test("its signature is of the file and the window, wherever the file lies", async () => {
    const { signature } = await create();
    mkdirSync(join(workroot, "elsewhere"));
    copyFileSync(fileOf("tiny"), fileOf("tiny", "elsewhere"));
    expect((await create({ cache_dir: "elsewhere", batch_size: 1 })).signature).toBe(signature);
    expect((await create({ max_length: 128 })).signature).not.toBe(signature);
    writeTinyLanguageModel(fileOf("tiny", "elsewhere"), "any_bytes");
    expect((await create({ cache_dir: "elsewhere" })).signature).not.toBe(signature);
  });

  test("keeps the first dimensions, and puts prefixes before texts, as other embedders do", async () => {
    const whole = await create();
    const settings = {
      ...SETTINGS,
      query_prefix: "q: ",
      passage_prefix: null,
      dimensions: 16,
      precision: "full" as const,
    };
    const shaped = shapeEmbedder(whole, settings);
    const [vector = new Float32Array()] = await shaped.embed(["a night"], signal);
    const [full = new Float32Array()] = await whole.embed(["a night"], signal);
    expect(shaped).toMatchObject({ dims: 16, prefixes: { query: "q: ", passage: "" } });
    expect(shaped.signature).not.toBe(whole.signature);
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect((vector[0] ?? 0) / (vector[1] ?? 0)).toBeCloseTo((full[0] ?? 0) / (full[1] ?? 0), 3);
  });

  test("is loaded again when its process dies, and asked again", async () => {
    const embedder = await create();
    const [before] = await embedder.embed(["a night"], signal);
    for (const pid of modelProcesses(process.pid)) process.kill(pid, "SIGKILL");
    expect(await embedder.embed(["a night"], signal)).toEqual([before]);
  });

  test("its process is replaced after so many texts, and when it holds too much", async () => {
    const embedder = await create({ recycle_texts: 3 });
    await embedder.embed(["one"], signal);
    const [first] = modelProcesses(process.pid);
    await embedder.embed(["two"], signal);
    await eventually(
      "the process is gone",
      async () => !modelProcesses(process.pid).includes(first ?? 0),
    );
    const large = await create({ recycle_mb: 1 });
    await eventually("it is gone", async () => modelProcesses(process.pid).length === 0);
    expect(await large.embed(["three"], signal)).toHaveLength(1);
  });

  test("a process that holds more than it may is ended, and what it was asked fails", async () => {
    const embedder = await create({ batch_size: MANY }, { memory_mb: 100 });
    // It is looked at twice a second; nothing embeds so many texts in that time.
    const texts = Array.from({ length: MANY }, (_, at) => `text ${at}`);
    expect(await failureOf(embedder.embed(texts, signal))).toMatchObject({
      code: "TOOL_ERROR",
      message: expect.stringMatching(
        /more than model\.llama_cpp\.memory_mb.*lower embed\.max_length/,
      ),
    });
  });

  test("stops when it is told to, and takes the next texts", async () => {
    const embedder = await create();
    const controller = new AbortController();
    const texts = Array.from({ length: MANY }, (_, at) => `text ${at}`);
    const asked = embedder.embed(texts, controller.signal).catch((error: unknown) => error);
    controller.abort(new Error("no more"));
    expect(await asked).toEqual(new Error("no more"));
    expect(await embedder.embed(["a night"], signal)).toHaveLength(1);
  });

  test("a file that is replaced is another model: EMBED_DRIFT", async () => {
    copyFileSync(fileOf("tiny"), fileOf("other"));
    const embedder = await create({ model_id: "other" });
    for (const pid of modelProcesses(process.pid)) process.kill(pid, "SIGKILL");
    writeTinyLanguageModel(fileOf("other"), "any_bytes");
    const failure = await failureOf(embedder.embed(["one"], signal));
    expect(failure).toMatchObject({
      code: "EMBED_DRIFT",
      message: expect.stringContaining("Start the worker again, then run: nightdesk embed"),
    });
  });

  test("what can't be used is said with what to do", async () => {
    copyFileSync(fileOf("tiny"), fileOf("cut"));
    truncateSync(fileOf("cut"), 200_000);
    const cases = [
      [{ model_id: "none" }, {}, "EMBED_MODEL_MISSING", /There is no "none\.gguf".* --gguf FILE/],
      [{ model_id: "cut" }, {}, "EMBED_MODEL_MISSING", /can't be loaded.*embed\.model_id/],
      [{}, { runtime: "nowhere" }, "EMBED_MODEL_MISSING", /Run: nightdesk models setup llama-cpp/],
      [{ timeout_s: 0.001 }, {}, "MODEL_TIMEOUT", /was not loaded within.*Raise embed\.timeout_s/],
      [{ max_length: 4 }, {}, "CONFIG_ERROR", /no room for a few words.*Raise embed\.max_length/],
    ] as const;
    for (const [settings, llamaCpp, code, words] of cases) {
      const failure = await failureOf(create(settings, llamaCpp));
      expect(failure.code).toBe(code);
      expect(failure.message).toMatch(words);
    }
  });
});

describeWithRuntime("an index with vectors of a GGUF file", () => {
  let topology: Topology;
  beforeAll(async () => {
    topology = await startTopology("embedded", {
      model: { provider: "extractive", llama_cpp: llamaCppSettings() },
      embed: { provider: "llama-cpp", model_id: "tiny" },
      log: { level: "warn" },
    });
    mkdirSync(join(topology.workroot, "models"));
    writeTinyLanguageModel(join(topology.workroot, "models", "tiny.gguf"));
    const note = join(topology.workroot, "allowed", "corpus", "ferry.md");
    writeFileSync(note, "# Ferry\n\nThe ferry leaves at 09:15 and carries bicycles.\n");
  });
  afterAll(() => topology.dispose());
  const run = (...words: string[]) => runBin(words, { cwd: topology.workroot });

  test("is made, searched, and found whole by doctor", async () => {
    expect(await run("index")).toMatchObject({ code: 0 });
    const found = await run("query", "when does the ferry leave", "--mode", "vector", "--json");
    expect(jsonLine(found)).toMatchObject({
      hits: [expect.objectContaining({ path: expect.stringMatching(/ferry\.md$/) })],
    });
    const { stdout } = await run("doctor", "--json");
    expect(stdout).toContain(`Model tiny embeds here, in ${DIMS} dimensions.`);
    expect(stdout).not.toMatch(/EMBED_CONFIG_INVALID|MODEL_MISSING/);
  });

  test("doctor says what is missing, and leaves no process", async () => {
    const { config } = topology.context;
    const embed = { ...config.embed, model_id: "none" };
    const checks = await checkModelHost({ ...config, embed });
    expect(checks.map(({ code }) => code)).toEqual(["DOCTOR_OLLAMA_OK", "DOCTOR_MODEL_MISSING"]);
    expect(await checkModelHost(config)).toHaveLength(2);
    await eventually(
      "doctor's process of a model has ended",
      async () => modelProcesses(process.pid).length === 0,
    );
  });
});
