import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { HostEntry, HostPlace } from "../../../src/shared/config/hosts.ts";
import { HOST_KINDS } from "../../../src/shared/config/providers.ts";
import { createHostedEmbedder, tryEachHost } from "../../../src/worker/embedders/hosted.ts";
import { accessByHost } from "../../../src/worker/models/host-access.ts";
import { IN_ORDER } from "../../../src/worker/models/host-models.ts";
import type { HostFailure } from "../../../src/shared/failure.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import { startOpenAiDouble } from "../../doubles/openai-server.ts";
import type { OpenAiDoubleOptions } from "../../doubles/openai-server.ts";
import { placeOfHosts } from "../../support/embedding-hosts.ts";
import { ENGINES } from "../../support/engines.ts";
import type { RunningEngine } from "../../support/engines.ts";
import { failureOf } from "../../support/model-hosts.ts";

const { signal } = new AbortController();
const SETTINGS = { model_id: "m", batch_size: 3, timeout_s: 30 };
const KEY = "sk-night-1234";

const onlyHost = (host: string): HostPlace => ({
  host,
  provider: "openai-compatible",
  parallel: null,
});

/** An entry of `hosts`. */
const listed = (host: string, more: Partial<HostEntry> = {}): HostPlace => {
  const entry: HostEntry = {
    name: "desk",
    kind: "llama-server",
    priority: 0,
    takesOverflow: true,
    api: "chat",
    models: null,
    requestsPerMinute: null,
    tokensPerMinute: null,
    priceIn: null,
    priceOut: null,
    ...more,
  };
  return { host, provider: HOST_KINDS[entry.kind], parallel: null, entry };
};

describe.each(ENGINES)("the embedder of /v1/embeddings at $name", (engine) => {
  let running: RunningEngine;
  beforeAll(async () => {
    running = await engine.start({ embeds: true });
  });
  afterAll(() => running.close());
  const create = () => createHostedEmbedder(SETTINGS, placeOfHosts([onlyHost(running.url)]));

  test("gives vectors of unit length in order, the same for the same text", async () => {
    const embedder = await create();
    const texts = ["a night", "a desk", "a night", "a lamp"];
    const [first, second, again] = await embedder.embed(texts, signal);
    expect(embedder).toMatchObject({ id: "m", defaultWeight: 1 });
    expect(first).toHaveLength(embedder.dims);
    expect(Math.hypot(...(second ?? []))).toBeCloseTo(1, 5);
    for (const [at, value] of (again ?? []).entries()) expect(value).toBeCloseTo(first?.[at] ?? 9);
    expect(second).not.toEqual(first);
  });

  test("its signature is the same the next time, and under another name of the model's host", async () => {
    const { signature } = await create();
    expect((await create()).signature).toBe(signature);
    const place = listed(running.url, { models: new Map([["m", "second"]]) });
    const other = await createHostedEmbedder(SETTINGS, placeOfHosts([place]));
    expect(other.signature).toBe(signature);
  });

  test("a text beyond what the server takes is cut to fit and counted, and a blank one has no direction", async () => {
    const embedder = await create();
    const long = "! ".repeat(700);
    let cut = 0;
    const onCut = () => {
      cut += 1;
    };
    const [one, beginning, blank, two] = await embedder.embed(
      ["one", long, " \n", "two"],
      signal,
      onCut,
    );
    expect(cut).toBe(1);
    expect(Math.hypot(...(beginning ?? []))).toBeCloseTo(1, 5);
    expect(blank).toEqual(new Float32Array(embedder.dims));
    const alone = await embedder.embed(["one", "two"], signal);
    expect(cosine(one, alone[0])).toBeGreaterThan(0.9999);
    expect(cosine(two, alone[1])).toBeGreaterThan(0.9999);
  });
});

describe.each(ENGINES)("$name", (engine) => {
  test("that was not started for embeddings is told so at the start", async () => {
    const running = await engine.start();
    const failure = await failureOf(
      createHostedEmbedder(SETTINGS, placeOfHosts([onlyHost(running.url)])),
    );
    expect(failure).toMatchObject({
      code: "CONFIG_ERROR",
      message: expect.stringMatching(/can't embed .*embeddings.*embed\.model_id/s),
    });
    await running.close();
  });

  test("that asks for a key gets that of its entry in hosts, and is down without it", async () => {
    const running = await engine.start({ embeds: true, key: KEY });
    const hosts = [
      { name: "desk", kind: "llama-server", url: running.url, key_env: "NIGHT_KEY" },
    ] as const;
    const roots = { configRoot: "/", workroot: "/", databaseDirectory: "/" };
    const withKey = (value: string) => ({
      ...placeOfHosts([listed(running.url)]),
      accessOf: accessByHost({ hosts: [...hosts], roots }, { NIGHT_KEY: value }),
    });
    const embedder = await createHostedEmbedder(SETTINGS, withKey(KEY));
    expect(await embedder.embed(["a night"], signal)).toHaveLength(1);
    const failure = await failureOf(createHostedEmbedder(SETTINGS, withKey("sk-other-1234")));
    expect(failure).toMatchObject({
      code: "MODEL_UNREACHABLE",
      message: expect.stringContaining("key_env"),
    });
    expect(failure.message).not.toContain("sk-other-1234");
    await running.close();
  });
});

describe.each(ENGINES)("$name behind a path", (engine) => {
  test("embeds below it", async () => {
    const running = await engine.start({ embeds: true, below: "/team" });
    const place = placeOfHosts([onlyHost(running.url)]);
    const embedder = await createHostedEmbedder(SETTINGS, place);
    expect(await embedder.embed(["a night"], signal)).toHaveLength(1);
    await running.close();
  });
});

const cosine = (one: Float32Array | undefined, other: Float32Array | undefined): number =>
  (one ?? new Float32Array()).reduce((sum, value, at) => sum + value * (other?.[at] ?? 0), 0);

describe("an embedder of several hosts", () => {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const double of open.splice(0)) await double.close();
  });
  const start = async (options: Partial<OpenAiDoubleOptions> = {}) => {
    const double = await startOpenAiDouble({ models: [{ name: "m" }], embeds: true, ...options });
    open.push(double);
    return double;
  };
  const embeddings = (double: { readonly requests: readonly { readonly path: string }[] }) =>
    double.requests.filter(({ path }) => path === "/v1/embeddings").length;

  test("asks the first by priority, and the next while that one is down", async () => {
    const [first, second] = [await start(), await start()];
    const failed: HostFailure[] = [];
    const place = {
      ...placeOfHosts([
        listed(second.url, { name: "second", priority: 5 }),
        listed(first.url, { name: "first" }),
      ]),
      choice: {
        ...IN_ORDER,
        failed: async (failure: HostFailure) => {
          failed.push(failure);
        },
      },
    };
    const embedder = await createHostedEmbedder(SETTINGS, place);
    const [before] = await embedder.embed(["a night"], signal);
    expect(embeddings(second)).toBe(0);
    await first.goDown();
    const [after] = await embedder.embed(["a night"], signal);
    expect(after).toEqual(before);
    expect(failed).toMatchObject([{ code: "MODEL_UNREACHABLE", host: first.url }]);
    expect((await createHostedEmbedder(SETTINGS, place)).signature).toBe(embedder.signature);
    await second.goDown();
    const failure = await failureOf(embedder.embed(["a night"], signal));
    expect(failure).toMatchObject({ code: "MODEL_UNREACHABLE", host: first.url });
  });

  test("makes each call through the limiter of the host that it goes to", async () => {
    const [first, second] = [await start(), await start()];
    const place = placeOfHosts([listed(first.url), listed(second.url, { priority: 1 })]);
    const embedder = await createHostedEmbedder(SETTINGS, place);
    await first.goDown();
    const called: string[] = [];
    const paced = embedder.through?.({
      call(host, make) {
        called.push(host);
        return make();
      },
      choice: IN_ORDER,
    });
    await paced?.embed(["a night"], signal);
    expect(called).toEqual([first.url, second.url]);
  });

  test("passes over a host with another build of the model, and says so when no other is left", async () => {
    const [first, other] = [await start(), await start({ weightBytes: 2_000_000 })];
    const place = placeOfHosts([listed(first.url), listed(other.url, { priority: 1 })]);
    const embedder = await createHostedEmbedder(SETTINGS, place);
    const trials = await tryEachHost(SETTINGS, place);
    expect(trials.map(({ error }) => error)).toEqual([
      undefined,
      expect.objectContaining({ code: "EMBED_DRIFT" }),
    ]);
    await first.goDown();
    expect(await failureOf(embedder.embed(["a night"], signal))).toMatchObject({
      code: "MODEL_UNREACHABLE",
      host: first.url,
    });
    const alone = await createHostedEmbedder(SETTINGS, placeOfHosts([listed(other.url)]));
    expect(alone.signature).not.toBe(embedder.signature);
  });

  test("compares hosts of different kinds by a vector, and signs by the name of the model alone", async () => {
    const [first, second] = [await start(), await start({ weightBytes: 2_000_000 })];
    const create = (...hosts: readonly HostPlace[]) =>
      createHostedEmbedder(SETTINGS, placeOfHosts(hosts));
    const [llama, vllm] = [
      listed(first.url),
      listed(second.url, { name: "rented", kind: "vllm", priority: 1 }),
    ];
    const mixed = await create(llama, vllm);
    await first.goDown();
    expect(await mixed.embed(["a night"], signal)).toHaveLength(1);
    expect((await create(vllm, llama)).signature).toBe(mixed.signature);
    await first.comeBack();
    const ollama = await startOllamaDouble({
      models: [{ name: "m", digest: "a1", capabilities: ["embedding"], contextLength: 8 }],
    });
    open.push(ollama);
    const unlike = await create(llama, listed(ollama.url, { kind: "ollama", priority: 1 }));
    await first.goDown();
    await expect(unlike.embed(["a night"], signal)).rejects.toMatchObject({
      code: "MODEL_UNREACHABLE",
    });
  });

  test("a model that no host has, or that its one host lacks, is told with what to do", async () => {
    const [first, second] = [await start(), await start()];
    const settings = { ...SETTINGS, model_id: "absent" };
    const one = createHostedEmbedder(settings, placeOfHosts([onlyHost(first.url)]));
    expect(await failureOf(one)).toMatchObject({
      code: "MODEL_NOT_FOUND",
      message: expect.stringContaining("embed.model_id"),
    });
    const two = createHostedEmbedder(
      settings,
      placeOfHosts([listed(first.url), listed(second.url, { name: "second" })]),
    );
    expect(await failureOf(two)).toMatchObject({
      code: "MODEL_NOT_FOUND",
      message: expect.stringContaining("desk, second"),
    });
  });

  test("a host without the route, or whose reply is no list of vectors, is told apart from one that is down", async () => {
    const bare = await start({ flavour: "bare" });
    const studio = await start({ flavour: "lm-studio" });
    const failureAt = (url: string) =>
      failureOf(createHostedEmbedder(SETTINGS, placeOfHosts([onlyHost(url)])));
    expect(await failureAt(bare.url)).toMatchObject({
      code: "CONFIG_ERROR",
      message: expect.stringContaining("/v1/embeddings"),
    });
    expect(await failureAt(studio.url)).toMatchObject({ code: "MODEL_OUTPUT_INVALID" });
    expect(await failureAt("http://127.0.0.1:1")).toMatchObject({ code: "MODEL_UNREACHABLE" });
  });
});
