import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createTransformersEmbedder } from "../../../../src/worker/embedders/transformers/transformers.ts";
import type { TransformersSettings } from "../../../../src/worker/embedders/transformers/transformers.ts";
import { eventually } from "../../../conformance/signal.ts";
import { writeTinyModel } from "../../../support/tiny-model.ts";
import { TINY_SETTINGS } from "./tiny-settings.ts";
import { childrenStartedWith, wasStartedWith } from "../../../support/child-processes.ts";

const MODEL_PROCESS = "transformers/child";

const PACKAGE = resolve(import.meta.dirname, "..", "..", "..", "..");
const TYPESCRIPT = ["--import", join(PACKAGE, "bench", "register.js")];
const DISTURBED = [...TYPESCRIPT, "--import", join(import.meta.dirname, "disturb-model.js")];
const WITHOUT_PACKAGE = [...TYPESCRIPT, "--import", join(import.meta.dirname, "hide-package.js")];

type Created = Awaited<ReturnType<typeof createTransformersEmbedder>>;

describe("the transformers embedder", () => {
  const { signal } = new AbortController();
  const embedders: Created[] = [];
  let workroot: string;
  beforeEach(() => {
    workroot = mkdtempSync(join(tmpdir(), "nightdesk-model-"));
    writeTinyModel(join(workroot, "tiny"));
  });
  afterEach(async () => {
    for (const embedder of embedders.splice(0)) embedder.close();
    await eventually(
      "no process of a model is left",
      async () => childrenStartedWith(MODEL_PROCESS).length === 0,
    );
    rmSync(workroot, { recursive: true });
  });

  const create = async (
    settings: Partial<TransformersSettings> = {},
    execArgv: readonly string[] = TYPESCRIPT,
  ): Promise<Created> => {
    // Node takes any condition, and disturb-model.js reads from it where its mark is.
    const flags = [...execArgv, `--conditions=${join(workroot, "mark")}`];
    const place = { workroot, execArgv: flags };
    const embedder = await createTransformersEmbedder({ ...TINY_SETTINGS, ...settings }, place);
    embedders.push(embedder);
    return embedder;
  };

  test("embeds with a model from a local folder, cut at the length that was set", async () => {
    const embedder = await create();
    const long = "night ".repeat(16);
    const texts = ["night desk", "desk night", "rail", long, `${long}rail`];
    const vectors = await embedder.embed(texts, signal);
    expect(embedder).toMatchObject({ id: "tiny", dims: 4 });
    expect(vectors.map((vector) => Math.hypot(...vector).toFixed(4))).toEqual(
      texts.map(() => "1.0000"),
    );
    const [first, mirrored, other, whole, cut] = vectors;
    // The mean of the same words: order makes no difference to this model.
    expect(mirrored?.[0]).toBeCloseTo(first?.[0] ?? Number.NaN, 5);
    expect(other?.[0]).not.toBeCloseTo(first?.[0] ?? Number.NaN, 2);
    expect(cut).toEqual(whole);
  });

  test("gives the same vectors whatever a batch holds, in order, to callers at the same time", async () => {
    const embedder = await create({ batch_size: 3 });
    const words = ["night", "desk", "rail", "night desk", "rail night", "desk rail", "night rail"];
    const alone = [];
    for (const word of words) alone.push(...(await embedder.embed([word], signal)));
    const [together, backwards] = await Promise.all([
      embedder.embed(words, signal),
      embedder.embed(words.toReversed(), signal),
    ]);
    const rounded = (vectors: readonly Float32Array[]) =>
      vectors.map((vector) => Array.from(vector, (value) => value.toFixed(5)));
    expect(rounded(together)).toEqual(rounded(alone));
    expect(rounded(backwards.toReversed())).toEqual(rounded(alone));
    expect(await embedder.embed([], signal)).toEqual([]);
  });

  test("other files of the model are another signature; another folder, or files it does not use, are not", async () => {
    writeTinyModel(join(workroot, "moved", "tiny"));
    const { signature } = await create();
    expect((await create({ local_model_path: "moved/tiny" })).signature).toBe(signature);
    expect((await create({ max_length: 8 })).signature).not.toBe(signature);
    writeFileSync(join(workroot, "tiny", "README.md"), "Read me");
    writeFileSync(join(workroot, "tiny", "onnx", "model_fp16.onnx"), "half");
    expect((await create()).signature).toBe(signature);
    appendFileSync(join(workroot, "tiny", "config.json"), " ");
    expect((await create()).signature).not.toBe(signature);
  });

  test("files that are not there are named with their folder and the way to get them, and never downloaded", async () => {
    rmSync(join(workroot, "tiny", "tokenizer.json"));
    await expect(create({ dtype: "q8" })).rejects.toMatchObject({
      code: "EMBED_MODEL_MISSING",
      message: expect.stringMatching(
        /lacks tokenizer\.json, onnx\/model_quantized\.onnx in .*\/tiny\. .*nightdesk models fetch tiny/,
      ),
    });
    await expect(create({ local_model_path: null })).rejects.toMatchObject({
      code: "EMBED_MODEL_MISSING",
      message: expect.stringContaining(join(workroot, "models", "tiny")),
    });
  });

  test("a model that is cut short can't be loaded", async () => {
    writeFileSync(join(workroot, "tiny", "onnx", "model.onnx"), "half");
    await expect(create()).rejects.toMatchObject({
      code: "EMBED_MODEL_MISSING",
      message: expect.stringContaining("can't be loaded"),
    });
  });

  test("a package that is not installed is named with the command that installs it", async () => {
    await expect(create({}, WITHOUT_PACKAGE)).rejects.toMatchObject({
      code: "EMBED_MODEL_MISSING",
      message: expect.stringContaining("npm install @huggingface/transformers"),
    });
  });

  test("the process is replaced after so many texts, and its memory comes back", async () => {
    const embedder = await create({ batch_size: 2, recycle_texts: 4 });
    const seen = new Set<number>();
    for (let round = 0; round < 6; round += 1) {
      expect(await embedder.embed(["night", "desk"], signal)).toHaveLength(2);
      for (const pid of childrenStartedWith(MODEL_PROCESS)) seen.add(pid);
    }
    expect(seen.size).toBeGreaterThanOrEqual(2);
    await eventually(
      "one process at most is there",
      async () => childrenStartedWith(MODEL_PROCESS).length <= 1,
    );
  });

  test("a process that holds too much memory is replaced as well", async () => {
    const embedder = await create({ recycle_mb: 1 });
    await eventually(
      "its process is gone",
      async () => childrenStartedWith(MODEL_PROCESS).length === 0,
    );
    expect(await embedder.embed(["night"], signal)).toHaveLength(1);
  });

  test("a process that dies is started once more with the same texts", async () => {
    const embedder = await create({}, DISTURBED);
    const [whole] = await embedder.embed(["night"], signal);
    const [again] = await embedder.embed(["night", "die once"], signal);
    expect(existsSync(join(workroot, "mark"))).toBe(true);
    expect(again?.[0]).toBeCloseTo(whole?.[0] ?? Number.NaN, 5);
  });

  test("one that dies twice is a fault of the tool, and the next texts are embedded", async () => {
    const embedder = await create({}, DISTURBED);
    await expect(embedder.embed(["night", "die"], signal)).rejects.toMatchObject({
      code: "TOOL_ERROR",
      message: expect.stringContaining("SIGKILL"),
    });
    expect(await embedder.embed(["night"], signal)).toHaveLength(1);
  });

  test("one that hangs is ended when its time is up", async () => {
    const embedder = await create({ timeout_s: 3 }, DISTURBED);
    await expect(embedder.embed(["hang"], signal)).rejects.toMatchObject({ code: "MODEL_TIMEOUT" });
    await eventually(
      "its process is gone",
      async () => childrenStartedWith(MODEL_PROCESS).length === 0,
    );
    expect(await embedder.embed(["night"], signal)).toHaveLength(1);
  });

  test("stops at once when it is told to, also in the middle of a call", async () => {
    const embedder = await create({}, DISTURBED);
    const controller = new AbortController();
    const asked = expect(embedder.embed(["hang"], controller.signal)).rejects.toThrow("stop");
    const waiting = expect(embedder.embed(["night"], controller.signal)).rejects.toThrow("stop");
    await eventually("it hangs", async () => existsSync(join(workroot, "mark")));
    controller.abort(new Error("stop"));
    await asked;
    await waiting;
    await eventually(
      "its process is gone",
      async () => childrenStartedWith(MODEL_PROCESS).length === 0,
    );
  });

  test.each([
    ["SIGTERM", "night"],
    ["SIGKILL", "night"],
    ["SIGTERM", "hang"],
  ] as const)("ends with its worker: %s while it is given %j", async (name, text) => {
    const flags = [...DISTURBED, `--conditions=${join(workroot, "mark")}`];
    const script = join(import.meta.dirname, "hold-model.ts");
    const worker = spawn(process.execPath, [...flags, script, workroot, text], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const closed = once(worker, "close");
    await once(worker.stdout, "data");
    if (text === "hang") {
      await eventually("it hangs", async () => existsSync(join(workroot, "mark")));
    }
    const [model] = childrenStartedWith(MODEL_PROCESS, worker.pid);
    expect(model).toBeDefined();
    worker.kill(name);
    await closed;
    await eventually(
      "the process of the model is gone",
      async () => !wasStartedWith(model ?? 0, MODEL_PROCESS),
    );
  });
});
