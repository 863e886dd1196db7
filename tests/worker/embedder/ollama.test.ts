import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createOllamaEmbedder } from "../../../src/worker/embedder/ollama.ts";
import { type OllamaDouble, startOllamaDouble } from "../../doubles/ollama-server.ts";

const signal = new AbortController().signal;
const start = (digest: string) =>
  startOllamaDouble({
    models: [
      { name: "small", digest, capabilities: ["embedding"], contextLength: 8 },
      { name: "chat", digest, capabilities: ["completion"] },
    ],
  });

describe("the Ollama embedder", () => {
  let double: OllamaDouble;
  beforeEach(async () => {
    double = await start("a1");
  });
  afterEach(() => double.close());

  const create = (model_id = "small", modelBaseUrl: string | null = double.url) =>
    createOllamaEmbedder({ model_id, base_url: null }, { modelBaseUrl });

  test("gives vectors of unit length in order, the same for the same text", async () => {
    const embedder = await create();
    const [first, second, again] = await embedder.embed(["one", "two", "one"], signal);
    expect(embedder).toMatchObject({ id: "small", defaultWeight: 1 });
    expect(first).toHaveLength(embedder.dims);
    expect(Math.hypot(...(second ?? []))).toBeCloseTo(1, 5);
    expect(again).toEqual(first);
    expect(second).not.toEqual(first);
  });

  test("its signature names the build of the model and not the host", async () => {
    const { signature } = await create();
    const elsewhere = await start("a1");
    const repulled = await start("b2");
    expect((await create("small", elsewhere.url)).signature).toBe(signature);
    expect((await create("small", repulled.url)).signature).not.toBe(signature);
    await Promise.all([elsewhere.close(), repulled.close()]);
  });

  test("a text beyond the model's window is refused with what to change, never cut", async () => {
    const embedder = await create();
    await expect(embedder.embed(["a b c d e f g h i j k"], signal)).rejects.toMatchObject({
      code: "CONFIG_ERROR",
      message: expect.stringContaining("max_chars"),
    });
  });

  test("a model that is not there, or that can't embed, is said at the start", async () => {
    await expect(create("absent")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    await expect(create("chat")).rejects.toMatchObject({ code: "CONFIG_ERROR" });
    await expect(create("small", null)).rejects.toMatchObject({ code: "CONFIG_ERROR" });
    await expect(create("small", "http://127.0.0.1:1")).rejects.toMatchObject({
      code: "MODEL_UNREACHABLE",
    });
  });

  test("stops when it is told to", async () => {
    const embedder = await create();
    const stopped = AbortSignal.abort(new Error("stop"));
    await expect(embedder.embed(["text"], stopped)).rejects.toThrow("stop");
  });
});
