import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { HostEntry, HostPlace } from "../../../src/shared/config/hosts.ts";
import type { HostSettings } from "../../../src/shared/config/hosts-schema.ts";
import { HOST_KINDS } from "../../../src/shared/config/providers.ts";
import { createHostedEmbedder } from "../../../src/worker/embedders/hosted.ts";
import { accessByHost } from "../../../src/worker/models/host-access.ts";
import type { ModelPlace } from "../../../src/worker/models/host-failure.ts";
import type { Model } from "../../../src/worker/models/model.ts";
import { openOllamaModel } from "../../../src/worker/models/ollama.ts";
import { openOpenAiModel } from "../../../src/worker/models/openai-compatible.ts";
import { startOllamaDouble } from "../../doubles/ollama-server.ts";
import type { Script } from "../../doubles/ollama/double-model.ts";
import { startOpenAiDouble } from "../../doubles/openai-server.ts";
import { makeScratch } from "../../shared/config/scratch.ts";
import { createAuthority, EXPIRED, NOT_YET_VALID } from "../../support/certificates.ts";
import type { Certificate } from "../../support/certificates.ts";
import { startConnectProxy } from "../../support/connect-proxy.ts";
import { placeOfHosts } from "../../support/embedding-hosts.ts";
import { startGatedHost } from "../../support/gated-host.ts";
import { complete, failureOf } from "../../support/model-hosts.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const { signal } = new AbortController();
const KEY = "sk-over-tls-4711";
const FAR = "https://desk.example";
const AUTHORITY = createAuthority();
const HERE = AUTHORITY.issue(["127.0.0.1"]);
const THERE = AUTHORITY.issue(["desk.example"]);
const SETTINGS = { num_ctx: 512, temperature: 0, seed: 1, keep_alive: "5m" };

type World = {
  readonly kind?: HostSettings["kind"];
  readonly certificate?: Certificate;
  /** In PEM; null: none is named. */
  readonly ca?: string | null;
  readonly script?: Script;
  /** Whether calls go by a name that only the proxy can reach. */
  readonly proxy?: "tunnel" | "refusing" | "none there";
};

/** A double behind a gate of TLS, and how it is come to. */
async function world({
  kind = "openai",
  certificate = HERE,
  ca = AUTHORITY.cert,
  script,
  proxy,
}: World) {
  const models = [{ name: "m", respond: () => script ?? { text: "Hello from there." } }];
  const double =
    HOST_KINDS[kind] === "ollama"
      ? await startOllamaDouble({ models })
      : await startOpenAiDouble({ models, embeds: true });
  closing.push(() => double.close());
  const gate = await startGatedHost(double.url, { certificate, key: KEY });
  closing.push(() => gate.close());
  const scratch = await makeScratch();
  closing.push(() => scratch.remove());
  await writeFile(join(scratch.folder, "ca.pem"), ca ?? "");
  const through = await startConnectProxy({
    to: gate.url,
    ...(proxy === "refusing" ? { refusing: 403 } : {}),
  });
  closing.push(() => through.close());
  const url = proxy === undefined ? gate.url : FAR;
  const proxyUrl = proxy === "none there" ? "http://127.0.0.1:1" : through.url;
  const settings: HostSettings = {
    ...{ name: "desk", kind, url, key_env: "K" },
    ...(ca === null ? {} : { ca_file: "ca.pem" }),
    ...(proxy === undefined ? {} : { proxy: proxyUrl }),
  };
  const roots = { configRoot: scratch.folder, workroot: scratch.folder, databaseDirectory: "" };
  const accessOf = accessByHost({ hosts: [settings], roots }, { K: KEY });
  const place = { name: "m", baseUrl: url, entry: "desk", access: accessOf(url) };
  return { double, gate, accessOf, place, kind, proxy: through };
}

type Listed = { readonly kind: HostSettings["kind"]; readonly place: ModelPlace };

const openModel = ({ kind, place }: Listed): Promise<Model> =>
  HOST_KINDS[kind] === "ollama"
    ? openOllamaModel(place, SETTINGS, signal)
    : openOpenAiModel(place, SETTINGS, signal);

function listed({ kind, place }: Listed): HostPlace {
  const entry: HostEntry = {
    ...{ name: "desk", kind, priority: 0, takesOverflow: true, api: "chat", models: null },
    ...{ requestsPerMinute: null, tokensPerMinute: null, priceIn: null, priceOut: null },
  };
  return { host: place.baseUrl, provider: HOST_KINDS[kind], parallel: null, entry };
}

describe.each<[string, Pick<World, "certificate" | "proxy">]>([
  ["with the certificate of a private authority", {}],
  ["through a tunnel of a proxy", { certificate: THERE, proxy: "tunnel" }],
])("a host %s", (_, way) => {
  test.each(["openai", "ollama"] as const)("of kind %s gives its reply", async (kind) => {
    const at = await world({ kind, ...way });
    const model = await openModel(at);
    expect(await complete(model)).toMatchObject({ kind: "reply", text: "Hello from there." });
    expect(at.gate.calls.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(
      true,
    );
    expect(at.gate.calls.at(-1)?.headers.host).toBe(new URL(at.place.baseUrl).host);
  });

  test("sends a stream that comes byte by byte", async () => {
    const script: Script = { text: "Grüße aus der Nähe — 日本語", write: "bytes" };
    const model = await openModel(await world({ script, ...way }));
    expect(await complete(model)).toMatchObject({ text: script.text });
  });

  test("stops when the call is given up in the middle of a stream", async () => {
    const script: Script = { text: "one two three", pause: new Promise(() => undefined) };
    const at = await world({ kind: "ollama", script, ...way });
    const model = await openModel(at);
    const giving = new AbortController();
    const call = complete(model, {}, giving.signal);
    await at.double.until((requests) => requests.some(({ state }) => state === "running"));
    giving.abort(new Error("given up"));
    await expect(call).rejects.toThrow("given up");
    await at.double.until((requests) => requests.some(({ state }) => state === "aborted"));
  });

  test("gives vectors", async () => {
    const at = await world({ kind: "llama-server", ...way });
    const place = { ...placeOfHosts([listed(at)]), accessOf: at.accessOf };
    const settings = { model_id: "m", batch_size: 3, timeout_s: 30 };
    const embedder = await createHostedEmbedder(settings, place);
    const [one] = await embedder.embed(["a night"], signal);
    expect(one).toHaveLength(embedder.dims);
  });
});

describe("a host that can't be trusted is not asked, and the message says what to do", () => {
  const other = createAuthority("Somebody else");
  const namesake = createAuthority();
  test.each<[string, World, RegExp]>([
    [
      "by no authority that is known",
      { ca: null },
      /signed by nobody.*in ca_file of hosts: desk\.$/,
    ],
    ["by another authority", { ca: other.cert }, /signed by nobody.*in ca_file of hosts: desk\.$/],
    ["by one that has the same name", { ca: namesake.cert }, /signed by nobody.*ca_file/],
    [
      "long ago",
      { certificate: AUTHORITY.issue(["127.0.0.1"], EXPIRED) },
      /has expired \(CERT_HAS_EXPIRED\)\. Renew it there/,
    ],
    [
      "for later",
      { certificate: AUTHORITY.issue(["127.0.0.1"], NOT_YET_VALID) },
      /is not valid yet \(CERT_NOT_YET_VALID\)\. Set the clock/,
    ],
    [
      "for another name",
      { certificate: THERE },
      /for other names \(ERR_TLS_CERT_ALTNAME_INVALID\)\. Write/,
    ],
    [
      "for another name, behind a tunnel",
      { certificate: HERE, proxy: "tunnel" },
      /https:\/\/desk\.example is for other names/,
    ],
    [
      "by another authority, behind a tunnel",
      { certificate: other.issue(["desk.example"]), proxy: "tunnel" },
      /signed by nobody/,
    ],
  ])("signed %s", async (_, way, message) => {
    const at = await world(way);
    const failure = await failureOf(openModel(at));
    expect(failure).toMatchObject({ code: "MODEL_UNREACHABLE", host: at.place.baseUrl });
    expect(failure.message).toMatch(message);
    expect(at.gate.calls).toEqual([]);
  });

  test("the embedder says it in the same words", async () => {
    const at = await world({ kind: "llama-server", ca: null });
    const place = { ...placeOfHosts([listed(at)]), accessOf: at.accessOf };
    const settings = { model_id: "m", batch_size: 3, timeout_s: 30 };
    const failure = await failureOf(createHostedEmbedder(settings, place));
    expect(failure.code).toBe("MODEL_UNREACHABLE");
    expect(failure.message).toContain("in ca_file of hosts: desk.");
  });

  test("one that hosts does not list can name no certificate there", async () => {
    const { gate } = await world({});
    const place = { name: "m", baseUrl: gate.url };
    const failure = await failureOf(openOpenAiModel(place, SETTINGS, signal));
    expect(failure.message).toContain("List the host in hosts");
  });

  test("one that has no TLS is said to have none", async () => {
    const { double } = await world({});
    const baseUrl = double.url.replace("http:", "https:");
    const failure = await failureOf(openOpenAiModel({ name: "m", baseUrl }, SETTINGS, signal));
    expect(failure.code).toBe("MODEL_UNREACHABLE");
    expect(failure.message).toContain("does not answer with TLS");
  });
});

describe("a proxy that lets nobody through is what the message is about", () => {
  test.each<[World["proxy"], RegExp]>([
    ["refusing", /the proxy http:\/\/127\.0\.0\.1:\d+ answers 403 for desk\.example:443/],
    ["none there", /the proxy http:\/\/127\.0\.0\.1:1 is not reached \(ECONNREFUSED\)/],
  ])("%s", async (proxy, message) => {
    const at = await world({ ...(proxy === undefined ? {} : { proxy }) });
    const failure = await failureOf(openModel(at));
    expect(failure).toMatchObject({ code: "MODEL_UNREACHABLE", host: FAR });
    expect(failure.message).toMatch(message);
    expect(failure.message).toContain("Look at proxy of hosts: desk");
    expect(at.gate.calls).toEqual([]);
  });

  test("also of a host without TLS", async () => {
    const scratch = await makeScratch();
    closing.push(() => scratch.remove());
    const roots = { configRoot: scratch.folder, workroot: scratch.folder, databaseDirectory: "" };
    const url = "http://desk.example:8080";
    const settings: HostSettings = {
      name: "desk",
      kind: "openai",
      url,
      proxy: "http://127.0.0.1:1",
    };
    const access = accessByHost({ hosts: [settings], roots }, {})(url);
    const place = { name: "m", baseUrl: url, entry: "desk", access };
    const failure = await failureOf(openOpenAiModel(place, SETTINGS, signal));
    expect(failure.message).toContain("the proxy http://127.0.0.1:1 is not reached");
  });
});
