import { describe, expect, test } from "@jest/globals";
import type { Config } from "../../src/shared/config/schema.ts";
import { mostEntailmentMs, mostRerankMs } from "../../src/worker/settings.ts";

const rerank = { provider: "transformers", candidates: 50, timeout_s: 30 };
const entailment = { timeout_s: 10 };
const configOf = (concurrency: number, more: object = {}): Config =>
  ({
    queue: { concurrency },
    retrieve: { rerank: { ...rerank, ...more } },
    verify: { entailment },
  }) as Config;

describe("what a model that compares texts may take", () => {
  test("is the limit of a call for each eight pairs, and for the calls of other jobs before each", () => {
    expect(mostRerankMs(configOf(1))).toBe(7 * 30_000);
    expect(mostRerankMs(configOf(1, { candidates: 48 }))).toBe(6 * 30_000);
    expect(mostRerankMs(configOf(4))).toBe(4 * 7 * 30_000);
    expect(mostEntailmentMs(9, configOf(2))).toBe(2 * 2 * 10_000);
    expect(mostEntailmentMs(0, configOf(2))).toBe(0);
  });

  test("is nothing where it is off", () => {
    expect(mostRerankMs(configOf(1, { provider: "off" }))).toBe(0);
  });
});
