import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { HostSettings } from "../../../src/shared/config/hosts-schema.ts";
import { askRoute, listModels } from "../../../src/worker/models/ask-route.ts";
import { accessByHost } from "../../../src/worker/models/host-access.ts";
import { HostError } from "../../../src/worker/models/host-request.ts";
import { startOpenAiDouble } from "../../doubles/openai-server.ts";
import { makeScratch } from "../../shared/config/scratch.ts";
import { startConnectProxy } from "../../support/connect-proxy.ts";
import type { ConnectProxy } from "../../support/connect-proxy.ts";
import { startGatedHost } from "../../support/gated-host.ts";

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
const signal = new AbortController().signal;
const KEY = "sk-test-key-4711";

async function gated(gate: Parameters<typeof startGatedHost>[1] = { key: KEY }) {
  const double = await startOpenAiDouble({ models: [{ name: "m" }] });
  closing.push(() => double.close());
  const host = await startGatedHost(double.url, gate);
  closing.push(() => host.close());
  return host;
}

async function accessTo(
  url: string,
  more: Partial<HostSettings>,
  env: Readonly<Record<string, string>> = {},
) {
  const scratch = await makeScratch();
  closing.push(() => scratch.remove());
  const roots = { configRoot: scratch.folder, workroot: scratch.folder, databaseDirectory: "" };
  const hosts: HostSettings[] = [{ name: "h", kind: "openai", url, ...more }];
  return { scratch, access: accessByHost({ hosts, roots }, env)(url) };
}

const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => new Error("it did not fail"),
    (error: unknown) => error,
  );

describe("the key of a host", () => {
  test("comes from the environment", async () => {
    const { url } = await gated();
    const { access } = await accessTo(url, { key_env: "HOST_KEY" }, { HOST_KEY: ` ${KEY}\n` });
    expect(await listModels(url, "openai-compatible", signal, access)).toMatchObject({
      data: [{}],
    });
  });

  test("comes from a file, and is read again when it has changed", async () => {
    const { url } = await gated();
    const { scratch, access } = await accessTo(url, { key_file: "key.txt" });
    const ask = () => listModels(url, "openai-compatible", signal, access);
    await writeFile(join(scratch.folder, "key.txt"), "sk-old\n");
    expect(await failureOf(ask())).toMatchObject({ status: 401 });
    await writeFile(join(scratch.folder, "key.txt"), `${KEY}\n`);
    expect(await ask()).toMatchObject({ data: [{}] });
  });

  test("is taken out of what the host says", async () => {
    const { url } = await gated();
    const { access } = await accessTo(url, { key_env: "K" }, { K: "sk-wrong-0815" });
    const error = await failureOf(listModels(url, "openai-compatible", signal, access));
    expect(error).toBeInstanceOf(HostError);
    expect(String(error)).toContain("Incorrect API key: Bearer ***");
  });

  test("in headers is taken out without the word in front of it, too, and no short word is", async () => {
    const headers = { "x-key": `Bearer ${KEY}`, accept: "text" };
    const { access } = await accessTo("http://h", { headers, key_env: "K" }, { K: "k1" });
    expect((await access()).secrets).toEqual([`Bearer ${KEY}`, KEY, "k1"]);
  });

  test.each<[string, Partial<HostSettings>]>([
    ["a variable that is not set", { key_env: "NONE" }],
    ["a variable that holds no key", { key_env: "LINES" }],
    ["a file that is not there", { key_file: "none.txt" }],
    ["a certificate that is none", { ca_file: "none.pem" }],
  ])("is missed without a call: %s", async (_, settings) => {
    const host = await gated();
    const { access } = await accessTo(host.url, settings, { LINES: "two lines\nof secret-1234" });
    const error = await failureOf(listModels(host.url, "openai-compatible", signal, access));
    expect(error).toMatchObject({ code: "MODEL_UNREACHABLE", host: host.url });
    expect(String(error)).not.toContain("secret-1234");
    expect(host.calls).toEqual([]);
  });
});

describe("the key of a host behind a gateway", () => {
  test("is sent below its own base, and below no other on the same server", async () => {
    const double = await startOpenAiDouble({ models: [{ name: "m" }] });
    closing.push(() => double.close());
    const gateway = await startGatedHost(double.url, { answer: () => OPEN_LIST });
    closing.push(() => gateway.close());
    const scratch = await makeScratch();
    closing.push(() => scratch.remove());
    const roots = { configRoot: scratch.folder, workroot: scratch.folder, databaseDirectory: "" };
    const host = (name: string, path: string, variable: string): HostSettings => ({
      ...{ name, kind: "openai", url: `${gateway.url}${path}`, key_env: variable },
    });
    const hosts = [host("a", "/team/", "A"), host("b", "/team/b", "B"), host("c", "/Team", "C")];
    const accessOf = accessByHost({ hosts, roots }, { A: "sk-a-1", B: "sk-b-2", C: "sk-c-3" });
    for (const path of ["/team", "/team/b", "/Team", "/team/other", ""]) {
      const url = `${gateway.url}${path}`;
      await listModels(url, "openai-compatible", signal, accessOf(url));
    }
    expect(gateway.calls.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/team/v1/models", "Bearer sk-a-1"],
      ["/team/b/v1/models", "Bearer sk-b-2"],
      ["/Team/v1/models", "Bearer sk-c-3"],
      ["/team/other/v1/models", undefined],
      ["/v1/models", undefined],
    ]);
  });
});
const OPEN_LIST = { status: 200, body: { data: [] } };

describe("Retry-After", () => {
  test.each<[string, number | null, number | null]>([
    ["30", 30_000, 30_000],
    [new Date(Date.now() + 60_000).toUTCString(), 50_000, 61_000],
    ["soon", null, null],
  ])("of %s", async (value, least, most) => {
    const answer = () => ({ status: 429, headers: { "retry-after": value }, body: {} });
    const { url } = await gated({ answer });
    const error = await failureOf(askRoute(`${url}/v1/models`, null, signal));
    const { retryAfterMs } = error as HostError;
    if (least === null || most === null) expect(retryAfterMs).toBeNull();
    else {
      expect(retryAfterMs).toBeGreaterThanOrEqual(least);
      expect(retryAfterMs).toBeLessThanOrEqual(most);
    }
  });
});

describe("a proxy", () => {
  async function startProxy(): Promise<ConnectProxy> {
    const proxy = await startConnectProxy();
    closing.push(() => proxy.close());
    return proxy;
  }

  test("that is named gets the whole address", async () => {
    const proxy = await startProxy();
    const { access } = await accessTo("http://far.example:8080", { proxy: proxy.url });
    const said = await listModels("http://far.example:8080", "openai-compatible", signal, access);
    expect(proxy.asked).toEqual(["http://far.example:8080/v1/models"]);
    expect(said).toEqual({ data: [{ id: "far.example:8080" }] });
  });

  test("of a host with TLS is asked for a tunnel, and a refusal is a host that is not reached", async () => {
    const proxy = await startProxy();
    const far = "https://127.0.0.1:1";
    const { access } = await accessTo(far, { proxy: proxy.url });
    const error = await failureOf(listModels(far, "openai-compatible", signal, access));
    expect(proxy.asked).toEqual(["CONNECT 127.0.0.1:1"]);
    expect(error).toMatchObject({ code: "PROXY_REFUSED" });
  });

  test("of the environment is not asked", async () => {
    const proxy = await startProxy();
    const host = await gated({});
    process.env["http_proxy"] = proxy.url;
    try {
      await listModels(host.url, "openai-compatible", signal);
    } finally {
      delete process.env["http_proxy"];
    }
    expect(proxy.asked).toEqual([]);
    expect(host.calls).toHaveLength(1);
  });
});
