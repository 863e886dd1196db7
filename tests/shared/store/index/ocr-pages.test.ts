import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  countUnreadFiles,
  rescanPath,
  rescanUnreadPictures,
  insertOcrPage,
  pruneOcrPages,
  selectOcrPages,
  selectFilesWithPictures,
} from "../../../../src/shared/store/index/ocr-pages.ts";
import { askJob, countOf, openBatchOf } from "../../../conformance/jobs.ts";
import { describeOnPostgres, openPostgres } from "../../../support/test-databases.ts";
import type { TestDatabase } from "../../../support/test-databases.ts";
import { storeDocument } from "./stored-document.ts";

const [FILE, OTHER] = ["a".repeat(64), "b".repeat(64)];
const [SETTINGS, LATER] = ["0123abcd", "4567cdef"];

describeOnPostgres("what is on record of pictures", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());

  const insert = (page: number, word: string, of = { sha256: FILE, settings: SETTINGS }) =>
    insertOcrPage(
      database.db,
      { ...of, jobId: randomUUID() },
      { page, record: { word }, unreadable: null },
    );
  const fail = (path: string, code: string, source = "corpus") =>
    database.db.query(
      `insert into nightdesk_data.document_failures (source, path, error_code, error_message, file, bytes, mtime_ns, ctime_ns,
              inode, settled, reader)
       values ($1, $2, $3, 'x', 'f', 1, 0, 0, 0, true, repeat('a', 32))`,
      [source, path, code],
    );

  test("is of a file and of the settings that it was read with, in order, and stays as it was first read", async () => {
    await insert(2, "second");
    await insert(1, "first");
    await insert(1, "again");
    await insert(1, "of others", { sha256: FILE, settings: LATER });
    await insert(1, "elsewhere", { sha256: OTHER, settings: SETTINGS });
    expect(await selectOcrPages(database.db, FILE, SETTINGS)).toEqual([
      { page: 1, record: { word: "first" }, unreadable: null },
      { page: 2, record: { word: "second" }, unreadable: null },
    ]);
  });

  test("goes 30 days after it was read, where no document is of that file", async () => {
    const age = (days: number) =>
      database.db.query(
        "update nightdesk_data.ocr_pages set read_at = now() - make_interval(days => $1)",
        [days],
      );
    const left = () => countOf(database.db, "nightdesk_data.ocr_pages");
    await storeDocument(database.db, { path: "moved.pdf", sha256: OTHER });
    await age(29);
    await pruneOcrPages(database.db);
    expect(await left()).toBe(4);
    await age(31);
    await pruneOcrPages(database.db);
    expect(await left()).toBe(1);
    expect(await selectOcrPages(database.db, OTHER, SETTINGS)).toHaveLength(1);
  });

  test("names the files whose pictures are to be read, but for those that a job is at", async () => {
    const { db } = database;
    const document = { sha256: FILE, extractor: `pdf 1 + ${SETTINGS}` };
    await storeDocument(db, {
      ...document,
      path: "b/mixed.pdf",
      leftOut: { "pages that are pictures": 1 },
    });
    await storeDocument(db, { ...document, path: "c/read.pdf" });
    await storeDocument(db, { ...document, path: "d/plain.md", extractor: "utf-8" });
    await fail("a/scan.pdf", "PAGES_UNREAD");
    await fail("e/broken.pdf", "FILE_FORMAT_INVALID");
    await fail("0/scan.pdf", "PAGES_UNREAD", "elsewhere");
    const pictured = (settings: string, source: string | null = "corpus") =>
      selectFilesWithPictures(db, { settings, readWith: " + ", source });
    expect(await pictured(SETTINGS)).toEqual(["a/scan.pdf", "b/mixed.pdf"]);
    expect(await pictured(LATER)).toEqual(["a/scan.pdf", "b/mixed.pdf", "c/read.pdf"]);
    expect(await pictured(SETTINGS, null)).toEqual(["0/scan.pdf", "a/scan.pdf", "b/mixed.pdf"]);
    expect(await countUnreadFiles(db, "corpus")).toBe(1);
    const { jobIds } = await openBatchOf(db, [
      askJob("page", { input: { kind: "ocr", path: "a/scan.pdf" } }),
    ]);
    expect(await pictured(SETTINGS)).toEqual(["b/mixed.pdf"]);
    await db.query(
      "update nightdesk_data.jobs set state = 'cancelled', error_code = 'CANCELLED', error_message = 'x', finished_at = now() where job_id = $1",
      [jobIds[0]],
    );
    expect(await pictured(SETTINGS)).toEqual(["a/scan.pdf", "b/mixed.pdf"]);
  });

  test("has a file read by the next scan, whether it had a text or none, or left out pictures that it holds", async () => {
    for (const path of ["a/scan.pdf", "c/read.pdf"]) await rescanPath(database.db, path);
    const unsettled = (table: string) =>
      countOf(database.db, `nightdesk_data.${table} where not settled`);
    expect([await unsettled("document_failures"), await unsettled("documents")]).toEqual([1, 1]);
    const leftOut = { "attached pictures": 2 };
    await storeDocument(database.db, { ...{ path: "f/sent.eml", sha256: FILE }, leftOut });
    await rescanUnreadPictures(database.db);
    expect(await unsettled("documents")).toBe(2);
  });
});
