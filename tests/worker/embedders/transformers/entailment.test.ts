import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { openEntailmentModel } from "../../../../src/worker/embedders/transformers/entailment.ts";
import type {
  EntailmentModel,
  EntailmentSettings,
} from "../../../../src/worker/embedders/transformers/entailment.ts";
import { eventually } from "../../../conformance/signal.ts";
import { writeTinyClassifier } from "../../../support/tiny-model.ts";
import { expectPinned } from "./expect-pinned.ts";
import { childrenStartedWith } from "../../../support/child-processes.ts";

const MODEL_PROCESS = "transformers/child";

const PACKAGE = resolve(import.meta.dirname, "..", "..", "..", "..");
const TYPESCRIPT = ["--import", join(PACKAGE, "bench", "register.js")];
const DISTURBED = [...TYPESCRIPT, "--import", join(import.meta.dirname, "disturb-model.js")];
const WITHOUT_PACKAGE = [...TYPESCRIPT, "--import", join(import.meta.dirname, "hide-package.js")];

const SETTINGS: EntailmentSettings = {
  model_id: "tiny-nli",
  digest: null,
  dtype: "fp32",
  local_model_path: "tiny-nli",
  timeout_s: 60,
  cache_dir: null,
  device: "cpu",
  recycle_texts: 1_000,
  recycle_mb: 10_000,
};

const FERRY = "The ferry leaves at nine.";
const ENTAILED = [FERRY, "The vessel leaves at nine."] as const;
const CONTRADICTED = [FERRY, "The ferry was sunk."] as const;
const NEUTRAL = [FERRY, "The harbour is old."] as const;

describe("a model for entailment", () => {
  const { signal } = new AbortController();
  const models: EntailmentModel[] = [];
  let workroot: string;
  const folder = () => join(workroot, "tiny-nli");
  beforeEach(() => {
    workroot = mkdtempSync(join(tmpdir(), "nightdesk-nli-"));
    writeTinyClassifier(folder());
  });
  afterEach(async () => {
    for (const model of models.splice(0)) model.close();
    await eventually(
      "no process of a model is left",
      async () => childrenStartedWith(MODEL_PROCESS).length === 0,
    );
    rmSync(workroot, { recursive: true });
  });

  const open = async (
    settings: Partial<EntailmentSettings> = {},
    execArgv: readonly string[] = TYPESCRIPT,
  ): Promise<EntailmentModel> => {
    const flags = [...execArgv, `--conditions=${join(workroot, "mark")}`];
    const place = { workroot, execArgv: flags };
    const model = await openEntailmentModel({ ...SETTINGS, ...settings }, place);
    models.push(model);
    return model;
  };

  test("is that of its digest, or is not opened", () =>
    expectPinned(open, "VERIFY_MODEL_INVALID", "verify.entailment"));

  test("gives each pair how probable it is that the one follows from the other, or contradicts it", async () => {
    const model = await open();
    const [entailed, contradicted, neutral] = await model.compare(
      [ENTAILED, CONTRADICTED, NEUTRAL],
      signal,
    );
    expect(model.name).toMatch(/^tiny-nli [0-9a-f]{12}$/);
    // Of the logits 8, 4 and 0, in the order of the labels.
    expect(entailed).toEqual({ entailment: 0.9817, contradiction: 0.0003 });
    expect(contradicted).toMatchObject({ contradiction: 1, entailment: 0 });
    expect(neutral).toEqual({ entailment: 0.0177, contradiction: 0.0177 });
  });

  test("reads the order of the labels, in any case, from the model's own configuration", async () => {
    writeTinyClassifier(folder(), { labels: ["entailment", "neutral", "contradiction"] });
    const config = join(folder(), "config.json");
    writeFileSync(config, readFileSync(config, "utf8").replace("entailment", "ENTAILMENT"));
    const model = await open();
    expect(await model.compare([ENTAILED, CONTRADICTED], signal)).toEqual([
      { entailment: 0.9817, contradiction: 0.0003 },
      { entailment: 0, contradiction: 1 },
    ]);
  });

  test("the scores of a pair do not hang on what it is compared with, nor on how many there are", async () => {
    const model = await open();
    const pairs = Array.from(
      { length: 21 },
      (_, at) =>
        [
          `${"word ".repeat(at)}${FERRY}`,
          ["The vessel leaves.", "It was sunk.", "It is old."][at % 3] ?? "",
        ] as const,
    );
    const together = await model.compare(pairs, signal);
    const other = await open();
    const alone = [];
    for (const pair of pairs) alone.push(...(await other.compare([pair], signal)));
    expect(together).toEqual(alone);
    expect(await model.compare([], signal)).toEqual([]);
  });

  test("asks the model once for the same pair", async () => {
    const model = await open({}, DISTURBED);
    const before = await model.compare([ENTAILED, NEUTRAL, ENTAILED], signal);
    model.close();
    await eventually(
      "its process is gone",
      async () => childrenStartedWith(MODEL_PROCESS).length === 0,
    );
    expect(await model.compare([NEUTRAL, ENTAILED, ENTAILED], signal)).toEqual([
      before[1],
      before[0],
      before[2],
    ]);
    expect(childrenStartedWith(MODEL_PROCESS)).toEqual([]);
  });

  test("a pair that is longer than the model reads has no scores, and those beside it have theirs", async () => {
    const model = await open();
    const long = [`${FERRY} `.repeat(40), "The vessel leaves."] as const;
    expect(await model.compare([long, ENTAILED, long], signal)).toEqual([
      null,
      { entailment: 0.9817, contradiction: 0.0003 },
      null,
    ]);
    expect(await model.compare([[`${FERRY} `.repeat(50), "It is."]], signal)).toEqual([null]);
  });

  test.each([
    ["two labels", ["entailment", "not_entailment"], "has the labels entailment, not_entailment"],
    ["other labels", ["LABEL_0", "LABEL_1", "LABEL_2"], "has the labels label_0, label_1, label_2"],
    ["moods", ["negative", "neutral", "positive"], "has the labels negative, neutral, positive"],
    ["no labels", [], "names no labels"],
  ])("a model with %s is none", async (_, labels, why) => {
    writeTinyClassifier(folder(), { labels });
    await expect(open()).rejects.toMatchObject({
      code: "VERIFY_MODEL_INVALID",
      message: expect.stringContaining(
        `its config.json ${why}; expected contradiction, entailment, neutral. Name another in verify.entailment.model_id`,
      ),
    });
    expect(childrenStartedWith(MODEL_PROCESS)).toEqual([]);
  });

  test("a model that gives other than its labels say is none", async () => {
    const config = readFileSync(join(folder(), "config.json"));
    writeTinyClassifier(folder(), { labels: ["one", "two"] });
    writeFileSync(join(folder(), "config.json"), config);
    await expect(open()).rejects.toMatchObject({
      code: "VERIFY_MODEL_INVALID",
      message: expect.stringContaining("does not give 3 numbers"),
    });
  });

  test("files that are not there are named with their folder and the way to get them", async () => {
    rmSync(join(folder(), "tokenizer.json"));
    await expect(open()).rejects.toMatchObject({
      code: "VERIFY_MODEL_INVALID",
      message: expect.stringMatching(
        /entailment model "tiny-nli" \(fp32\) lacks tokenizer\.json in .*verify\.entailment\.local_model_path.*nightdesk models fetch tiny-nli/,
      ),
    });
    await expect(open({ local_model_path: null })).rejects.toMatchObject({
      message: expect.stringContaining(join(workroot, "models", "tiny-nli")),
    });
  });

  test("files that can't be loaded, and a package that is not there, say what to do", async () => {
    await expect(open({}, WITHOUT_PACKAGE)).rejects.toMatchObject({
      code: "VERIFY_MODEL_INVALID",
      message: expect.stringContaining("or set verify.entailment.provider to off"),
    });
    writeFileSync(join(folder(), "onnx", "model.onnx"), "half");
    await expect(open()).rejects.toMatchObject({
      code: "VERIFY_MODEL_INVALID",
      message: expect.stringContaining("can't be loaded"),
    });
  });

  test("a process that dies is started once more with the same pairs", async () => {
    const model = await open({}, DISTURBED);
    const pair = ["die once", "The vessel leaves."] as const;
    expect(await model.compare([pair], signal)).toEqual([
      { entailment: 0.9817, contradiction: 0.0003 },
    ]);
    expect(existsSync(join(workroot, "mark"))).toBe(true);
  });

  test("one that dies twice is a fault that is tried again, and the next pairs are compared", async () => {
    const model = await open({}, DISTURBED);
    await expect(model.compare([[FERRY, "die"]], signal)).rejects.toMatchObject({
      code: "TOOL_ERROR",
      message: expect.stringMatching(/SIGKILL.*smaller one in verify\.entailment\.model_id/),
    });
    expect(await model.compare([ENTAILED], signal)).toHaveLength(1);
  });

  test("one that hangs is ended when its time is up, and when it is told to stop", async () => {
    const model = await open({ timeout_s: 8 }, DISTURBED);
    await expect(model.compare([["hang", FERRY]], signal)).rejects.toMatchObject({
      code: "MODEL_TIMEOUT",
      message: expect.stringContaining("Raise verify.entailment.timeout_s"),
    });
    const controller = new AbortController();
    rmSync(join(workroot, "mark"));
    const asked = expect(model.compare([["hang", FERRY]], controller.signal)).rejects.toThrow(
      "stop",
    );
    await eventually("it hangs", async () => existsSync(join(workroot, "mark")));
    controller.abort(new Error("stop"));
    await asked;
    await eventually(
      "its process is gone",
      async () => childrenStartedWith(MODEL_PROCESS).length === 0,
    );
  });

  test("its process is replaced when it holds too much memory", async () => {
    const model = await open({ recycle_mb: 1 });
    await eventually(
      "its process is gone",
      async () => childrenStartedWith(MODEL_PROCESS).length === 0,
    );
    expect(await model.compare([ENTAILED], signal)).toHaveLength(1);
  });

  test("other weights are another model by name", async () => {
    const { name } = await open();
    writeTinyClassifier(folder(), { entails: ["boat"] });
    expect((await open()).name).not.toBe(name);
  });
});
