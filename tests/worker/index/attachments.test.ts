import { hash } from "node:crypto";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import {
  MAIL_HEAD,
  paragraph,
  run,
  writeDocx,
  writeMail,
  writeMailbox,
  writePdf,
  writeZip,
} from "../../support/format-writers.ts";
import { openCorpus } from "../../support/test-corpus.ts";
import type { TestCorpus } from "../../support/test-corpus.ts";
import { ENGINES } from "../../support/test-databases.ts";
import type { TestDatabase } from "../../support/test-databases.ts";

type Mail = Parameters<typeof writeMail>[0];
type Part = NonNullable<Mail["attachments"]>[number];

const mail = (attachments: readonly Part[], head: Partial<Mail> = {}): Buffer =>
  writeMail({ ...MAIL_HEAD, ...head, attachments });

const csv = (name: string, content: string): Part => ({ name, type: "text/csv", content });
const PRICES = writePdf([
  [[50, 780, "Prices of the ferry"]],
  [[50, 780, "The harbour ticket costs 12 euros."]],
]);
const PLAN = writeDocx({ body: paragraph(run("The quay is rebuilt in April.")) });
/** Over what an archive may hold. */
const BOMB = writeZip([{ name: "word/document.xml", content: Buffer.alloc(201_000_000, 32) }]);
const FORWARDED = mail([csv("deep.csv", "Berth,Depth\nNorth,7 metres\n")], {
  subject: "Forwarded",
  date: "Mon, 5 Oct 2026 08:00:00 +0200",
});

const OFFER = mail([
  { name: "Price list.pdf", type: "application/pdf", content: PRICES },
  { name: "plan.docx", type: "application/octet-stream", content: PLAN },
  csv("rooms.csv", "Room,Area\nKitchen,12\n"),
  csv("rooms.csv", "Room,Area\nSaloon,80\n"),
  { name: "../../u\u202Ep.txt", type: "text/plain", content: "Lanterns burn at dusk." },
  { name: "photo.jpg", type: "image/jpeg", content: "no text" },
  { name: "forwarded.eml", type: "message/rfc822", content: FORWARDED },
  { name: "bomb.docx", type: "application/octet-stream", content: BOMB },
]);

const PATH = "notes/ops/offer.eml";
const NAMES = [
  "attachments/1/Price-list.pdf",
  "attachments/2/plan.docx",
  "attachments/3/rooms.csv",
  "attachments/4/rooms.csv",
  "attachments/5/up.txt",
  "attachments/7/forwarded.eml",
  "attachments/7/forwarded.eml/attachments/1/deep.csv",
];

describe.each(ENGINES)("attachments in the index on $engine", ({ open }) => {
  let database: TestDatabase;
  let corpus: TestCorpus;

  beforeAll(async () => {
    database = await open();
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await database.db.query("delete from nightdesk_data.documents");
    await database.db.query("delete from nightdesk_data.document_failures");
    corpus = await openCorpus(database.db, 300, 1_000_000);
  });
  afterEach(() => {
    corpus.close();
  });

  const select = async (sql: string) => (await database.db.query(sql)).rows;
  const paths = async (): Promise<unknown[]> =>
    (await select("select path from nightdesk.documents order by path")).map(
      (row) => (row as { path: string }).path,
    );
  const failures = () =>
    select("select path, error_code from nightdesk_data.document_failures order by path");
  /** As they are once files are at rest. */
  const settle = async (): Promise<void> => {
    await select("update nightdesk_data.documents set settled = true");
    await select(
      "update nightdesk_data.document_failures set settled = true where settled is not null",
    );
  };

  test("are documents below their mail, each with its bytes, its format and the date of its mail", async () => {
    corpus.write(PATH, OFFER);
    expect(await corpus.index()).toMatchObject({
      documents_seen: 9,
      added: 8,
      failed: 1,
      documents_total: 8,
    });
    expect(await paths()).toEqual([PATH, ...NAMES.map((name) => `${PATH}/${name}`)]);
    const rows = await select(
      `select path, mail, attachments, sha256, bytes::integer, extractor, day::text, day_source
         from nightdesk.documents where path ~ '(pdf|deep.csv|forwarded.eml|offer.eml)$' order by path`,
    );
    const held = (bytes: Buffer | string) => ({
      sha256: hash("sha256", bytes, "hex"),
      bytes: Buffer.byteLength(bytes),
      day_source: "mail_header",
    });
    expect(rows).toEqual([
      {
        ...held(OFFER),
        path: PATH,
        mail: null,
        attachments: 7,
        extractor: expect.stringMatching(/^eml \d+$/),
        day: "2026-11-03",
      },
      {
        ...held(PRICES),
        path: `${PATH}/attachments/1/Price-list.pdf`,
        mail: PATH,
        attachments: 0,
        extractor: expect.stringMatching(/^pdf /),
        day: "2026-11-03",
      },
      {
        ...held(FORWARDED),
        path: `${PATH}/attachments/7/forwarded.eml`,
        mail: PATH,
        attachments: 1,
        extractor: expect.stringMatching(/^eml \d+$/),
        day: "2026-10-05",
      },
      {
        ...held("Berth,Depth\nNorth,7 metres\n"),
        path: `${PATH}/attachments/7/forwarded.eml/attachments/1/deep.csv`,
        mail: PATH,
        attachments: 0,
        extractor: expect.stringMatching(/^csv /),
        day: "2026-10-05",
      },
    ]);
  });

  test("are found by what they say, with their page or row; the mail by their names", async () => {
    corpus.write(PATH, OFFER);
    await corpus.index();
    const [page] = await corpus.search({ text: "harbour ticket" });
    expect(page).toMatchObject({
      path: `${PATH}/attachments/1/Price-list.pdf`,
      locator: { page: 2 },
    });
    const [row] = await corpus.search({ text: "Saloon" });
    expect(row).toMatchObject({
      path: `${PATH}/attachments/4/rooms.csv`,
      locator: { row: 1, last_row: 2 },
    });
    const [named] = await corpus.search({ text: "photo.jpg" });
    expect(named).toMatchObject({ path: PATH });
    const below = await corpus.search({ text: "kitchen saloon", pathPrefix: `${PATH}/` });
    expect(below.map(({ path }) => path).sort()).toEqual([
      `${PATH}/attachments/3/rooms.csv`,
      `${PATH}/attachments/4/rooms.csv`,
    ]);
  });

  test("fail alone, each with a code, until their mail has them no more", async () => {
    corpus.write(PATH, OFFER);
    await corpus.index();
    const failing = [{ path: `${PATH}/attachments/8/bomb.docx`, error_code: "FILE_TOO_LARGE" }];
    expect(await failures()).toEqual(failing);
    await select("update nightdesk_data.documents set sha256 = repeat('0', 64) where mail is null");
    expect(await corpus.index()).toMatchObject({ changed: 1, unchanged: 7, failed: 1 });
    expect(await failures()).toEqual(failing);
    corpus.write(PATH, mail([csv("rooms.csv", "Room\nKitchen\n")]));
    expect(await corpus.index()).toMatchObject({ added: 1, changed: 1, removed: 7, failed: 0 });
    expect(await failures()).toEqual([]);
  });

  test("are not read again while their mail is as it was, and are when one of them is missing or of another extractor", async () => {
    const parts = [csv("rooms.csv", "Room\nKitchen\n"), csv("prices.csv", "Price\n12\n")];
    corpus.write(PATH, mail(parts));
    corpus.write("notes/ops/plain.md", "# Plain\n");
    await corpus.index();
    await settle();
    await select("update nightdesk_data.documents set sha256 = repeat('0', 64)");
    expect(await corpus.index()).toMatchObject({ documents_seen: 4, unchanged: 4, failed: 0 });
    expect(await corpus.index({ verify: true })).toMatchObject({
      changed: 4,
      silently_changed: 2,
      silently_changed_paths: [PATH, "notes/ops/plain.md"],
    });
    await settle();
    await database.db.query("delete from nightdesk_data.documents where path ~ 'rooms.csv$'");
    expect(await corpus.index()).toMatchObject({ added: 1, unchanged: 3 });
    await settle();
    await database.db.query(
      "update nightdesk_data.documents set extractor = 'csv 0' where path ~ 'prices.csv$'",
    );
    expect(await corpus.index()).toMatchObject({ changed: 1, unchanged: 3, documents_total: 4 });
  });

  test("go with their mail, and move with it", async () => {
    corpus.write(PATH, mail([csv("rooms.csv", "Room\nKitchen\n")]));
    corpus.write("notes/ops/plain.md", "# Plain\n");
    await corpus.index();
    renameSync(join(corpus.workroot, PATH), join(corpus.workroot, "notes/ops/moved.eml"));
    expect(await corpus.index()).toMatchObject({ added: 2, removed: 2 });
    expect(await paths()).toEqual([
      "notes/ops/moved.eml",
      "notes/ops/moved.eml/attachments/1/rooms.csv",
      "notes/ops/plain.md",
    ]);
    corpus.write("notes/ops/moved.eml", "no mail");
    expect(await corpus.index()).toMatchObject({ removed: 2, failed: 1 });
    corpus.remove("notes/ops/moved.eml");
    expect(await corpus.index()).toMatchObject({ removed: 0, failed: 0, documents_total: 1 });
  });

  test("of a mailbox lie below the number of their mail", async () => {
    const older = { subject: "Older", date: "Thu, 1 Oct 2026 10:00:00 +0100" };
    const parts = [csv("rooms.csv", "Room\nKitchen\n")];
    corpus.write("notes/ops/box.mbox", writeMailbox([mail(parts), mail(parts, older)]));
    await corpus.index();
    expect(
      await select(
        "select path, mail, day::text from nightdesk.documents where mail is not null order by path",
      ),
    ).toEqual([
      {
        path: "notes/ops/box.mbox/messages/1/attachments/1/rooms.csv",
        mail: "notes/ops/box.mbox",
        day: "2026-11-03",
      },
      {
        path: "notes/ops/box.mbox/messages/2/attachments/1/rooms.csv",
        mail: "notes/ops/box.mbox",
        day: "2026-10-01",
      },
    ]);
  });

  test("in mails in mails are read to the third, and what lies deeper is a failure", async () => {
    let content = mail([csv("deepest.csv", "Deep\n1\n")]);
    for (let level = 0; level < 4; level += 1) {
      content = mail([{ name: "m.eml", type: "message/rfc822", content }]);
    }
    corpus.write(PATH, content);
    await corpus.index();
    const deepest = `${PATH}${"/attachments/1/m.eml".repeat(4)}`;
    expect((await paths()).at(-1)).toBe(deepest);
    expect(await failures()).toEqual([
      { path: `${deepest}/attachments`, error_code: "FILE_TOO_LARGE" },
    ]);
    await settle();
    await select("update nightdesk_data.documents set sha256 = repeat('0', 64)");
    expect(await corpus.index()).toMatchObject({ unchanged: 5, failed: 1 });
  });
});
