import { execFileSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createTransformersEmbedder } from "../../../src/worker/embedder/transformers.ts";
import { writeTinyModel } from "./tiny-model.ts";

const PACKAGE = join(import.meta.dirname, "..", "..", "..");

type Printed = { id: string; dims: number; signature: string; vectors: number[][] };

describe("the transformers embedder", () => {
  let workroot: string;
  beforeEach(() => {
    workroot = mkdtempSync(join(tmpdir(), "nightdesk-model-"));
  });
  afterEach(() => {
    rmSync(workroot, { recursive: true });
  });

  const embed = (path: string, ...texts: string[]) => {
    const script = join(import.meta.dirname, "print-vectors.ts");
    const args = ["--import", join(PACKAGE, "bench", "register.js"), script, workroot, path];
    return JSON.parse(
      execFileSync(process.execPath, [...args, ...texts], { encoding: "utf8" }),
    ) as Printed;
  };
  const create = (local_model_path: string | null) =>
    createTransformersEmbedder(
      {
        model_id: "tiny",
        local_model_path,
        cache_dir: null,
        dtype: "fp32",
        device: "cpu",
        pooling: "mean",
        normalize: true,
        max_length: 16,
      },
      { workroot },
    );

  test("embeds with a model from a local folder, cut at the length that was set", () => {
    writeTinyModel(join(workroot, "tiny"));
    const long = "night ".repeat(16);
    const texts = ["night desk", "desk night", "rail", long, `${long}rail`];
    const { id, dims, vectors } = embed("tiny", ...texts);
    expect({ id, dims }).toEqual({ id: "tiny", dims: 4 });
    expect(vectors.map((vector) => Math.hypot(...vector).toFixed(4))).toEqual(
      texts.map(() => "1.0000"),
    );
    const [first, mirrored, other, whole, cut] = vectors;
    // The mean of the same words: order makes no difference to this model.
    expect(mirrored?.[0]).toBeCloseTo(first?.[0] ?? Number.NaN, 5);
    expect(other?.[0]).not.toBeCloseTo(first?.[0] ?? Number.NaN, 2);
    expect(cut).toEqual(whole);
  });

  test("other files of the model are another signature, another folder is not", () => {
    writeTinyModel(join(workroot, "tiny"));
    writeTinyModel(join(workroot, "moved", "tiny"));
    const { signature } = embed("tiny", "rail");
    expect(embed("moved/tiny", "rail").signature).toBe(signature);
    appendFileSync(join(workroot, "tiny", "config.json"), " ");
    expect(embed("tiny", "rail").signature).not.toBe(signature);
  });

  test("files that are not there are an error that names the folder, never a download", async () => {
    await expect(create(null)).rejects.toMatchObject({
      code: "EMBED_MODEL_MISSING",
      message: expect.stringContaining(join(workroot, "models", "tiny")),
    });
  });

  test("a model that is cut short can't be loaded", async () => {
    writeTinyModel(join(workroot, "broken"));
    writeFileSync(join(workroot, "broken", "onnx", "model.onnx"), "half");
    await expect(create("broken")).rejects.toMatchObject({ code: "EMBED_MODEL_MISSING" });
  });
});
