import { describe, expect, test } from "@jest/globals";
import { copiesToClient } from "../../src/embedded/collect-batch.ts";
import { parseBaseUrl } from "../../src/shared/config/base-url.ts";
import { plainValue } from "../../src/shared/config/config-tree.ts";
import { maskUrl } from "../../src/shared/config/mask-url.ts";
import { parseYaml } from "../../src/shared/config/parse-yaml.ts";
import { checkSchedule } from "../../src/shared/schedules/schedule.ts";
import type { ScheduleEntry } from "../../src/shared/schedules/schedule.ts";
import { expectLinear, LONGEST_TURN_MS, timeTaken } from "../support/time-taken.ts";

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
      expect(timeTaken(() => problemsOf({ cron }), LONGEST_TURN_MS)).toBeLessThan(LONGEST_TURN_MS);
    }
  });
});

describe("a host", () => {
  test("of a quarter of a megabyte is refused in time in proportion to it", async () => {
    for (const part of ["a", ".", ":", "/", "[", "0", "a/", "/."]) {
      const textOf = (chars: number) => `http://${part.repeat(chars)}`;
      expect(parseBaseUrl(textOf(250_000), "path").kind).toBe("invalid");
      await expectLinear(62_500, (chars) => {
        const text = textOf(chars);
        return () => parseBaseUrl(text, "path");
      });
    }
  });
});

describe("a URL", () => {
  test("of a quarter of a megabyte is masked in time in proportion to it", async () => {
    for (const part of ["a", "@", ":", "?", "&", "=", "%", "pass=&"]) {
      await expectLinear(62_500, (times) => {
        const text = `postgres://${part.repeat(times)}`;
        return () => maskUrl(text);
      });
    }
  });
});

describe("YAML", () => {
  const valueOf = (text: string): unknown => plainValue(parseYaml(text, "f.yaml"));

  test("the most keys that are taken are read in time in proportion to them", async () => {
    const textOf = (keys: number) => Array.from({ length: keys }, (_, n) => `k${n}: x\n`).join("");
    expect(Object.keys(valueOf(textOf(3_000)) as object)).toHaveLength(3_000);
    // Searching all keys before each one took seconds.
    await expectLinear(750, (keys) => {
      const text = textOf(keys);
      return () => valueOf(text);
    });
  });
});

describe("COPY from or to the client", () => {
  test("reads hostile text of half a megabyte in its length, not its square", async () => {
    for (const part of ["'", "/*", "$a$", "e'\\'", "copy ", '"', "--"]) {
      const statementOf = (chars: number) => `select copy ${part.repeat(chars / part.length)}`;
      expect(copiesToClient(statementOf(500_000))).toBe(false);
      await expectLinear(125_000, (chars) => {
        const statement = statementOf(chars);
        return () => copiesToClient(statement);
      });
    }
  });
});
