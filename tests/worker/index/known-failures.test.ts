import { renameSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deflateSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { extractTextBy } from "../../../src/worker/documents/formats/registry.ts";
import { openDocumentReader } from "../../../src/worker/documents/reader/reader.ts";
import type { ExtractText } from "../../../src/worker/documents/extraction.ts";
import { MAIL_HEAD, writeMail, writeObjects } from "../../support/format-writers.ts";
import { extractText, READER_LIMITS } from "../../support/read-documents.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

const BROKEN_MAIL = "notes/ops/broken.eml";
const DAMAGED = "notes/ops/damaged.txt";
const OFFER = "notes/ops/offer.eml";
const BROKEN_PDF = `${OFFER}/attachments/2/broken.pdf`;

const rooms = { name: "rooms.csv", type: "text/csv", content: "Room,Area\nKitchen,12\n" };
const broken = { name: "broken.pdf", type: "application/pdf", content: "%PDF-1.7 and no more" };
type Attached = { readonly name: string; readonly type: string; readonly content: string | Buffer };
const mail = (...attachments: readonly Attached[]): Buffer =>
  writeMail({ ...MAIL_HEAD, attachments });

/** A reader that does this with each file that it is given. */
const hostileReader = (name: "crash" | "hold", limits = READER_LIMITS): ExtractText =>
  extractTextBy((_, bytes) => {
    const hostile = join(import.meta.dirname, "../documents/reader/hostile-readers.ts");
    return openDocumentReader(limits)({ home: pathToFileURL(hostile).href, name }, bytes);
  });
const DYING = hostileReader("crash");

/** 10 KB that unpack to a page of 5,000,000 operators, which take seconds. */
function slowPdf(): Buffer {
  const page = deflateSync(Buffer.from("q Q ".repeat(2_500_000)));
  return writeObjects([
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R >>",
    "<< /Title (slow) >>",
    `<< /Length ${page.length} /Filter /FlateDecode >>\nstream\n${page.toString("latin1")}\nendstream`,
  ]);
}

describe.each(ENGINES)("failures that are known from before, on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    await database.db.query("delete from nightdesk_data.document_failures");
    corpus = await openCorpus(database.db);
    corpus.write(BROKEN_MAIL, "no mail");
    corpus.write(DAMAGED, Buffer.from([0x61, 0x00, 0x62]));
    corpus.write(OFFER, mail(rooms, broken));
  });
  afterEach(() => {
    corpus.close();
  });

  /** As it is once files are at rest. */
  const settle = async (): Promise<void> => {
    await database.db.query("update nightdesk_data.documents set settled = true");
    await database.db.query(
      "update nightdesk_data.document_failures set settled = true where settled is not null",
    );
  };
  const indexAtRest = async () => {
    const summary = await corpus.index();
    await settle();
    corpus.takeReadings();
    return summary;
  };
  const failures = async () =>
    (
      await database.db.query(
        "select path, error_code, error_message, at from nightdesk.failures order by path",
      )
    ).rows;
  const codes = async () =>
    (await database.db.query("select path, error_code from nightdesk.failures order by path")).rows;

  const ALL = [BROKEN_MAIL, DAMAGED, OFFER, `${OFFER}/attachments/1/rooms.csv`, BROKEN_PDF];

  test("are told again, and their files are not read, nor is a mail of which a part failed", async () => {
    const first = await corpus.index();
    expect(corpus.takeReadings()).toEqual(ALL);
    expect(first).toMatchObject({ documents_seen: 5, added: 2, failed: 3, failed_before: 0 });
    const before = await failures();
    await settle();
    const second = await corpus.index();
    expect(corpus.takeReadings()).toEqual([]);
    expect(second).toMatchObject({
      documents_seen: 5,
      unchanged: 2,
      failed: 3,
      failed_before: 3,
      documents_total: 2,
    });
    expect(await failures()).toEqual(before);
    expect(await codes()).toEqual([
      { path: BROKEN_MAIL, error_code: "FILE_FORMAT_INVALID" },
      { path: DAMAGED, error_code: "FILE_READ_ERROR" },
      { path: BROKEN_PDF, error_code: "FILE_FORMAT_INVALID" },
    ]);
  });

  test("do not count while another write could have left the times as they are", async () => {
    await corpus.index();
    corpus.takeReadings();
    await database.db.query("update nightdesk_data.documents set settled = true");
    await database.db.query("update nightdesk_data.document_failures set settled = false");
    expect(await corpus.index()).toMatchObject({ failed: 3, failed_before: 0 });
    expect(corpus.takeReadings()).toEqual(ALL);
  });

  test("are read again where the file is another, and only that one", async () => {
    await indexAtRest();
    corpus.write(DAMAGED, "Whole again.");
    expect(await corpus.index()).toMatchObject({ added: 1, failed: 2, failed_before: 2 });
    expect(corpus.takeReadings()).toEqual([DAMAGED]);
    await settle();
    corpus.write(OFFER, mail(rooms));
    expect(await corpus.index()).toMatchObject({ changed: 1, failed: 1, failed_before: 1 });
    expect(corpus.takeReadings()).toEqual([OFFER, `${OFFER}/attachments/1/rooms.csv`]);
    await settle();
    renameSync(join(corpus.workroot, BROKEN_MAIL), join(corpus.workroot, "notes/ops/moved.eml"));
    expect(await corpus.index()).toMatchObject({ failed: 1, failed_before: 0 });
    expect(await codes()).toEqual([
      { path: "notes/ops/moved.eml", error_code: "FILE_FORMAT_INVALID" },
    ]);
  });

  test("are read again within other limits, and then known for those", async () => {
    await indexAtRest();
    const limits = { ...READER_LIMITS, text: { ...READER_LIMITS.text, pages: 9 } };
    expect(await corpus.indexWith({ limits })).toMatchObject({ failed: 3, failed_before: 0 });
    expect(corpus.takeReadings()).toEqual(ALL);
    await settle();
    expect(await corpus.indexWith({ limits })).toMatchObject({ failed: 3, failed_before: 3 });
    expect(corpus.takeReadings()).toEqual([]);
  });

  test.each([{ verify: true }, { rebuild: true }])("are read again by %j", async (options) => {
    await indexAtRest();
    expect(await corpus.index(options)).toMatchObject({ failed: 3, failed_before: 0 });
    expect(corpus.takeReadings()).toEqual(ALL);
  });

  test("are read again where a document of their mail is missing or of another extractor", async () => {
    await indexAtRest();
    await database.db.query("delete from nightdesk_data.documents where mail is not null");
    expect(await corpus.index()).toMatchObject({ added: 1, failed: 3, failed_before: 2 });
    expect(corpus.takeReadings()).toEqual(ALL.slice(2));
    await settle();
    await database.db.query(
      "update nightdesk_data.documents set extractor = 'csv 0' where mail is not null",
    );
    expect(await corpus.index()).toMatchObject({ changed: 1, failed: 3, failed_before: 2 });
  });

  test("that may pass are tried again each time: the process that read the file was ended", async () => {
    const dying = { extractText: DYING };
    expect(await corpus.indexWith(dying)).toMatchObject({ failed: 3, failed_before: 0 });
    await settle();
    corpus.takeReadings();
    const again = await corpus.indexWith(dying);
    // No process reads a plain text: that one lasts.
    expect(again).toMatchObject({ failed: 3, failed_before: 1 });
    expect(corpus.takeReadings()).toEqual([BROKEN_MAIL, OFFER]);
    expect(await corpus.index()).toMatchObject({ added: 2, failed: 3, failed_before: 1 });
  });

  const attempts = async () =>
    (await database.db.query("select path, attempts from nightdesk.failures order by path")).rows;

  test("of a limit of time last once three scans have met it, within these limits", async () => {
    for (const path of [BROKEN_MAIL, DAMAGED]) corpus.remove(path);
    const pdf = { name: "slow.pdf", type: "application/pdf", content: slowPdf() };
    corpus.write(OFFER, mail(rooms, pdf));
    const path = `${OFFER}/attachments/2/slow.pdf`;
    const within = (timeoutMs: number) => {
      const limits = { ...READER_LIMITS, timeoutMs };
      const tight = extractTextBy(openDocumentReader(limits));
      // What is no PDF has all the time that it needs on a busy machine.
      const readWithin: ExtractText = (name, bytes) =>
        (name.endsWith(".pdf") ? tight : extractText)(name, bytes);
      return { limits, extractText: readWithin };
    };
    const scan = async (timeoutMs = 500) => {
      const { failed, failed_before: before } = await corpus.indexWith(within(timeoutMs));
      await settle();
      return { failed, before, read: corpus.takeReadings().includes(path) };
    };
    const tried = { failed: 1, before: 0, read: true };
    for (let scans = 1; scans <= 3; scans += 1) {
      expect(await scan()).toEqual(tried);
      expect(await attempts()).toEqual([{ path, attempts: scans }]);
    }
    expect(await codes()).toEqual([{ path, error_code: "FILE_TOO_LARGE" }]);
    const known = { failed: 1, before: 1, read: false };
    expect([await scan(), await scan()]).toEqual([known, known]);
    expect(await attempts()).toEqual([{ path, attempts: 3 }]);

    expect(await scan(501)).toEqual(tried);
    expect(await attempts()).toEqual([{ path, attempts: 1 }]);
    corpus.write(OFFER, mail(pdf, rooms));
    expect(await scan(501)).toEqual({ ...tried, read: false });
    expect(await attempts()).toEqual([{ path: `${OFFER}/attachments/1/slow.pdf`, attempts: 1 }]);
    corpus.write(OFFER, mail(rooms));
    expect(await scan(501)).toEqual({ failed: 0, before: 0, read: false });
  }, 60_000);

  test("of a limit of memory as well, which are told with how often, and tried again by --verify", async () => {
    for (const path of [DAMAGED, OFFER]) corpus.remove(path);
    const limits = { ...READER_LIMITS, memoryBytes: 250_000_000 };
    const greedy = { limits, extractText: hostileReader("hold", limits) };
    const counts = [];
    for (let scans = 0; scans < 4; scans += 1) {
      const { failed, failed_before: before } = await corpus.indexWith(greedy);
      await settle();
      counts.push([failed, before]);
    }
    expect(counts).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 1],
    ]);
    expect(await codes()).toEqual([{ path: BROKEN_MAIL, error_code: "FILE_TOO_LARGE" }]);
    expect(await corpus.indexWith(greedy, { verify: true })).toMatchObject({ failed_before: 0 });
    await settle();
    expect(await attempts()).toEqual([{ path: BROKEN_MAIL, attempts: 4 }]);
    expect(await corpus.indexWith(greedy)).toMatchObject({ failed: 1, failed_before: 1 });
  }, 60_000);

  test("do not count tries while another write could have left the times as they are", async () => {
    const limits = { ...READER_LIMITS, memoryBytes: 250_000_000 };
    const greedy = { limits, extractText: hostileReader("hold", limits) };
    for (const path of [DAMAGED, OFFER]) corpus.remove(path);
    for (let scans = 0; scans < 2; scans += 1) {
      await corpus.indexWith(greedy);
      await database.db.query("update nightdesk_data.document_failures set settled = false");
    }
    expect(await attempts()).toEqual([{ path: BROKEN_MAIL, attempts: 1 }]);
  });

  test("of a mail that leaves attachments out are known with it, and read again within other limits", async () => {
    for (const path of [BROKEN_MAIL, DAMAGED]) corpus.remove(path);
    const limits = { ...READER_LIMITS, text: { ...READER_LIMITS.text, unpackedBytes: 25 } };
    const tight = { limits, extractText: extractTextBy(openDocumentReader(limits)) };
    corpus.write(OFFER, mail(rooms, { ...rooms, name: "more.csv" }));
    const leftOut = { path: `${OFFER}/attachments`, error_code: "FILE_TOO_LARGE" };
    expect(await corpus.indexWith(tight)).toMatchObject({ documents_seen: 3, failed: 1 });
    expect(await codes()).toEqual([leftOut]);
    await settle();
    corpus.takeReadings();
    const again = await corpus.indexWith(tight);
    expect(again).toMatchObject({ documents_seen: 3, unchanged: 2, failed: 1, failed_before: 1 });
    expect(corpus.takeReadings()).toEqual([]);
    expect(await corpus.index()).toMatchObject({ added: 1, failed: 0 });
  });
});
