import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { describeOn } from "../support/describe-on.ts";
import { root } from "../docs/read-doc.ts";
import { runBin, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";

const SCANS = ["letter-001.jpg", "three-pages.pdf", "receipt-008.jpg"];

/** A mail with a scan as its attachment. */
const mailWith = async (scan: string): Promise<string> =>
  [
    ...["From: ada@example.org", "Subject: The wine", "MIME-Version: 1.0"],
    ...["Content-Type: multipart/mixed; boundary=b", "", "--b", "", "See the letter."],
    ...["--b", "Content-Type: image/jpeg", "Content-Transfer-Encoding: base64"],
    ...["Content-Disposition: attachment; filename=letter.jpg", ""],
    ...[(await readFile(scan)).toString("base64"), "--b--", ""],
  ].join("\r\n");

describeOn("postgres", "a night over scans", (name) => {
  let topology: Topology;
  let db: Database;
  let worker: Running;
  const nightdesk = (...words: readonly string[]): Promise<Ended> =>
    runBin(words, { cwd: topology.workroot });
  const rowsOf = async (sql: string): Promise<Record<string, unknown>[]> =>
    (await db.query(sql)).rows as Record<string, unknown>[];
  const startWorker = (): Running => startBin(["worker"], { cwd: topology.workroot });

  beforeAll(async () => {
    topology = await startTopology(name, {
      security: {
        auto_create_allowed_roots: true,
        allowed_exts: [".md", ".pdf", ".jpg", ".png", ".eml"],
      },
      index: { ocr: { languages: ["eng", "fra"] } },
    });
    db = await topology.connect();
    const folder = join(topology.workroot, "allowed", "corpus");
    await mkdir(folder, { recursive: true });
    for (const scan of SCANS) {
      await copyFile(join(root, "tests/corpora/scans", scan), join(folder, scan));
    }
    await writeFile(join(folder, "broken.png"), "\x89PNG\r\n\x1a\nnothing");
    worker = startWorker();
  }, 120_000);
  afterAll(async () => {
    worker.kill("SIGTERM");
    await worker.ended;
    await db.end();
    await topology.dispose();
  });

  test("says what was not read, and how to have it read", async () => {
    const indexed = await nightdesk("index");
    expect(indexed).toMatchObject({ code: 3 });
    expect(indexed.stderr).toContain("3 files with pictures of pages that were not read.");
    expect(indexed.stderr).toContain("nightdesk index --ocr");
    expect(indexed.stderr).toContain("FILE_FORMAT_INVALID");
    await expect(
      rowsOf(
        "select path, error_code from nightdesk.failures where origin = 'document' order by path",
      ),
    ).resolves.toEqual([
      { path: "allowed/corpus/broken.png", error_code: "FILE_FORMAT_INVALID" },
      ...["letter-001.jpg", "receipt-008.jpg", "three-pages.pdf"].map((file) => ({
        path: `allowed/corpus/${file}`,
        error_code: "PAGES_UNREAD",
      })),
    ]);
  }, 120_000);

  test("reads each page once, though its worker is killed, and indexes what it read", async () => {
    const queued = startBin(["index", "--ocr", "--json"], { cwd: topology.workroot });
    await eventually(
      "a page is on record",
      async () => (await rowsOf("select from nightdesk_data.ocr_pages")).length > 0,
      120_000,
    );
    worker.kill("SIGKILL");
    await worker.ended;
    const before = await rowsOf(
      "select sha256, page, read_at from nightdesk_data.ocr_pages order by 1, 2",
    );
    worker = startWorker();
    expect(await queued.ended).toMatchObject({ code: 3 });
    const after = await rowsOf(
      "select sha256, page, read_at from nightdesk_data.ocr_pages order by 1, 2",
    );
    expect(after).toHaveLength(5);
    expect(after).toEqual(expect.arrayContaining(before));
    await expect(
      rowsOf(
        `select path, is_read, left_ink < 0.05 as is_whole, by_two > 3 * (by_one + doubtful) as is_sure
           from nightdesk.ocr_pages order by path, page`,
      ),
    ).resolves.toEqual(
      ["letter-001.jpg", "receipt-008.jpg", ...Array<string>(3).fill("three-pages.pdf")].map(
        (file) => ({
          path: `allowed/corpus/${file}`,
          is_read: true,
          is_whole: true,
          is_sure: true,
        }),
      ),
    );
    await expect(
      rowsOf("select path from nightdesk.documents where extractor like '%read with%' order by 1"),
    ).resolves.toHaveLength(3);
  }, 300_000);

  test("answers from them with the page, and leaves a figure unconfirmed that was not read for sure", async () => {
    const answered = await nightdesk(
      "ask",
      "What lay over the limit of the sulphite?",
      "--wait",
      "--json",
    );
    expect(answered).toMatchObject({ code: 0 });
    expect(answered.stdout).toContain("107 mg/l");
    await expect(
      rowsOf("select path, locator, grade from nightdesk.claims where claim like '%107 mg/l%'"),
    ).resolves.toEqual([
      { path: "allowed/corpus/letter-001.jpg", locator: { page: 1 }, grade: "supported" },
    ]);
    const doubted = await rowsOf(
      `select word->>'text' as text from nightdesk.ocr_pages, jsonb_path_query(record, '$.lines[*].words[*]') word
        where word->>'figure' = 'doubtful' and path like '%letter-001%'`,
    );
    expect(doubted.length).toBeGreaterThan(0);
    await nightdesk("ask", "How much sugar and acid was there?", "--wait", "--json");
    await expect(
      rowsOf("select distinct grade, reason from nightdesk.claims where claim like '%g/1%'"),
    ).resolves.toEqual([{ grade: "unconfirmed", reason: "reading" }]);
  }, 120_000);

  test("reads nothing twice, also of a file that was moved, or sent by mail", async () => {
    const folder = join(topology.workroot, "allowed", "corpus");
    await copyFile(join(folder, "letter-001.jpg"), join(folder, "copy.jpg"));
    await writeFile(join(folder, "sent.eml"), await mailWith(join(folder, "letter-001.jpg")));
    expect(await nightdesk("index", "--ocr")).toMatchObject({ code: 3 });
    await expect(rowsOf("select from nightdesk_data.ocr_pages")).resolves.toHaveLength(5);
    await expect(
      rowsOf(
        "select path from nightdesk.documents where path ~ '(copy.jpg|sent.eml.*)$' order by path",
      ),
    ).resolves.toEqual([
      { path: "allowed/corpus/copy.jpg" },
      { path: "allowed/corpus/sent.eml" },
      { path: "allowed/corpus/sent.eml/attachments/1/letter.jpg" },
    ]);
  }, 120_000);
});
