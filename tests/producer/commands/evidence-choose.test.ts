import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { chooseReading } from "../../../src/shared/store/index/ocr-choices.ts";
import { selectHasPictures } from "../../../src/shared/views/doubtful-figures.ts";
import { openReadPages } from "../../../src/worker/ocr/open-read-pages.ts";
import { pageLines } from "../../../src/worker/ocr/page-lines.ts";
import { describeOnPostgres } from "../../support/test-databases.ts";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import { openDesk, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

const SHA256 = "ab".repeat(32);
const PATH = "allowed/corpus/bill.png";
const OCR = {
  ...{ languages: ["eng"], second: "fast" as const, models_directory: null },
  ...{ page_timeout_s: 60, memory_mb: 600, confirm: null },
};

const word = (text: string, left: number, more: object = {}): object => ({
  ...{ text, box: [left, 50, left + 90, 80], confidence: 91 },
  ...more,
});
const SPLIT = { figure: "doubtful", other: "1,250.40", place: [400, 50, 590, 80] };
/** "1," and "250.40" are one figure of the second reader. */
const RECORD = {
  picture: { format: "png", width: 1_000, height: 500 },
  ...{ turned: 0, skew: 0, engine: "e", languages: ["eng"], mode: 3, leftInk: 0, confidence: 90 },
  lines: [
    {
      words: [
        word("Fee", 100),
        word("71.73", 200, { figure: "doubtful", other: "71.71", confidence: 66 }),
        word("1,", 400, { ...SPLIT, confidence: 70 }),
        word("250.40", 500, SPLIT),
        word("8", 700, { figure: "one", confidence: 81 }),
      ],
      cells: [2, 4],
    },
  ],
};

describeOnPostgres("nightdesk evidence choose", () => {
  let desk: Desk;
  let settings = "";
  const textOf = async (): Promise<string> => {
    const stored = (await openReadPages(OCR, desk.database).of(SHA256)).get(1);
    if (stored?.kind !== "read") throw new Error("not read");
    return pageLines(stored.record).join("\n");
  };
  const figures = async (...words: readonly string[]): Promise<Record<string, unknown>[]> => {
    const { stdout } = await desk.run("evidence", "doubts", "--json", ...words);
    return JSON.parse(stdout) as Record<string, unknown>[];
  };

  const insertPage = (record: object, key: string): Promise<unknown> =>
    desk.database.query(
      "insert into nightdesk_data.ocr_pages (sha256, page, settings, record, job_id) values ($1, 1, $2, $3, gen_random_uuid())",
      [SHA256, key, JSON.stringify(record)],
    );

  beforeAll(async () => {
    desk = await openDesk();
    ({ settings } = openReadPages(OCR, desk.database));
    await insertPage(RECORD, settings);
    await desk.database.query(
      `insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled,
              metadata_state, chunk_settings) values ('corpus', $1, $2, 9, 9, 1, 1, 1, 1, true, 'absent', 'x')`,
      [PATH, SHA256],
    );
  });
  afterAll(() => desk.dispose());

  test("lists each figure once with both readings, the least sure first", async () => {
    await expect(figures()).resolves.toMatchObject([
      { figure: "abababab.1.200.50", first_read: "71.73", second_read: "71.71", confidence: 66 },
      { first_read: "1, 250.40", second_read: "1,250.40", confidence: 70, path: PATH, page: 1 },
      { first_read: "8", second_read: null, confidence: 81, chosen: null },
    ]);
    await expect(textOf()).resolves.toBe("Fee 71.73⸮ | 1,⸮ 250.40⸮ | 8⸮");
  });

  test("is named by the reason of a statement, which a report lists before others", async () => {
    const answered = (customId: string, sha256: string) => ({
      customId,
      input: { kind: "ask" as const, question: `What of ${customId}?` },
      answer: `It is ${customId} [1].`,
      evidence: [{ path: PATH, lines: [1, 1] as const, sha256 }],
    });
    const jobs = await insertFinishedBatch(desk.database, {
      name: "evening",
      jobs: [answered("plain", "c".repeat(64)), answered("doubted", SHA256)],
    });
    await desk.database.query(
      `with claim as (
         insert into nightdesk_data.claims (run_id, draft, ordinal, text, cites, grade, fate, reason, stands, number, path,
                start_char, end_char, line_start, line_end, carrier, locator)
         select run_id, 0, 0, 'The fee is 71.73.', '{1}', 'unconfirmed', 'marked', 'reading', true, 1, $2, 0, 9, 1, 1, 'Fee 71.73⸮', '{"page": 1}'
           from nightdesk_data.jobs where job_id = $1 returning run_id)
       insert into nightdesk_data.claim_checks (run_id, draft, claim, ordinal, rule, verdict, detail)
       select run_id, 0, 0, 0, 'reading', 'unknown', '71.73 was not read for sure from the picture of its page.' from claim`,
      [jobs.get("doubted"), PATH],
    );
    const why = "The 3 of 71.73 was read with 66 %, and as 71.71 by the second reader.";
    const shown = await desk.run("runs", "show", jobs.get("doubted") ?? "");
    expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain(why);
    const folder = join(desk.workroot, "report");
    await desk.run("batch", "report", "evening", "--output", folder);
    const report = await readFile(join(folder, "evening.md"), "utf8");
    expect(report).toContain(why);
    expect(report.indexOf("It is doubted")).toBeLessThan(report.indexOf("It is plain"));
  });

  test("has its box in what is exported, with how each figure of the quote was read", async () => {
    await desk.database.query(
      "update nightdesk_data.runs set grade = 'unconfirmed' where run_id in (select run_id from nightdesk_data.claims)",
    );
    const file = join(desk.workroot, "evening.jsonl");
    await desk.run("batch", "export", "evening", "--output", file);
    const lines = (await readFile(file, "utf8")).trim().split("\n");
    const [plain, doubted] = lines.map((line) => JSON.parse(line) as { claims?: object[] });
    expect(plain?.claims ?? []).toEqual([]);
    expect(doubted?.claims).toMatchObject([
      {
        reason: "reading",
        picture: {
          ...{ page: 1, width: 1_000, height: 500, dpi: null, turned: 0, times: 1 },
          boxes: [[95.8, 45.8, 294.2, 84.2]],
          figures: [
            {
              ...{ text: "71.73", certainty: "doubtful", second: "71.71", confidence: 66 },
              box: [200, 50, 290, 80],
            },
          ],
        },
      },
    ]);
  });

  test("is looked for in runs that read a picture, and in no others", async () => {
    const { rows } = await desk.database.query(
      "select run_id, run_id in (select run_id from nightdesk_data.claims) as rests from nightdesk_data.runs",
    );
    const runs = rows as readonly { run_id: string; rests: boolean }[];
    const reading = runs.find(({ rests }) => rests)?.run_id ?? "";
    await expect(selectHasPictures(desk.database, reading)).resolves.toBe(true);
    await desk.database.query("update nightdesk_data.ocr_pages set sha256 = $1", ["c".repeat(64)]);
    await expect(selectHasPictures(desk.database, reading)).resolves.toBe(false);
    await desk.database.query("update nightdesk_data.ocr_pages set sha256 = $1", [SHA256]);
  });

  test("is named by the reason of a field, with how it was read", async () => {
    const extracted = (customId: string) => ({
      ...{ customId, input: { kind: "extract" as const, path: PATH } },
      ...{ output: { fee: 8 }, evidence: [{ path: PATH, lines: [1, 1] as const, sha256: SHA256 }] },
    });
    const jobs = await insertFinishedBatch(desk.database, {
      ...{ name: "bills", jobs: [extracted("alone")] },
    });
    await desk.database.query(
      `insert into nightdesk_data.field_bindings (run_id, ordinal, pointer, value, state, reason, grade, quote, number, path,
              start_char, end_char, line_start, line_end)
       select run_id, n - 1, pointer, value::jsonb, 'bound', 'reading', 'unconfirmed', 'Fee 71.73⸮ | 1,⸮ 250.40⸮ | 8⸮', 1, $2, 0, 9, 1, 1
         from nightdesk_data.jobs, unnest(array['/days', '/fee', '/rent'], array['8', '71.73', '"EUR 1250.4"']) with ordinality v (pointer, value, n)
        where job_id = $1`,
      [jobs.get("alone"), PATH],
    );
    const folder = join(desk.workroot, "bills.jsonl");
    await desk.run("batch", "export", "bills", "--output", folder);
    const line = JSON.parse(await readFile(folder, "utf8")) as { fields_in_doubt: object[] };
    expect(line.fields_in_doubt).toMatchObject([
      {
        pointer: "/days",
        doubt: { first: "8", certainty: "by_one", confidence: 81 },
        picture: {
          page: 1,
          figures: ["71.73", "1,", "250.40", "8"].map((text) => expect.objectContaining({ text })),
        },
      },
      { pointer: "/fee", doubt: { first: "71.73", second: "71.71", certainty: "doubtful" } },
      { pointer: "/rent", doubt: { first: "1, 250.40", second: "1,250.40" } },
    ]);
    const shown = await desk.run("runs", "show", jobs.get("alone") ?? "");
    expect(shown.stdout.replaceAll(/\s+/g, " ")).toContain(
      "from the picture of its page: 8 was read by one reader alone, with 81 %",
    );
  });

  test("puts what was chosen in place of all words of the figure, from then on", async () => {
    const chosen = await desk.run("evidence", "choose", "abababab.1.400.50", "--second");
    expect(chosen).toMatchObject({ code: 0, stderr: expect.stringContaining("1 file is indexed") });
    await desk.run("evidence", "choose", "abababab.1.200.50", "--as", "71.70");
    await desk.run("evidence", "choose", "abababab.1.200.50", "--first");
    await expect(textOf()).resolves.toBe("Fee 71.73 | 1,250.40 | 8⸮");
    await expect(figures()).resolves.toHaveLength(1);
    await expect(figures(PATH, "--all")).resolves.toMatchObject([
      { chosen: "71.73", chosen_by: expect.stringMatching(/./) },
      { chosen: "1,250.40" },
      { chosen: null },
    ]);
    await expect(
      rowsOf(
        desk.database,
        "select distinct kind, input->>'path' as path from nightdesk_data.jobs where kind not in ('ask', 'extract')",
      ),
    ).resolves.toEqual([{ kind: "ocr", path: PATH }]);
  });

  test("stores no choice whose files can't be queued", async () => {
    await desk.database.query(
      `create function pg_temp.full() returns trigger language plpgsql as $$ begin raise 'no room'; end $$`,
    );
    await desk.database.query(
      "create trigger full_jobs before insert on nightdesk_data.jobs execute function pg_temp.full()",
    );
    const choice = { figure: "abababab.1.700.50", reading: "first", by: "somebody" } as const;
    await expect(chooseReading(desk.database, choice)).rejects.toThrow("no room");
    await desk.database.query("drop trigger full_jobs on nightdesk_data.jobs");
    await expect(textOf()).resolves.toContain("8⸮");
  });

  test("keeps the choice of a page that is read anew, where its boxes differ a little", async () => {
    await desk.database.query("truncate nightdesk_data.ocr_pages");
    const moved = JSON.stringify(RECORD).replaceAll("[200,50,290,80]", "[203,48,288,81]");
    await insertPage(JSON.parse(moved) as object, settings);
    await expect(textOf()).resolves.toBe("Fee 71.73 | 1,250.40 | 8⸮");
    await expect(figures()).resolves.toMatchObject([{ first_read: "8" }]);
  });

  test.each([
    [["abababab.1.1.1", "--first"], 4, "There is no figure"],
    [["abababab.1.700.50", "--second"], 4, "the second model read something else"],
    [["abababab.1.700.50"], 2, "by one of --first, --second and --as"],
    [["abababab.1.700.50", "--first", "--as", "8"], 2, "by one of"],
    [["abababab.1.700.50", "--as", "8\n9"], 4, "in one line"],
    [["abababab.1.700.50", "--as", " "], 4, "1 to 100 characters"],
    [["abababab.1.700.50", "--as", "8⸮"], 4, "in one line"],
    [["' or true --", "--first"], 4, "There is no figure"],
  ])("refuses %j", async (words, code, message) => {
    const refused = await desk.run("evidence", "choose", ...words);
    expect(refused).toMatchObject({ code, stderr: expect.stringContaining(message) });
    await expect(textOf()).resolves.toContain("8⸮");
  });
});
