import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { openReranker } from "../../../../src/worker/embedders/transformers/reranker.ts";
import type {
  Reranker,
  RerankerSettings,
} from "../../../../src/worker/embedders/transformers/reranker.ts";
import { writeTinyClassifier, writeTinyReranker } from "../../../support/tiny-model.ts";
import { expectPinned } from "./expect-pinned.ts";

const PACKAGE = resolve(import.meta.dirname, "..", "..", "..", "..");
const TYPESCRIPT = ["--import", join(PACKAGE, "bench", "register.js")];
const DISTURBED = [...TYPESCRIPT, "--import", join(import.meta.dirname, "disturb-model.js")];
const WITHOUT_PACKAGE = [...TYPESCRIPT, "--import", join(import.meta.dirname, "hide-package.js")];

const SETTINGS: RerankerSettings = {
  model_id: "tiny-rerank",
  digest: null,
  dtype: "fp32",
  local_model_path: "tiny-rerank",
  timeout_s: 60,
  candidates: 50,
  cache_dir: null,
  device: "cpu",
  recycle_texts: 1_000,
  recycle_mb: 10_000,
};
const WEIGHTS = { captain: 5, quay: 0.5, fog: -3, what: 0.25 };

describe("a reranker", () => {
  const { signal } = new AbortController();
  const models: Reranker[] = [];
  let workroot: string;
  const folder = () => join(workroot, "tiny-rerank");
  beforeEach(() => {
    workroot = mkdtempSync(join(tmpdir(), "nightdesk-rerank-"));
    writeTinyReranker(folder(), { weights: WEIGHTS });
  });
  afterEach(() => {
    for (const model of models.splice(0)) model.close();
    rmSync(workroot, { recursive: true });
  });

  const open = async (
    settings: Partial<RerankerSettings> = {},
    execArgv: readonly string[] = TYPESCRIPT,
  ): Promise<Reranker> => {
    const flags = [...execArgv, `--conditions=${join(workroot, "mark")}`];
    const model = await openReranker({ ...SETTINGS, ...settings }, { workroot, execArgv: flags });
    models.push(model);
    return model;
  };

  test("is that of its digest, or is not opened", () =>
    expectPinned(open, "RERANK_MODEL_INVALID", "retrieve.rerank"));

  test("gives each passage one number of any size, whatever it is asked about beside", async () => {
    const model = await open();
    expect(model.name).toMatch(/^tiny-rerank [0-9a-f]{12}$/);
    const texts = ["The captain.", "A quay in the fog.", "Nothing.", "Captain and quay.", ""];
    expect(await model.score("Who?", texts, signal)).toEqual([5, -2.5, 0, 5.5, 0]);
    expect(await model.score("What?", ["The captain."], signal)).toEqual([5.25]);
    expect(await model.score("What?", [], signal)).toEqual([]);
    const many = Array.from({ length: 21 }, (_, at) => "quay ".repeat(at));
    expect(await model.score("Who?", many, signal)).toEqual(many.map((_, at) => at / 2));
  });

  test("reads the beginning of a passage that is longer than it reads", async () => {
    const model = await open();
    // Of 128 tokens the question takes 2, and the marks around the two texts 3.
    const [whole, cut] = await model.score(
      "Who?",
      ["quay ".repeat(123), `${"quay ".repeat(123)}captain`],
      signal,
    );
    expect([whole, cut]).toEqual([61.5, 61.5]);
    expect(await model.score("Who?", [`${"quay ".repeat(122)}captain`], signal)).toEqual([66]);
  });

  test("reads the beginning of a long question, which leaves half of the room to the passage", async () => {
    const model = await open();
    // 62 words and the marks around them are half of 128; a third mark leaves room for 63 of the passage.
    const question = `${"quay ".repeat(62)}${"fog ".repeat(100)}`;
    const texts = [`${"oak ".repeat(62)}captain`, `${"oak ".repeat(63)}captain`];
    expect(await model.score(question, texts, signal)).toEqual([36, 31]);
  });

  test.each([
    [
      "three labels",
      ["contradiction", "entailment", "neutral"],
      "has the labels contradiction, entailment, neutral",
    ],
    ["no labels", [], "names no labels"],
  ])("a model with %s is none", async (_, labels, why) => {
    writeTinyReranker(folder(), { weights: WEIGHTS, labels });
    await expect(open()).rejects.toMatchObject({
      code: "RERANK_MODEL_INVALID",
      message: expect.stringContaining(
        `is no reranker: its config.json ${why}; expected a single one. Name another in retrieve.rerank.model_id, or set retrieve.rerank.provider to off.`,
      ),
    });
  });

  test("a model that gives other than its label says is none", async () => {
    const config = readFileSync(join(folder(), "config.json"));
    writeTinyClassifier(folder());
    writeFileSync(join(folder(), "config.json"), config);
    await expect(open()).rejects.toMatchObject({
      code: "RERANK_MODEL_INVALID",
      message: expect.stringContaining("does not give 1 number for two texts"),
    });
  });

  test("files and a package that are not there say what to do", async () => {
    await expect(open({ local_model_path: null })).rejects.toMatchObject({
      code: "RERANK_MODEL_INVALID",
      message: expect.stringMatching(
        /reranker "tiny-rerank" \(fp32\) lacks config\.json.*retrieve\.rerank\.local_model_path.*nightdesk models fetch tiny-rerank/,
      ),
    });
    await expect(open({}, WITHOUT_PACKAGE)).rejects.toMatchObject({
      code: "RERANK_MODEL_INVALID",
      message: expect.stringContaining("or set retrieve.rerank.provider to off"),
    });
  });

  test("a passage for which it gives no number is a fault", async () => {
    writeTinyReranker(folder(), { weights: { ...WEIGHTS, void: NaN } });
    const model = await open();
    await expect(model.score("Who?", ["quay", "void"], signal)).rejects.toMatchObject({
      code: "MODEL_OUTPUT_INVALID",
      message: expect.stringMatching(/tiny-rerank [0-9a-f]{12} gave no number/),
    });
  });

  test("a process that dies is started once more; one that dies again, and one that hangs, are faults", async () => {
    const model = await open({ timeout_s: 8 }, DISTURBED);
    expect(await model.score("Who?", ["die once", "captain"], signal)).toEqual([0, 5]);
    expect(existsSync(join(workroot, "mark"))).toBe(true);
    await expect(model.score("Who?", ["die"], signal)).rejects.toMatchObject({
      code: "TOOL_ERROR",
      message: expect.stringMatching(/SIGKILL.*smaller one in retrieve\.rerank\.model_id/),
    });
    await expect(model.score("Who?", ["hang"], signal)).rejects.toMatchObject({
      code: "MODEL_TIMEOUT",
      message: expect.stringContaining("Raise retrieve.rerank.timeout_s"),
    });
    expect(await model.score("Who?", ["the captain"], signal)).toEqual([5]);
  });

  test("other weights are another model by name", async () => {
    const { name } = await open();
    writeTinyReranker(folder(), { weights: { captain: 6 } });
    expect((await open()).name).not.toBe(name);
  });
});
