import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { sharedConfigOf } from "../../../src/shared/config/config-fingerprint.ts";
import {
  confirmHostsOf,
  embedderHostsOf,
  modelHostsOf,
  callPrice,
  modelNameAt,
} from "../../../src/shared/config/hosts.ts";
import { showConfig } from "../../../src/shared/config/show-config.ts";
import { makeScratch, packageRoot } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(() => scratch.remove());

const HOST = { name: "attic", kind: "ollama", url: "http://attic:11434" };
const write = (...hosts: readonly object[]) =>
  scratch.write(
    "nightdesk.yaml",
    JSON.stringify({ model: { provider: "hosts", name: "m" }, hosts }),
  );

test("the configuration of docs/hosts.md loads, in the order in which its hosts are tried", async () => {
  const page = await readFile(join(packageRoot, "docs", "hosts.md"), "utf8");
  const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  await scratch.write("nightdesk.yaml", yaml);
  const places = modelHostsOf(await scratch.load());
  expect(places.map(({ entry }) => entry?.name)).toEqual(["attic", "desk", "rented"]);
  const [attic, , rented] = places;
  if (attic === undefined || rented === undefined) throw new Error("no hosts");
  expect(modelNameAt(attic, "qwen3")).toBe("qwen3:8b");
  expect(modelNameAt(attic, "qwen3-32b")).toBeNull();
  expect(callPrice(rented, { promptTokens: 1_000_000, completionTokens: 500_000 })).toBeCloseTo(
    0.75,
  );
});

test("a host may be there to look at figures alone, and has to be listed for it", async () => {
  const confirm = (host: string) =>
    scratch.write(
      "nightdesk.yaml",
      JSON.stringify({
        ...{ model: { provider: "extractive" }, hosts: [HOST] },
        index: { ocr: { languages: ["eng"], confirm: { host, model: "seer" } } },
      }),
    );
  await confirm("attic");
  const config = await scratch.load();
  expect(confirmHostsOf(config)).toMatchObject([{ host: "http://attic:11434" }]);
  expect(modelHostsOf(config)).toEqual([]);
  await confirm("cellar");
  await expect(scratch.load()).rejects.toThrow(
    'index.ocr.confirm.host is "cellar"; expected the name of an entry of hosts: attic',
  );
});

test("a model that looks at figures has to be among those that its host lists", async () => {
  const listing = (models: unknown) =>
    scratch.write(
      "nightdesk.yaml",
      JSON.stringify({
        ...{ model: { provider: "extractive" }, hosts: [{ ...HOST, models }] },
        index: { ocr: { languages: ["eng"], confirm: { host: "attic", model: "seer" } } },
      }),
    );
  await listing({ seer: "seer:7b" });
  await expect(scratch.load()).resolves.toBeDefined();
  await listing(["big", "small"]);
  await expect(scratch.load()).rejects.toThrow(
    'index.ocr.confirm.model is "seer"; expected one of the models of entry attic of hosts: big, small',
  );
});

test("a host without a price helps out, and one with a price where somebody says so", async () => {
  const hosts = [
    { name: "free" },
    { name: "paid", price_out: 0.1 },
    { name: "zero", price_in: 0, price_out: 0 },
    { name: "asked", price_in: 1, overflow: true },
    { name: "spared", overflow: false },
  ];
  await write(...hosts.map((host, at) => ({ ...HOST, ...host, url: `http://h:${at + 1}` })));
  const places = modelHostsOf(await scratch.load());
  expect(
    places.filter(({ entry }) => entry?.takesOverflow).map(({ entry }) => entry?.name),
  ).toEqual(["free", "zero", "asked"]);
});

describe("a list of hosts", () => {
  test.each<[string, object[], string]>([
    ["empty", [], "hosts is empty"],
    ["with a name twice", [HOST, { ...HOST, url: "http://b:1" }], "hosts.1.name"],
    ["with a URL twice", [HOST, { ...HOST, name: "b", url: "HTTP://ATTIC:11434/" }], "hosts.1.url"],
    ["with a path", [{ ...HOST, url: "http://attic/v1" }], "it has a path"],
    [
      "with the end of a route",
      [{ ...HOST, kind: "openai", url: "http://attic/v1" }],
      "its path ends with /v1, which is added; expected http://host:port or https://host:port, with what stands before /v1",
    ],
    [
      "with a path that leads up",
      [{ ...HOST, kind: "vllm", url: "http://attic/a/../b" }],
      "its path is not made of",
    ],
    [
      "with a base twice",
      [
        { ...HOST, kind: "openai", url: "http://attic/a" },
        { ...HOST, kind: "openai", name: "b", url: "http://ATTIC:80/a/" },
      ],
      "hosts.1.url",
    ],
    ["with two keys", [{ ...HOST, key_env: "K", key_file: "k" }], "keep one"],
    ["with a proxy of https", [{ ...HOST, proxy: "https://p:1" }], "a proxy of http://"],
    ["with responses of Ollama", [{ ...HOST, api: "responses" }], "hosts.0.api"],
    ["that lacks the model", [{ ...HOST, models: ["other"] }], "no entry of hosts has it"],
    ["of an unknown kind", [{ ...HOST, kind: "olama" }], "hosts.0.kind"],
  ])("%s is refused", async (_, hosts, expected) => {
    await write(...hosts);
    expect(await scratch.loadError()).toContain(expected);
  });

  test("may have several hosts behind one gateway, each with its path", async () => {
    const behind = { ...HOST, kind: "openai" };
    await write(
      { ...behind, url: "https://gw.example/team/" },
      { ...behind, name: "b", url: "https://gw.example/Team" },
    );
    const places = modelHostsOf(await scratch.load());
    expect(places.map(({ host }) => host)).toEqual([
      "https://gw.example/team",
      "https://gw.example/Team",
    ]);
  });

  test("that nothing goes by is refused", async () => {
    await scratch.write("nightdesk.yaml", JSON.stringify({ hosts: [HOST] }));
    expect(await scratch.loadError()).toContain("model.provider: hosts");
  });

  test("serves the embedder alone, each model where it is named", async () => {
    const page = await readFile(join(packageRoot, "docs", "hosts.md"), "utf8");
    const [, [, yaml = ""] = []] = page.matchAll(/```yaml\n([\s\S]*?)```/g);
    await scratch.write("nightdesk.yaml", yaml);
    const places = embedderHostsOf(await scratch.load());
    expect(places.map(({ host }) => host)).toEqual([
      "http://attic:11434",
      "https://desk.example:8080",
    ]);
    expect(modelHostsOf(await scratch.load())).toEqual([]);
  });

  test("may hold the one host of the embedder for its key", async () => {
    const listed = { ...HOST, kind: "openai", models: ["qwen3"], key_env: "K", parallel: 8 };
    const embed = { provider: "openai-compatible", base_url: HOST.url, model_id: "nomic" };
    await scratch.write("nightdesk.yaml", JSON.stringify({ hosts: [listed], embed }));
    const [place, ...others] = embedderHostsOf(await scratch.load());
    expect(place).toMatchObject({ host: HOST.url, provider: "openai-compatible", parallel: 8 });
    expect(place?.entry?.name).toBe("attic");
    expect(place === undefined ? null : modelNameAt(place, "nomic")).toBe("nomic");
    expect(others).toEqual([]);
  });

  test.each<[string, object, string]>([
    ["without hosts", { embed: { provider: "hosts", model_id: "m" } }, "embed.provider"],
    [
      "of which none has the model",
      { embed: { provider: "hosts", model_id: "m" }, hosts: [{ ...HOST, models: ["other"] }] },
      "embed.model_id",
    ],
    ["with dimensions of hashing", { embed: { dimensions: 128 } }, "embed.dimensions is 128"],
    ["with a prefix of hashing", { embed: { query_prefix: "q: " } }, "embed.query_prefix"],
  ])("an embedder %s is refused", async (_, config, expected) => {
    await scratch.write("nightdesk.yaml", JSON.stringify(config));
    expect(await scratch.loadError()).toContain(expected);
  });

  test("shows no header, also where it is wrong", async () => {
    await write({ ...HOST, headers: { "X-Key": "secret-0001\n" } });
    expect(await scratch.loadError()).not.toContain("secret-0001");
    await write({ ...HOST, headers: { "X-Key": "secret-0001" }, url: "http://secret-0001@attic" });
    expect(await scratch.loadError()).not.toContain("secret-0001");
    await write({ ...HOST, headers: { "X-Key": "secret-0001" } });
    const shown = JSON.stringify(showConfig(await scratch.load()));
    expect(shown).toContain("X-Key");
    expect(shown).not.toContain("secret-0001");
  });

  test("is compared among workers without what is a machine's own", async () => {
    const sharedOf = async (host: object) => {
      await write({ ...HOST, ...host });
      const config = await scratch.load();
      return sharedConfigOf(config, modelHostsOf(config)).get("hosts");
    };
    const here = await sharedOf({ key_env: "A", headers: { "X-Key": "1" } });
    expect(
      await sharedOf({ key_file: "b.txt", proxy: "http://p:1", headers: { "X-Key": "2" } }),
    ).toBe(here);
    expect(await sharedOf({ priority: 2 })).not.toBe(here);
  });
});
