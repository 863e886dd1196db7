import { hash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import {
  forgetDocuments,
  packText,
  removeUnnamedSlice,
  selectContent,
  selectForgettable,
  selectStoredFile,
  storeContents,
  sumContents,
} from "../../../../src/shared/store/index/contents.ts";
import { insertOcrPage } from "../../../../src/shared/store/index/ocr-pages.ts";
import { askJob, countOf, openBatchOf } from "../../../conformance/jobs.ts";
import { eventually } from "../../../conformance/signal.ts";
import { describeOnPostgres, openPostgres } from "../../../support/test-databases.ts";
import type { TestDatabase } from "../../../support/test-databases.ts";
import { storeDocument } from "./stored-document.ts";

function signal(): { readonly given: Promise<void>; readonly give: () => void } {
  let give = (): void => undefined;
  const given = new Promise<void>((resolve) => (give = resolve));
  return { given, give };
}

const [FILE, OTHER] = ["a".repeat(64), "b".repeat(64)];

describeOnPostgres("contents that are kept", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    for (const table of ["contents", "documents", "evidence", "ocr_pages", "ocr_choices"])
      await database.db.query(`truncate nightdesk_data.${table} cascade`);
  });

  const keep = (sha256: string, quota = 100, path = "x.pdf") =>
    database.db.transaction((db) =>
      storeContents(db, "corpus", {
        contents: [{ path, sha256, content: Buffer.from("12345"), extractor: null }],
        quota,
      }),
    );
  const ageAll = () =>
    database.db.query("update nightdesk_data.contents set used_at = now() - interval '1 hour'");
  const prune = async () =>
    (await removeUnnamedSlice(database.db, "", { limit: 10, graceSeconds: 600 })).contents;

  /** Whether a statement waits for the lock of another. */
  const isWaiting = async () => {
    const waiting =
      "pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
    return (await countOf(database.db, waiting)) > 0;
  };

  test("are pruned when no document and no evidence names them, after a while", async () => {
    await keep(FILE);
    expect(await prune()).toBe(0);
    await ageAll();
    await storeDocument(database.db, { path: "x.pdf", sha256: FILE });
    expect(await prune()).toBe(0);
    await database.db.query("delete from nightdesk_data.documents");
    await ageAll();
    expect(await prune()).toBe(1);
    expect(await sumContents(database.db)).toBe(0);
  });

  test("stay while a job goes on that began before they lost their document", async () => {
    await keep(FILE);
    const { jobIds } = await openBatchOf(database.db, [askJob("reads")]);
    const set = (values: string) =>
      database.db.query(`update nightdesk_data.jobs set ${values} where job_id = $1`, jobIds);
    await set("started_at = now() - interval '2 hours'");
    await ageAll();
    expect(await prune()).toBe(0);
    await set(
      "state = 'cancelled', error_code = 'CANCELLED', error_message = 'x', finished_at = now()",
    );
    expect(await prune()).toBe(1);
  });

  test("take together no more than the quota, also where two sources are indexed at once", async () => {
    for (const path of ["x.pdf", "y.pdf"])
      await storeDocument(database.db, { path, sha256: path === "x.pdf" ? FILE : OTHER });
    const [mayEnd, isStored] = [signal(), signal()];
    const first = database.db.transaction(async (db) => {
      const content = Buffer.from("12345");
      const contents = [{ path: "x.pdf", sha256: FILE, content, extractor: null }];
      await storeContents(db, "corpus", { contents, quota: 8 });
      isStored.give();
      await mayEnd.given;
    });
    await isStored.given;
    const second = keep(OTHER, 8, "y.pdf");
    await Promise.race([second, eventually("it waits for the first", isWaiting)]);
    mayEnd.give();
    await Promise.all([first, second]);
    expect(await sumContents(database.db)).toBe(5);
    expect(
      await countOf(database.db, "nightdesk_data.documents where is_over_quota and path = 'y.pdf'"),
    ).toBe(1);
  });

  test("of one call are each kept where there is room for them", async () => {
    const contents = [5, 5, 3].map((bytes, at) => ({
      ...{ path: `${at}.pdf`, sha256: String(at).repeat(64), extractor: null },
      content: Buffer.alloc(bytes),
    }));
    await database.db.transaction((db) => storeContents(db, "corpus", { contents, quota: 9 }));
    expect(await sumContents(database.db)).toBe(8);
  });

  test("give way as texts to one of another extractor, and to bytes, which stay", async () => {
    const sha256 = hash("sha256", "12345", "hex");
    await storeDocument(database.db, { path: "x.pdf", sha256 });
    const store = (content: Buffer, extractor: string | null) =>
      database.db.transaction((db) =>
        storeContents(db, "corpus", {
          contents: [{ path: "x.pdf", sha256, content, extractor }],
          quota: 1_000,
        }),
      );
    const storeText = (text: string, by: string) =>
      store(packText({ text, places: { numbers: [], sheets: [] }, leftOut: {} }), by);
    const kept = () => selectContent(database.db, sha256);
    await storeText("as one read it", "one");
    await storeText("as the same read it again", "one");
    expect(await kept()).toMatchObject({ text: "as one read it", extractor: "one" });
    await storeText("as two read it", "two");
    expect(await kept()).toMatchObject({ text: "as two read it", extractor: "two" });
    const file = () => selectStoredFile(database.db, "x.pdf", 1_000);
    expect(await file()).toMatchObject({ isTextKept: true, content: null });
    await store(Buffer.from("12345"), null);
    await storeText("as three read it", "three");
    expect(await kept()).toEqual(Buffer.from("12345"));
    expect(await file()).toMatchObject({ isTextKept: false, content: Buffer.from("12345") });
  });

  test("are given up to a size, and of the document that was indexed last", async () => {
    await keep(FILE);
    await keep(OTHER);
    await storeDocument(database.db, { path: "x.pdf", sha256: FILE, source: "one" });
    await storeDocument(database.db, { path: "x.pdf", sha256: OTHER, source: "two" });
    await database.db.query(
      "update nightdesk_data.documents set indexed_at = now() - interval '1 day' where source = 'two'",
    );
    const at = (most: number) => selectStoredFile(database.db, "x.pdf", most);
    expect(await at(5)).toMatchObject({ sha256: FILE, content: Buffer.from("12345") });
    expect(await at(4)).toMatchObject({ sha256: FILE, content: null });
    await database.db.query(
      "update nightdesk_data.documents set indexed_at = now() - interval '2 days' where source = 'one'",
    );
    expect(await at(5)).toMatchObject({ sha256: OTHER });
    // These are not the bytes of that hash.
    expect(await selectContent(database.db, FILE)).toBeNull();
  });

  test("are forgotten with all that was read of them, but for those that another document has", async () => {
    for (const sha256 of [FILE, OTHER]) {
      await keep(sha256);
      const of = { sha256, settings: "0123abcd", jobId: randomUUID() };
      await insertOcrPage(database.db, of, { page: 1, record: {}, unreadable: null });
      await database.db.query(
        `insert into nightdesk_data.ocr_choices (sha256, page, box, first_read, chosen, chosen_by)
         values ($1, 1, '[0, 0, 1, 1]', '7', '1', 'ada')`,
        [sha256],
      );
    }
    await storeDocument(database.db, { path: "x.pdf", sha256: FILE });
    await storeDocument(database.db, { path: "y.pdf", sha256: OTHER });
    await storeDocument(database.db, { path: "copy.pdf", sha256: OTHER });
    const forget = (path: string) =>
      database.db.transaction(async (db) =>
        forgetDocuments(db, path, await selectForgettable(db, path)),
      );
    const left = async () => {
      const tables = ["documents", "contents", "ocr_pages", "ocr_choices"];
      return Promise.all(tables.map((table) => countOf(database.db, `nightdesk_data.${table}`)));
    };
    expect(await forget("y.pdf")).toBe(0);
    expect(await left()).toEqual([2, 2, 2, 2]);
    expect(await forget("x.pdf")).toBe(1);
    expect(await left()).toEqual([1, 1, 1, 1]);
  });

  test("are forgotten of a mail with what lies in it, and of no other mail", async () => {
    const mails = ["a.eml", "a.eml.eml"];
    for (const mail of mails) {
      await storeDocument(database.db, { path: mail, sha256: FILE });
      const path = `${mail}/attachments/1/x.pdf`;
      await storeDocument(database.db, { path, sha256: OTHER, mail });
    }
    const found = await selectForgettable(database.db, "a.eml");
    expect(found.map(({ path }) => path)).toEqual(["a.eml", "a.eml/attachments/1/x.pdf"]);
  });
});
