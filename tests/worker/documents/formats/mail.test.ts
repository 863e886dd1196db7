import { describe, expect, test } from "@jest/globals";
import { datesOf } from "../../../../src/worker/documents/document-date.ts";
import { readEml, readMbox } from "../../../../src/worker/documents/formats/mail.ts";
import { extractTextBy } from "../../../../src/worker/documents/formats/registry.ts";
import { parseMailHeader } from "../../../../src/worker/text/mail-header.ts";
import { locate } from "../../../../src/worker/documents/places.ts";
import { writeMail, writeMailbox } from "../../../support/format-writers.ts";
import { readWith, refusalOf } from "./read-format.ts";

const MAIL = {
  from: "Ada <ada@example.org>",
  to: "Bo <bo@example.org>, Cy <cy@example.org>",
  date: "Tue, 3 Nov 2026 10:00:00 +0100",
  subject: "Größe der Räume",
  text: "Die Küche hat 12 m².\n\nAm 2. November 2026 schrieb Bo:\n> Wie groß ist die Küche?\n\n-- \nAda\nHausverwaltung",
};

describe("a mail", () => {
  test("is its headers, its words, what it quotes and its signature, each told apart", async () => {
    const read = await readWith(readEml, writeMail(MAIL));
    expect(read.text).toBe(
      "# Größe der Räume\n\nFrom: Ada <ada@example.org>\nTo: Bo <bo@example.org>, Cy <cy@example.org>\n" +
        "Date: 2026-11-03T10:00:00+01:00\n\nDie Küche hat 12 m².\n\n\n### Quoted\n\nAm 2. November 2026 schrieb Bo:\n" +
        "> Wie groß ist die Küche?\n\n\n### Signature\n\n-- \nAda\nHausverwaltung\n\n",
    );
    expect(read.metadata).toEqual({
      title: "Größe der Räume",
      from: "Ada <ada@example.org>",
      to: ["Bo <bo@example.org>", "Cy <cy@example.org>"],
      date: "2026-11-03T10:00:00+01:00",
    });
  });

  test.each([
    ["Fri, 1 May 2026 00:30:00 +0200", "2026-05-01T00:30:00+02:00", "2026-05-01"],
    ["Fri, 1 May 2026 21:30 -0330 (NDT)", "2026-05-01T21:30:00-03:30", "2026-05-01"],
    ["Fri, 01 May 2026 21:30:15 EDT", "2026-05-01T21:30:15-04:00", "2026-05-01"],
    ["Fri, 1 May 2026 23:30:00 GMT", "2026-05-01T23:30:00Z", "2026-05-01"],
    ["2026-05-01T00:30:00+02:00", "2026-05-01T00:30:00+02:00", "2026-05-01"],
    ["Fri, 1 May 2026 00:30", "2026-05-01T00:30:00", "2026-05-01"],
    ["1 May 2026 00:30:00 +9999", "2026-04-26T19:51:00.000Z", "2026-04-26"],
    ["some day", "some day", undefined],
  ])("of %s keeps the day and time of its sender", async (date, written, day) => {
    const { text, metadata } = await readWith(readEml, writeMail({ ...MAIL, date }));
    expect(text).toContain(`\nDate: ${written}\n`);
    expect(metadata).toMatchObject({ date: written });
    const dates = datesOf({ path: "a.eml", text, frontmatter: null, metadata, format: "eml" });
    expect(dates[0]?.date).toBe(day);
  });

  test("to a group without members names the group, as a member of its header", async () => {
    const { text } = await readWith(
      readEml,
      writeMail({ ...MAIL, to: "undisclosed-recipients:;" }),
    );
    expect(text).toContain("\nTo: undisclosed-recipients\nDate: ");
    expect(parseMailHeader(text.split("\n")).lines).toBe(6);
  });

  test("names its attachments, and hands them over as files", async () => {
    const old = writeMail({ ...MAIL, subject: "Older", text: "Before." });
    const read = await readWith(
      readEml,
      writeMail({
        ...MAIL,
        attachments: [
          { name: "rooms.csv", type: "text/csv", content: "Room,Area\nKitchen,12\n" },
          { name: "photo.jpg", type: "image/jpeg", content: "no text" },
          { name: "../lost plan.docx", type: "application/octet-stream", content: "no archive" },
          { name: "old.eml", type: "message/rfc822", content: old },
        ],
      }),
    );
    expect(read.text).toContain(
      "## Attachments\n\n- rooms.csv (text/csv, 21 bytes): attachments/1/rooms.csv\n" +
        "- photo.jpg (image/jpeg, 7 bytes): attachments/2/photo.jpg\n" +
        "- ../lost plan.docx (application/octet-stream, 10 bytes): attachments/3/lost-plan.docx\n",
    );
    expect(read.text).not.toContain("Kitchen");
    expect(read.text).not.toContain("Before.");
    expect(read.metadata).toMatchObject({
      attachments: ["rooms.csv", "photo.jpg", "../lost plan.docx", "old.eml"],
    });
    const held = (read.attachments ?? []).map(({ name, bytes, date }) => [
      name,
      Buffer.from(bytes).toString(),
      date,
    ]);
    const date = "2026-11-03T10:00:00+01:00";
    expect(held).toEqual([
      ["attachments/1/rooms.csv", "Room,Area\nKitchen,12\n", date],
      ["attachments/2/photo.jpg", "no text", date],
      ["attachments/3/lost-plan.docx", "no archive", date],
      ["attachments/4/old.eml", old.toString(), date],
    ]);
  });

  test("hands over no picture that stands among its words", async () => {
    const picture = (name: string, ...headers: readonly string[]) =>
      ["--a", `Content-Type: image/png; name=${name}`, ...headers, "", "pixels", ""].join("\r\n");
    const related = [
      ...[
        "--a",
        "Content-Type: multipart/related; boundary=b",
        "",
        "--b",
        "Content-Type: text/html",
        "",
      ],
      ...[
        "<p>Dear Bo <img src=cid:logo></p>",
        picture("logo.png", "Content-ID: <logo>").replace("--a", "--b"),
      ],
      ...["--b--", picture("receipt.png", "Content-Disposition: attachment"), "--a--", ""],
    ].join("\r\n");
    const head =
      "From: ada@example.org\r\nSubject: Receipt\r\nContent-Type: multipart/mixed; boundary=a";
    const read = await readWith(readEml, `${head}\r\n\r\n${related}`);
    expect(read.attachments?.map(({ name }) => name)).toEqual(["attachments/2/receipt.png"]);
    expect(read.text).toContain("attachments/1/logo.png");
    // What is done with it is a matter of index.ocr: without, it is counted.
    const extract = async (settings: Parameters<typeof extractTextBy>[1]) =>
      extractTextBy(async () => read, settings)("a.eml", Buffer.from(""));
    const pages = { settings: "eng", of: async () => new Map() };
    expect(await extract({})).toMatchObject({
      attachments: [],
      leftOut: { "attached pictures": 1 },
    });
    expect(await extract({ pages, allowed: [".png"] })).toMatchObject({
      attachments: [{ name: "attachments/2/receipt.png" }],
    });
    expect(await extract({ pages, allowed: [".eml"] })).toMatchObject({ attachments: [] });
  });

  test("of several parts that has lost its end says so, and one that is whole does not", async () => {
    const whole = writeMail({
      ...MAIL,
      attachments: [{ name: "rooms.csv", type: "text/csv", content: "Room,Area\nKitchen,12\n" }],
    });
    const cut = await readWith(readEml, whole.subarray(0, whole.lastIndexOf("--")));
    expect(cut.text).toContain("\n(The mail is truncated: its last part has no end.");
    expect(cut.metadata).toMatchObject({ truncated: true, attachments: ["rooms.csv"] });
    const read = await readWith(readEml, whole);
    expect(read.text).not.toContain("truncated");
    expect(read.metadata).not.toHaveProperty("truncated");
    const box = writeMailbox([whole.subarray(0, whole.length - 60), whole]);
    const { text, metadata } = await readWith(readMbox, box);
    expect(metadata).toMatchObject({ messages: 2, truncated_messages: 1 });
    expect(text.match(/truncated/g)).toHaveLength(1);
  });

  test("without any header, or with parts in parts without end, is refused", async () => {
    expect(await refusalOf(readEml, "just words\n")).toMatchObject({ code: "FILE_FORMAT_INVALID" });
    const part = (depth: number): string =>
      `Content-Type: multipart/mixed; boundary=b${depth}\r\n\r\n--b${depth}\r\n`;
    const deep = `Subject: deep\r\n${Array.from({ length: 5_000 }, (_, depth) => part(depth)).join("")}`;
    expect(await refusalOf(readEml, deep)).toMatchObject({ code: "FILE_FORMAT_INVALID" });
  });
});

describe("a mailbox", () => {
  test("is one mail after the other, each with its number", async () => {
    const box = writeMailbox([
      writeMail({ ...MAIL, subject: "One", text: "From here on it rains." }),
      writeMail({ ...MAIL, subject: "Two", text: "Second." }),
    ]);
    const read = await readWith(readMbox, box);
    expect(read.text.match(/^# .*$/gm)).toEqual(["# One", "# Two"]);
    expect(read.text).toContain("\nFrom here on it rains.\n");
    expect(locate(read.places, read.text.indexOf("Second."))).toEqual({ message: 2 });
    expect(read.metadata).toEqual({ messages: 2, date: "2026-11-03T10:00:00+01:00" });
    expect(read.attachments).toEqual([]);
    expect(await refusalOf(readMbox, "no mailbox")).toMatchObject({ code: "FILE_FORMAT_INVALID" });
  });

  test("has the date of its newest mail, whatever the zones", async () => {
    const sent = ["Fri, 1 May 2026 00:30:00 +0200", "Thu, 30 Apr 2026 23:00:00 -0400", "never"];
    const box = writeMailbox(sent.map((date) => writeMail({ ...MAIL, date })));
    const read = await readWith(readMbox, box);
    expect(read.metadata).toMatchObject({ date: "2026-04-30T23:00:00-04:00" });
  });

  test("has limits that count what each of its mails holds", async () => {
    const part = { name: "a.csv", type: "text/csv", content: "A\n1\n" };
    const one = writeMail({ ...MAIL, attachments: [part] });
    expect(
      (await readWith(readMbox, writeMailbox([one, one]), { entries: 1 })).metadata,
    ).toMatchObject({ messages: 2 });
    const two = writeMailbox([one, writeMail({ ...MAIL, attachments: [part, part] })]);
    expect(await refusalOf(readMbox, two, { entries: 1 })).toMatchObject({
      code: "FILE_TOO_LARGE",
      why: expect.stringContaining("parts of a mail"),
    });
  });

  test("has the attachments of each mail under its number", async () => {
    const attachments = [{ name: "rooms.csv", type: "text/csv", content: "Room\nKitchen\n" }];
    const box = writeMailbox([writeMail(MAIL), writeMail({ ...MAIL, attachments })]);
    const read = await readWith(readMbox, box);
    const name = "messages/2/attachments/1/rooms.csv";
    expect(read.attachments?.map((attachment) => attachment.name)).toEqual([name]);
    expect(locate(read.places, read.text.indexOf(name))).toEqual({ message: 2 });
  });
});
