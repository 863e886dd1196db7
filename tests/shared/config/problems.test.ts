import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { makeScratch } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(() => scratch.remove());

const errorFor = async (content: string): Promise<string> => {
  await scratch.write("nightdesk.yaml", content);
  return scratch.loadError();
};

describe("a wrong value", () => {
  test.each([
    [
      "verify: { judge: { model: [a, b], form: nli } }",
      '1:20: verify.judge.model is ["a","b"] in the form nli; expected two different models',
    ],
    [
      "verify: { judge: { model: [a, a] } }",
      '1:20: verify.judge.model is ["a","a"] in the form list; expected two different models',
    ],
    [
      "model: { provider: ollama, name: a, aliases: { b: a } }\nverify: { judge: { model: [same, b] } }",
      '2:20: verify.judge.model is ["same","b"] in the form list; expected two different models',
    ],
    ["verify: { judge: { model: [a, b, c] } }", "1:20: verify.judge.model"],
    ["model: { num_ctx: 8k }", '1:10: model.num_ctx is "8k"; expected a whole number'],
    ["model: { num_ctx: 1.5 }", "1:10: model.num_ctx is 1.5; expected a whole number"],
    ["model: { num_ctx: 0 }", "1:10: model.num_ctx is 0; expected a whole number from 1"],
    ["model: { num_ctx: }", "1:10: model.num_ctx is empty; expected a whole number"],
    ["model: { temperature: .nan }", "1:10: model.temperature is NaN; expected a number"],
    ["model: { temperature: .inf }", "1:10: model.temperature is Infinity; expected a number"],
    ["model: { timeout_s: 0 }", "1:10: model.timeout_s is 0; expected more than 0"],
    ["retrieve: { floor: -1 }", "1:13: retrieve.floor is -1; expected at least 0"],
    ["model: { temperature: 3 }", "1:10: model.temperature is 3; expected at most 2"],
    [
      `model: { provider: extractive, digest: ${"a".repeat(64)} }`,
      '1:32: model.digest is set, and model.provider "extractive" has no weights',
    ],
    [
      `model: { provider: ollama, name: null, big: b, digest: ${"a".repeat(64)} }`,
      "1:48: model.digest is set, and model.name is null",
    ],
    [
      "index: { sources: [{ name: a, root: allowed/a, exts: [.md, .dwg] }] }",
      '1:48: index.sources.0.exts holds ".dwg", which security.allowed_exts does not allow',
    ],
    [
      "index: { sources: [{ name: a, root: allowed/a, encoding: latin1 }] }",
      '1:48: index.sources.0.encoding is "latin1"; expected the name of an encoding; did you mean windows-1252?',
    ],
    [
      "index: { sources: [{ name: a, root: allowed/a, encoding: windows1250 }] }",
      '1:48: index.sources.0.encoding is "windows1250"; expected the name of an encoding; did you mean windows-1250?',
    ],
    [
      "index: { sources: [{ name: a, root: allowed/a, encoding: utf-8 }] }",
      '1:48: index.sources.0.encoding is "utf-8"; expected the name of an encoding; one of big5, euc-jp',
    ],
    ["model: { seed: -1 }", "1:10: model.seed is -1; expected a whole number from 0"],
    ["model: { keep_alive: 30 }", "1:10: model.keep_alive is 30; expected text"],
    [
      "model: { keep_alive: soon }",
      '1:10: model.keep_alive is "soon"; expected a duration in quotes',
    ],
    ["model: { provider: gpt }", '1:10: model.provider is "gpt"; expected one of ollama, openai-'],
    ["model: { name: ' ' }", '1:10: model.name is " "; expected text that is not blank'],
    ["model: { digest: abc }", '1:10: model.digest is "abc"; expected 64 hexadecimal digits'],
    ["model: { aliases: { 'a:b': 1 } }", '1:21: model.aliases."a:b" is 1; expected text'],
    ["model:", "1:1: model is empty; expected a mapping of keys"],
    ["model: [a]", "1:1: model is a list; expected a mapping of keys"],
    [
      "index: { chunking: { max_chars: 100000 } }",
      "1:22: index.chunking.max_chars is 100000; expected a whole number from 100 to 20000",
    ],
    [
      "model: { provider: ollama, name: a, big: b, max_tokens: 6000 }",
      "1:45: model.max_tokens is 6000; expected at most model.max_tokens_big_second, which is 4500: raise both",
    ],
    [
      "model: { provider: ollama, name: a, big: b, max_tokens_big_second: 100 }",
      "1:45: model.max_tokens_big_second is 100; expected at least model.max_tokens, which is 800",
    ],
    ["memory: { enabled: yes }", '1:11: memory.enabled is "yes"; expected true or false'],
    [
      "security: { allow_any_path: 'false' }",
      '1:13: security.allow_any_path is "false"; expected true or false',
    ],
    [
      "security: { allowed_roots: [] }",
      "1:13: security.allowed_roots is an empty list; expected at least one",
    ],
    [
      "security: { allowed_exts: [md] }",
      '1:28: security.allowed_exts.0 is "md"; expected an extension like',
    ],
    [
      "security: { allowed_roots: allowed }",
      '1:13: security.allowed_roots is "allowed"; expected a list',
    ],
    [
      "index: { sources: [{ name: A, root: allowed }] }",
      '1:22: index.sources.0.name is "A"; expected lower-case',
    ],
    ["log: 5", "1:1: log is 5; expected a mapping of keys"],
  ])("in %j is named with place, key, value and expectation", async (content, expected) => {
    expect(await errorFor(content)).toContain(`nightdesk.yaml:${expected}`);
  });

  test("is blamed on the file that holds it", async () => {
    await scratch.write("base.yaml", "\nmodel:\n  seed: many\n");
    expect(await errorFor("extends: base.yaml\nlog: { level: info }\n")).toBe(
      'base.yaml:3:3: model.seed is "many"; expected a whole number from 0',
    );
  });

  test("is cut after 60 characters", async () => {
    const message = await errorFor(`log: { level: ${"x".repeat(5000)} }`);
    expect(message).toContain(`log.level is "${"x".repeat(60)}…"`);
    expect(message.length).toBeLessThan(300);
  });
});

describe("an unknown key", () => {
  test.each([
    ["modle: {}", '"modle" is not a key; did you mean model?'],
    ["model: { llama_cpp: {} }", '"model.llama_cpp" was removed; use the options of llama-server'],
    [
      "model: { provider: llama-cpp }",
      'model.provider is "llama-cpp", which was removed; use model.provider: openai-compatible, with llama-server on the same GGUF file; or ollama',
    ],
    ["model: { num_ctxt: 5 }", '"model.num_ctxt" is not a key; did you mean num_ctx?'],
    ["model: { nmae: x }", '"model.nmae" is not a key; did you mean name?'],
    ["model: { maxTokens: 5 }", '"model.maxTokens" is not a key; did you mean max_tokens?'],
    ["model: { max-tokens: 5 }", '"model.max-tokens" is not a key; did you mean max_tokens?'],
    ["overlap: 5", '"overlap" is not a key; did you mean index.chunking.overlap?'],
    ["memory: { zzz: 5 }", '"memory.zzz" is not a key; expected one of enabled'],
    [
      "index: { sources: [{ name: a, root: allowed, kin: b }] }",
      '"index.sources.0.kin" is not a key; expected one of name, root',
    ],
    ["__proto__: { a: 1 }", '"__proto__" is not a key; expected one of workroot'],
    ["constructor: 1", '"constructor" is not a key; expected one of workroot'],
    ["log: { <<: { level: info } }", '"log.<<" is not a key; expected one of level'],
    ["'postgres://nd:hush@db': x", '"postgres://nd:***@db" is not a key'],
  ])("in %j is an error with a suggestion", async (content, expected) => {
    expect(await errorFor(content)).toContain(expected);
  });

  test("of endless length gets an answer at once", async () => {
    expect(await errorFor(`? ${"k".repeat(60_000)}\n: 1\n`)).toMatch(
      /^nightdesk\.yaml:1:3: "k{60}…"/,
    );
  });
});

describe("several problems", () => {
  test("come in one message, one a line, each with its place", async () => {
    expect(
      (await errorFor("log:\n  level: loud\nmodle: {}\nask:\n  top_n: 0\n")).split("\n").sort(),
    ).toEqual([
      'nightdesk.yaml:2:3: log.level is "loud"; expected one of trace, debug, info, warn, error, silent',
      'nightdesk.yaml:3:1: "modle" is not a key; did you mean model?',
      "nightdesk.yaml:5:3: ask.top_n is 0; expected a whole number from 1",
    ]);
  });

  test("are at most 20, and the rest is counted", async () => {
    const content = Array.from({ length: 25 }, (_, n) => `zzzzzz${String(n)}: 1`).join("\n");
    const lines = (await errorFor(content)).split("\n");
    expect(lines).toHaveLength(21);
    expect(lines[20]).toBe("and 5 more");
  });
});

describe("keys that contradict each other", () => {
  test.each([
    [
      "index: { chunking: { max_chars: 200, overlap: 200 } }",
      "1:38",
      "index.chunking.overlap is 200; expected less than",
    ],
    [
      "queue: { backend: redis }",
      "1:10",
      'queue.backend is "redis" and database.url is "embedded"; set queue.backend to postgres',
    ],
    [
      "{ database: { url: 'postgres://nd@db/nd' }, queue: { backend: redis } }",
      "embedded.yaml",
      'queue.redis_url is a text that is not shown and queue.backend is "redis"; expected redis://',
    ],
    [
      "{ extends: 'nightdesk:default', queue: { redis_url: 'http://x' } }",
      "1:42",
      'queue.redis_url is "http://x" and queue.backend is "redis"; expected redis://',
    ],
    [
      "{ extends: 'nightdesk:default', model: { name: null } }",
      "1:42",
      'model.name is empty and model.provider is "ollama"; expected a model',
    ],
    [
      "index: { sources: [{ name: a, root: allowed/a }, { name: a, root: allowed/b }] }",
      "1:52",
      'index.sources.1.name is "a" like an entry before',
    ],
    [
      "index: { sources: [{ name: a, root: other }] }",
      "1:31",
      'index.sources.0.root is "other"; expected a folder in one of security.allowed_roots ("allowed/")',
    ],
    [
      "index: { sources: [{ name: a, root: allowed/../b }] }",
      "1:31",
      'index.sources.0.root is "allowed/../b"; expected',
    ],
    [
      "index: { sources: [{ name: a, root: allowed-too }] }",
      "1:31",
      'index.sources.0.root is "allowed-too"; expected',
    ],
  ])("in %j are an error that says what to change", async (content, place, expected) => {
    const message = await errorFor(content);
    expect(message).toContain(place);
    expect(message).toContain(expected);
  });

  test.each([
    [
      "a source that is the allowed root itself",
      "index: { sources: [{ name: a, root: allowed }] }",
    ],
    [
      "a source whose name begins with dots",
      "index: { sources: [{ name: a, root: allowed/..a }] }",
    ],
    [
      "an absolute root",
      "{ security: { allowed_roots: [/srv] }, index: { sources: [{ name: a, root: /srv/a }] } }",
    ],
    ["a big model alone", "model: { provider: ollama, name: null, big: b }"],
    ["no model for extractive", "model: { name: null, base_url: 'no host' }"],
    ["Redis over TLS", "{ extends: 'nightdesk:default', queue: { redis_url: 'rediss://r' } }"],
    ["a Postgres socket", "database: { url: 'postgresql:///nd?host=/run/postgresql' }"],
  ])("are not seen in %s", async (_name, content) => {
    await scratch.write("nightdesk.yaml", content);
    expect((await scratch.load()).file).toContain("nightdesk.yaml");
  });
});
