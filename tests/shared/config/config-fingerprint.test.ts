import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { configFingerprint } from "../../../src/shared/config/config-fingerprint.ts";
import { makeScratch } from "./scratch.ts";
import type { Scratch } from "./scratch.ts";

let scratch: Scratch;
beforeEach(async () => {
  scratch = await makeScratch();
});
afterEach(() => scratch.remove());

const fingerprintOf = async (content: string): Promise<string> => {
  await scratch.write("nightdesk.yaml", content);
  return configFingerprint(await scratch.load());
};

describe("the fingerprint", () => {
  test("is a SHA-256 and the same for the same values in another order", async () => {
    const first = await fingerprintOf("{ model: { aliases: { a: x, b: y } }, ask: { top_n: 5 } }");
    const second = await fingerprintOf("{ ask: { top_n: 5 }, model: { aliases: { b: y, a: x } } }");
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).toBe(first);
  });

  test.each([
    "model: { seed: 1 }",
    "model: { temperature: 0.5 }",
    "ask: { citations: { strict: false } }",
    "index: { chunking: { overlap: 10 } }",
    "index: { sources: [{ name: corpus, root: allowed/corpus }] }",
    "embed: { model_id: hashing-256 }",
    "retrieve: { floor: 0.1 }",
    "retrieve: { rerank: { provider: transformers } }",
    "verify: { judge: { model: other } }",
    "verify: { judge: { form: nli }, entailment: { provider: transformers } }",
  ])("changes with %s", async (content) => {
    expect(await fingerprintOf(content)).not.toBe(await fingerprintOf(""));
  });

  test.each([
    ["retrieve: { rerank: { provider: transformers", "retrieve: { rerank: { provider: off"],
    [
      "verify: { judge: { form: nli }, entailment: { provider: transformers",
      "verify: { entailment: { provider: transformers",
    ],
  ])("changes with the digest of a model under %s, where it is used", async (used, unused) => {
    const of = (under: string, digit: string) =>
      fingerprintOf(`${under}, digest: "${digit.repeat(64)}" } }`);
    expect(await of(used, "a")).not.toBe(await of(used, "b"));
    expect(await of(unused, "a")).toBe(await of(unused, "b"));
  });

  test.each([
    "model: { base_url: 'http://other', timeout_s: 5, timeout_s_big_second: 6, keep_alive: '1m' }",
    "embed: { base_url: 'http://other', batch_size: 1, cache_dir: /x, local_model_path: /y }",
    "retrieve: { rerank: { model_id: nobody/asks, candidates: 5 } }",
    "runs: { preview_chars: 1 }",
    "log: { level: debug }",
    "database: { url: 'postgres://nd@db/nd' }",
    "security: { max_file_bytes: 5 }",
  ])("stays with %s", async (content) => {
    expect(await fingerprintOf(content)).toBe(await fingerprintOf(""));
  });
});
