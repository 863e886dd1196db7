import { cpSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { z } from "zod";
import { FORMAT_EXAMPLES, FORMAT_QUESTIONS } from "../support/format-examples.ts";
import { runBin } from "../support/run-bin.ts";
import { removeDesk } from "../support/workers-ended.ts";

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
  afterAll(() => removeDesk(desk));
  const run = (...words: readonly string[]) => runBin(words, { cwd: desk });

  test("answer all 43 questions right, with the page, row or message", async () => {
    const indexed = await run("index");
    expect(indexed.stdout).toContain("52 documents: 52 added");
    const asked = await run("eval", "questions.jsonl", "--json");
    const { all } = evaluation.parse(JSON.parse(asked.stdout)).evaluated[0].groups;
    expect(all.right).toBe(43);
    expect(all.wrong).toBe(0);
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
    // The name of the sheet stands above its first row.
    const inSheet = await run(
      ...["sql", "--json"],
      "select distinct locator from claims where path = 'files/xlsx/budget.xlsx' and quote ~ 'New hauling rope'",
    );
    expect(JSON.parse(inSheet.stdout)).toEqual([{ locator: { sheet: "Budget 2027", row: 2 } }]);
  }, 120_000);

  test("an attachment is asked about by its name, summarized, shown, found unchanged, and repeated", async () => {
    await run("index");
    const path = "files/eml/pachtvertrag.eml/attachments/1/pacht.csv";
    const json = async (...words: readonly string[]): Promise<unknown> => {
      const { stdout, stderr } = await run(...words, "--json");
      return stdout === "" ? stderr : JSON.parse(stdout);
    };
    const read = { kind: "file", path, locator: { row: 1, last_row: 3 } };
    for (const name of ["pacht.csv", path]) {
      const question = `Wie hoch ist laut ${name} die Pacht für den Keller?`;
      expect(await json("ask", question, "--wait")).toMatchObject({
        ok: true,
        answer: expect.stringContaining("1.150"),
        evidence: expect.arrayContaining([expect.objectContaining(read)]),
      });
    }
    const summary = await json("summarize", path, "--wait");
    expect(summary).toMatchObject({ ok: true, kind: "summarize", evidence: [read] });
    expect((await run("summarize", path, "--changed")).stderr).toContain("0 of 1 file");
    const { run_id: id } = z.object({ run_id: z.string() }).parse(summary);
    expect(await json("runs", "replay", id)).toMatchObject({ ok: true });
    expect(await json("index", "show", path)).toMatchObject({
      mail: "files/eml/pachtvertrag.eml",
      day: "2026-04-02",
      day_source: "mail_header",
    });
    expect(await json("index", "show", "files/eml/pachtvertrag.eml")).toMatchObject({
      mail: null,
      attachments: [path],
    });
    expect((await run("doctor")).stdout).toContain("48 files are as they were");
  }, 120_000);

  test("an attachment is offered where its path, its mail or its name is misspelt", async () => {
    await run("index");
    const hint = 'Did you mean "files/eml/pachtvertrag.eml/attachments/1/pacht.csv"?';
    const misspelt = [
      "files/eml/pachtvertag.eml/attachments/1-pacht.csv",
      "files/eml/pachtvertag.eml/attachments/1/pacht.csv",
      "pachd.csv",
    ];
    for (const name of misspelt) {
      const asked = await run("ask", `What does ${name} say?`, "--wait");
      expect(asked.stderr).toContain(hint);
    }
    const summarized = await run("summarize", misspelt[0] ?? "", "--wait");
    expect(summarized.stderr).toContain(hint);
  }, 120_000);
});
