import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { hash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { insertFinishedBatch } from "../../support/finished-batch.ts";
import { put, writePages } from "../../support/pdf-pages.ts";
import { describeOnPostgres } from "../../support/test-databases.ts";
import { openDesk } from "../../producer/desk.ts";
import type { Desk } from "../../producer/desk.ts";

const WORDS = "Mooring fee 71,73 euros";
const PATH = "allowed/corpus/bills.pdf";
const bytes = writePages([{ content: put(50, 700, "Bills") }, { content: put(120, 600, WORDS) }]);

describeOnPostgres("nightdesk evidence show", () => {
  let desk: Desk;
  let job = "";
  beforeAll(async () => {
    desk = await openDesk();
    await desk.write(PATH, bytes);
    const sha256 = hash("sha256", bytes, "hex");
    const jobs = await insertFinishedBatch(desk.database, {
      name: "evening",
      jobs: [
        {
          customId: "fee",
          input: { kind: "ask", question: "What does mooring cost?" },
          answer: "71,73 euros [1].",
          evidence: [{ path: PATH, lines: [1, 3], sha256 }],
        },
      ],
    });
    job = jobs.get("fee") ?? "";
    await desk.database.query(
      `insert into nightdesk_data.claims (run_id, draft, ordinal, text, cites, grade, fate, reason, stands, number, path,
              start_char, end_char, line_start, line_end, carrier, locator)
       select run_id, 0, 0, 'Mooring costs 71,73 euros.', '{1}', 'supported', 'kept', 'confirmed', true, 1, $2,
              10, 33, 5, 5, $3, '{"page": 2}' from nightdesk_data.jobs where job_id = $1`,
      [job, PATH, WORDS],
    );
  });
  afterAll(() => desk.dispose());

  test("gives page, boxes in points and shares, words, path and hash", async () => {
    const { code, stdout } = await desk.run("evidence", "show", job, "--statement", "1", "--json");
    expect(code).toBe(0);
    const { statements } = JSON.parse(stdout) as { statements: [Record<string, unknown>] };
    expect(statements).toEqual([
      expect.objectContaining({
        ...{ number: 1, path: PATH, sha256: hash("sha256", bytes, "hex"), page: 2, quote: WORDS },
        ...{ line_start: 5, line_end: 5, share: 1, times: 1, grade: "supported" },
        picture: expect.objectContaining({ type: "image/png", width: 1_600, height: 2_264 }),
      }),
    ]);
    const [{ boxes }] = statements;
    const [{ box, shares }] = boxes as [{ box: number[]; shares: number[] }];
    expect(box.map((side) => Math.round(side / 5) * 5)).toEqual([120, 235, 230, 245]);
    expect(shares[0]).toBeCloseTo((box[0] ?? 0) / 595, 4);
    expect(await readdir(join(desk.workroot, ".nightdesk", "pages"))).toHaveLength(1);
  });

  test("writes a page that runs nothing, and replaces none", async () => {
    const out = join(desk.workroot, "fee.html");
    const shown = await desk.run("evidence", "show", job, "--output", out);
    expect(shown.stdout).toContain(`   ${PATH}, line 5, page 2\n   > ${WORDS}\nWritten: ${out}`);
    const again = await desk.run("evidence", "show", job, "--output", out);
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining("Give --force") });
    const page = await readFile(out, "utf8");
    expect(page).toContain(`alt="${WORDS}"`);
    expect(page).toContain("img-src data:; style-src");
    expect(page).not.toContain("<script");
    expect(await desk.run("evidence", "show", job, "--output", "fee.png")).toMatchObject({
      code: 2,
    });
  });

  test("names the statements that words carry", async () => {
    const { code, stderr } = await desk.run("evidence", "show", job, "--statement", "7");
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("these are: 1.") });
  });

  test("shows several statements of a file in their order, each with its own marks", async () => {
    await desk.database.query(
      `insert into nightdesk_data.claims (run_id, draft, ordinal, text, cites, grade, fate, reason, stands, number, path,
              start_char, end_char, line_start, line_end, carrier, locator)
       select run_id, 0, 1, 'They are bills.', '{1}', 'supported', 'kept', 'confirmed', true, 1, $2,
              0, 5, 1, 1, 'Bills', '{"page": 1}' from nightdesk_data.jobs where job_id = $1`,
      [job, PATH],
    );
    const { stdout } = await desk.run("evidence", "show", job, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      statements: [
        { number: 1, page: 2, share: 1 },
        { number: 2, page: 1, share: 1, quote: "Bills" },
      ],
    });
  });

  test("shows where another piece that a statement cites says it, by the lines of the index", async () => {
    await desk.database.query(
      `with document as (
         insert into nightdesk_data.documents (source, path, sha256, bytes, chars, mtime_ns, ctime_ns, inode, device, settled,
                metadata_state, chunk_settings) values ('corpus', $1, $2, 9, 9, 1, 1, 1, 1, true, 'absent', 'x') returning doc_id)
       insert into nightdesk_data.chunks (doc_id, chunk_key, ordinal, start_char, end_char, line_start, line_end, text, sha256, terms)
       select doc_id, $3, 0, 0, length($4), 1, 3, $4, $2, 2 from document`,
      [PATH, hash("sha256", bytes, "hex"), "c".repeat(32), "Bills\n\nof the harbour"],
    );
    const place = { number: 1, path: PATH, start_char: 0, end_char: 5, line_start: 1, line_end: 1 };
    await desk.database.query(
      "update nightdesk_data.claims set other_places = $1 where ordinal = 0",
      [JSON.stringify([{ ...place, locator: { page: 1 } }])],
    );
    const show = (...options: readonly string[]) =>
      desk.run("evidence", "show", job, "--json", ...options);
    const { stdout } = await show("--statement", "1", "--place", "1");
    expect(JSON.parse(stdout)).toMatchObject({
      statements: [{ number: 1, place: 1, page: 1, quote: "Bills", share: 1 }],
    });
    await expect(show("--place", "1")).resolves.toMatchObject({ code: 2 });
    await expect(show("--statement", "1", "--place", "2")).resolves.toMatchObject({
      ...{ code: 1, stdout: expect.stringContaining("has no place 2") },
    });
  });

  test.each([
    ["0", 2, "--place"],
    ["abc", 2, "--place"],
    ["99", 1, "has no place 99"],
  ])("refuses place %s", async (place, code, words) => {
    const { stdout, stderr, ...end } = await desk.run(
      ...["evidence", "show", job, "--statement", "1", "--place", place],
    );
    expect(end.code).toBe(code);
    expect(stdout + stderr).toContain(words);
  });

  test("shows the words alone of a file that has changed", async () => {
    await desk.write(PATH, Buffer.concat([bytes, Buffer.from("\n")]));
    const { code, stdout } = await desk.run("evidence", "show", job);
    expect(code).toBe(0);
    expect(stdout).toContain(`> ${WORDS}`);
    expect(stdout).toContain("has changed since it was read");
    const refused = await desk.run("evidence", "show", job, "--json");
    expect(JSON.parse(refused.stdout)).toMatchObject({
      statements: [
        { picture: null, error_code: "EVIDENCE_INVALID" },
        { picture: null, error_code: "EVIDENCE_INVALID" },
      ],
    });
  });
});
