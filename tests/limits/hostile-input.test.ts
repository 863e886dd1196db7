import { describe, expect, test } from "@jest/globals";
import { copiesToClient } from "../../src/embedded/collect-batch.ts";
import { parseBaseUrl } from "../../src/shared/config/base-url.ts";
import { plainValue } from "../../src/shared/config/config-tree.ts";
import { maskUrl } from "../../src/shared/config/mask-url.ts";
import { readYaml } from "../../src/shared/config/read-yaml.ts";
import { checkSchedule } from "../../src/shared/schedules/schedule.ts";
import type { ScheduleEntry } from "../../src/shared/schedules/schedule.ts";
import { timeTaken } from "../support/time-taken.ts";

describe("a schedule", () => {
  const problemsOf = (overrides: Partial<ScheduleEntry>) =>
    checkSchedule({
      name: "nightly",
      cron: "0 1 * * *",
      timezone: "Europe/Berlin",
      command: ["index"],
      catchUp: "12h",
      enabled: true,
      ...overrides,
    });

  test("at the rarest of times finds its next in little time", () => {
    for (const cron of ["0 0 29 2 *", "0 0 31 * *", "59 23 31 12 *", "0 0 * 2 1#5"]) {
      expect(problemsOf({ cron })).toEqual([]);
      expect(timeTaken(() => problemsOf({ cron }), 500)).toBeLessThan(500);
    }
  });
});

describe("a host", () => {
  test("of a megabyte is refused at once", () => {
    const texts = ["a", ".", ":", "/", "[", "0"].map((part) => `http://${part.repeat(1e6)}`);
    for (const text of texts) expect(parseBaseUrl(text).kind).toBe("invalid");
    expect(timeTaken(() => texts.map(parseBaseUrl), 2_000)).toBeLessThan(2_000);
  });
});

describe("a URL", () => {
  test("of a megabyte is masked at once", () => {
    const started = performance.now();
    for (const part of ["a", "@", ":", "?", "&", "=", "%", "pass=&"]) {
      maskUrl(`postgres://${part.repeat(1e6)}`);
    }
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe("YAML", () => {
  const valueOf = (text: string): unknown => plainValue(readYaml(text, "f.yaml"));

  test("the most keys that are taken are read without holding anybody up", () => {
    const text = Array.from({ length: 3_000 }, (_, n) => `k${n}: x\n`).join("");
    const before = process.cpuUsage();
    expect(Object.keys(valueOf(text) as object)).toHaveLength(3_000);
    const { user, system } = process.cpuUsage(before);
    // Searching all keys before each one took seconds.
    expect((user + system) / 1_000).toBeLessThan(1_000);
  });
});

describe("COPY from or to the client", () => {
  test("reads hostile text of 5 MB in its length, not its square", () => {
    const start = performance.now();
    for (const part of ["'", "/*", "$a$", "e'\\'", "copy ", '"', "--"]) {
      expect(copiesToClient(`select copy ${part.repeat(5_000_000 / part.length)}`)).toBe(false);
    }
    expect(performance.now() - start).toBeLessThan(15_000);
  });
});
