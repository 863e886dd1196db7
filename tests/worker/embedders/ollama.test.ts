import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createHostedEmbedder } from "../../../src/worker/embedders/hosted.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { OllamaDouble } from "../../doubles/ollama-server.ts";
import { placeOfHosts } from "../../support/embedding-hosts.ts";
import type { DoubleModel } from "../../doubles/ollama/double-model.ts";

const signal = new AbortController().signal;
const modelsOf = (digest: string): DoubleModel[] => [
  { name: "small", digest, capabilities: ["embedding"], contextLength: 8 },
  { name: "chat", digest, capabilities: ["completion"] },
];
const start = (digest: string) => startOllamaDouble({ models: modelsOf(digest) });

const SETTINGS = { batch_size: 3, timeout_s: 30 };
const placeAt = (host: string) => placeOfHosts([{ host, provider: "ollama", parallel: null }]);

describe("the Ollama embedder", () => {
  let double: OllamaDouble;
  beforeEach(async () => {
    double = await start("a1");
  });
  afterEach(() => double.close());

  const create = (model_id = "small", host = double.url) =>
    createHostedEmbedder({ ...SETTINGS, model_id }, placeAt(host));

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

  test("a text beyond the model's window is found in its batch, cut to fit and counted", async () => {
    const embedder = await create();
    const long = "a b c d e f g h i j k l m n o p q r s t";
    let cut = 0;
    const onCut = () => {
      cut += 1;
    };
    const [before, beginning, after] = await embedder.embed(["one", long, "two"], signal, onCut);
    expect(cut).toBe(1);
    expect([before, after]).toEqual(await embedder.embed(["one", "two"], signal));
    // 39 characters, three tenths less at a time until eight words are left.
    expect(double.requests.map(({ status }) => status)).toContain(400);
    expect(await embedder.embed([long], signal)).toEqual([beginning]);
  });

  test("never asks for more texts at once than it was told", async () => {
    const embedder = await create();
    const texts = ["1", "2", "3", "4", "5", "6", "7"];
    expect(await embedder.embed(texts, signal)).toHaveLength(7);
    const sent = double.requests.flatMap(({ path, body }) =>
      path === "/api/embed" ? [(body["input"] as string[]).length] : [],
    );
    expect(sent).toEqual([1, 3, 3, 1]);
    expect(double.requests.filter(({ path }) => path === "/api/embed")).toHaveLength(4);
    expect(double.requests.every(({ body }) => body["truncate"] !== true)).toBe(true);
  });

  test("a blank text has no direction, and does not shift those behind it", async () => {
    const embedder = await create();
    const [blank, one] = await embedder.embed([" \n", "one"], signal);
    expect(blank).toEqual(new Float32Array(embedder.dims));
    expect(await embedder.embed(["one"], signal)).toEqual([one]);
  });

  test("a model that was pulled again meanwhile is not mixed with the build before", async () => {
    const models = modelsOf("a1");
    await double.close();
    double = await startOllamaDouble({ models });
    const embedder = await create();
    models.splice(0, models.length, ...modelsOf("b2"));
    await expect(embedder.embed(["one"], signal)).rejects.toMatchObject({
      code: "EMBED_DRIFT",
      message: expect.stringContaining("nightdesk embed --rebuild"),
    });
  });

  test("a host that says nothing is given up in time", async () => {
    const silent = createServer(() => undefined).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const settings = { ...SETTINGS, model_id: "small", timeout_s: 0.2 };
    const place = placeAt(`http://127.0.0.1:${port}`);
    await expect(createHostedEmbedder(settings, place)).rejects.toMatchObject({
      code: "MODEL_TIMEOUT",
    });
    silent.closeAllConnections();
    silent.close();
  });

  test("a model that is not there, or that can't embed, is said at the start", async () => {
    await expect(create("absent")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    await expect(create("chat")).rejects.toMatchObject({ code: "CONFIG_ERROR" });
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
