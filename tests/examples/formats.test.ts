import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { FORMAT_EXAMPLES, FORMAT_QUESTIONS } from "../support/format-examples.ts";
import { runBin } from "../support/run-bin.ts";

const EXAMPLES = resolve(import.meta.dirname, "../../examples/formats");

describe("examples/formats", () => {
  test("is what scripts/write-format-examples.js writes: at least three of a format, in four languages", () => {
    const written = readFileSync(join(EXAMPLES, "questions.jsonl"), "utf8");
    expect(written).toBe(FORMAT_QUESTIONS.map((one) => `${JSON.stringify(one)}\n`).join(""));
    const files = readdirSync(join(EXAMPLES, "files"), { recursive: true, encoding: "utf8" });
    const paths = FORMAT_EXAMPLES.map(({ path }) => path);
    expect(files.filter((file) => /\.\w+$/.test(file)).sort()).toEqual([...paths].sort());
    const formatOf = (path: string): string => path.split("/")[0] ?? "";
    for (const format of new Set(paths.map(formatOf))) {
      expect(paths.filter((path) => formatOf(path) === format).length).toBeGreaterThanOrEqual(3);
    }
    const languages = new Set(FORMAT_QUESTIONS.map(({ language }) => language));
    expect([...languages].sort()).toEqual(["de", "en", "es", "fr"]);
  });
});

const evaluation = z.object({
  evaluated: z.tuple([
    z.object({ groups: z.object({ all: z.object({ right: z.int(), wrong: z.int() }) }) }),
  ]),
});

describe("the documents, indexed and asked without a model", () => {
  let desk: string;
  beforeAll(() => {
    desk = mkdtempSync(join(tmpdir(), "nightdesk-formats-"));
    cpSync(EXAMPLES, desk, { recursive: true });
  });
  afterAll(() => {
    rmSync(desk, { recursive: true, force: true, maxRetries: 5 });
  });
  const run = (...words: readonly string[]) => runBin(words, { cwd: desk });

  test("give 27 right answers of 30, with the page, row or message", async () => {
    const indexed = await run("index");
    expect(indexed.stdout).toContain("27 documents: 27 added");
    const asked = await run("eval", "questions.jsonl", "--json");
    const { all } = evaluation.parse(JSON.parse(asked.stdout)).evaluated[0].groups;
    expect(all.right).toBeGreaterThanOrEqual(28);
    expect(all.wrong).toBeLessThanOrEqual(1);
    const places = await run(
      ...["sql", "--json"],
      "select distinct path, locator from evidence where locator ?| array['page', 'message', 'sheet'] order by path",
    );
    expect(JSON.parse(places.stdout)).toEqual(
      expect.arrayContaining([
        { path: "files/mbox/desk.mbox", locator: { message: 2 } },
        { path: "files/pdf/evacuation.pdf", locator: { page: 2 } },
        {
          path: "files/xlsx/budget.xlsx",
          locator: expect.objectContaining({ sheet: "Budget 2027", row: 1 }),
        },
      ]),
    );
    const rows = await run(
      ...["sql", "--json"],
      `select distinct locator, quote from claims where path = 'files/csv/cabins.csv' and claim ~ '15'
          and grade = 'supported'`,
    );
    // The row of names is the first one.
    expect(JSON.parse(rows.stdout)).toEqual([
      { locator: { row: 4 }, quote: expect.stringContaining("Ibex") },
    ]);
  }, 120_000);
});
