import { describe, expect, test } from "@jest/globals";
import { readIcs } from "../../../../src/worker/documents/formats/ics.ts";
import { readRtf } from "../../../../src/worker/documents/formats/rtf.ts";
import { readVcf } from "../../../../src/worker/documents/formats/vcf.ts";
import { readZip } from "../../../../src/worker/documents/formats/zip.ts";
import { extractTextBy } from "../../../../src/worker/documents/formats/registry.ts";
import type { Extraction, ReadInChild } from "../../../../src/worker/documents/extraction.ts";
import type { TextLimits } from "../../../../src/worker/documents/reader/text-builder.ts";
import { writeZip } from "../../../support/format-writers.ts";
import { READER_LIMITS } from "../../../support/read-documents.ts";
import { expectLinear } from "../../../support/time-taken.ts";
import { readWith, refusalOf } from "./read-format.ts";

test.each(["offer.pdf", "prices.xlsx", "card.vcf", "scan.png"])(
  "%s without a byte is told to be empty",
  async (name) => {
    const broken = { kind: "unreadable", code: "FILE_FORMAT_INVALID", why: "x" } as const;
    const extract = extractTextBy(async () => ({ ...broken, lasts: "always" }));
    expect(await extract(name, Buffer.from(""))).toMatchObject({ code: "FILE_EMPTY" });
    expect(await extract(name, Buffer.from("x"))).toMatchObject({ code: "FILE_FORMAT_INVALID" });
  },
);

describe("rich text", () => {
  test("has headings, lists, tables, notes and letters of several countries", async () => {
    const rtf =
      "{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset238 Arial;}{\\f2\\fcharset204 Arial;}}{\\colortbl;\\red0;}" +
      "{\\stylesheet{\\s0 Normal;}{\\s1\\outlinelevel0 Titel;}{\\s2 heading 2;}}{\\info{\\title Lease}{\\author Ada Roe}{\\company Ignored}}{\\header Page}\n" +
      "\\pard\\s1 Lease of the boat\\par\\pard\\s2 Rent\\par\\pard\\plain\\f0 The rent is 900 \\u8364?, gr\\'fc\\'dfe.\\f1 \\'b3\\'f3d\\'9f \\f2 \\'eb\\'ee\\'e4\\'ea\\'e0\\f0{\\footnote Without oil.}\\par" +
      "\\pard{\\listtext\\'b7\\tab}Rope\\par{\\listtext 2.\\tab}Paint\\par" +
      "\\trowd\\cellx1\\cellx2\\pard\\intbl Part\\cell Stock\\cell\\row\\pard\\intbl Bolt\\cell 12\\par 13\\cell\\row\\pard" +
      '{\\field{\\*\\fldinst HYPERLINK "http://x"}{\\fldrslt a link}}{\\v secret}{\\*\\generator Word}{\\pict 00ff}\\emdash  end\\{\\}\\par}';
    const read = await readWith(readRtf, rtf);
    expect(read.text).toBe(
      "# Lease of the boat\n\n## Rent\n\nThe rent is 900 €, grüße.łódź лодка[^1]\n\n- Rope\n- 2. Paint\n\n" +
        "| Part | Stock |\n| --- | --- |\n| Bolt | 12 13 |\n\na link— end{}\n\n[header]: Page\n\n[^1]: Without oil.\n\n",
    );
    expect(read).toMatchObject({
      metadata: { title: "Lease", author: "Ada Roe" },
      leftOut: { pictures: 1, "hidden words": 1 },
    });
  });

  test.each([
    [
      "a cell that goes over several columns leaves those behind it where they are",
      "\\trowd\\cellx900\\cellx1800\\cellx2700\\pard\\intbl Part\\cell Old\\cell New\\cell\\row\\trowd\\cellx900\\cellx1810\\cellx2700\\intbl Bolt\\cell 12\\cell 13\\cell\\row\\trowd\\cellx1800\\cellx2700\\intbl Sum\\cell 98\\cell\\row\\trowd\\cellx1300\\cellx2700\\intbl Other\\cell 7\\cell\\row\\pard\\par",
      "| Part | Old | New |\n| --- | --- | --- |\n| Bolt | 12 | 13 |\n| Sum |  | 98 |\n| Other | 7 |\n\n",
    ],
    [
      "a table in a header is no table",
      "{\\header\\pard\\intbl Logo\\cell 7\\cell\\row\\pard}\\pard Dear Ada\\par",
      "Dear Ada\n\n[header]: Logo 7\n\n",
    ],
    [
      "what stands above and below each page, on the first one too, is a note",
      "{\\headerf First 1}{\\footerr Excl. VAT}\\pard Dear Ada\\par",
      "Dear Ada\n\n[header]: First 1\n\n[footer]: Excl. VAT\n\n",
    ],
    [
      "digits above and below the line are no part of the figure before them",
      "\\pard 10{\\super 3} kg, CO{\\sub 2}, 1,250\\super 1\\nosupersub  net \\super 2\\plain 7\\par",
      "10³ kg, CO₂, 1,250¹ net ²7\n\n",
    ],
    [
      "a sign above or below the line is so without its digits",
      "\\pard 10{\\super \\u8722?3}, Na{\\super +}, notes{\\super 1\\endash 3}, 5 \\u8722?3\\par",
      "10⁻³, Na⁺, notes¹–³, 5 −3\n\n",
    ],
    [
      "notes and comments are read though a star says that older programs leave them out",
      "\\pard Fee{\\*\\footnote Plus VAT}{\\*\\atnid A}{\\*\\annotation Check 62} due\\par",
      "Fee[^1][comment 1] due\n\n[^1]: Plus VAT\n\n[comment 1]: Check 62\n\n",
    ],
    [
      "a cell that goes over several rows is of each of them",
      "\\trowd\\clvmgf\\cellx1\\cellx2\\intbl North\\cell Alta\\cell\\row\\trowd\\clvmrg\\cellx1\\cellx2 \\cell Bod\\'f8\\cell\\row\\pard",
      "| North | Alta |\n| --- | --- |\n| North | Bodø |\n\n",
    ],
    [
      "a note leaves its heading a heading",
      "\\pard\\outlinelevel0 Rent{\\footnote\\pard\\plain\\outlinelevel2 {\\listtext a.\\tab}Without oil.}\\par",
      "# Rent[^1]\n\n[^1]: a. Without oil.\n\n",
    ],
    [
      "a heading has its number",
      "\\pard\\outlinelevel1{\\listtext\\pard\\plain 1.2\\tab}Rent\\par",
      "## 1.2 Rent\n\n",
    ],
    [
      "a list in a cell stays there",
      "\\trowd\\pard\\intbl{\\listtext\\pard\\'b7\\tab}Rope\\par{\\listtext\\pard\\'b7\\tab}Paint\\cell\\row\\pard Ada\\par",
      "| Rope Paint |\n| --- |\n\nAda\n\n",
    ],
    [
      "a mark that stands before the settings of its paragraph, as Word writes it, makes an item",
      "{\\listtext\\'b7\\tab}\\pard\\plain Rope\\par{\\listtext 2.\\tab}Paint\\par\\pard Ada\\par{\\listtext 1.2\\tab}\\pard\\outlinelevel1 Rent\\par",
      "- Rope\n- 2. Paint\n\nAda\n\n## 1.2 Rent\n\n",
    ],
    [
      "a level that no heading has makes none",
      "\\pard\\outlinelevel9 Dear\\par\\pard\\outlinelevel-5 Ada\\par",
      "Dear\n\nAda\n\n",
    ],
    ["a word that a program does not know is none", "\\constructor\\constructor1 Ada", "Ada\n\n"],
    [
      "a control word may have capital letters, as Word writes them",
      "{\\*\\mmathPr\\mmathFont34}\\trowd\\trftsWidth1\\clftsWidth3\\cellx1\\intbl Ada\\cell\\row\\pard",
      "| Ada |\n| --- |\n\n",
    ],
  ])("%s", async (_, rtf, text) => {
    expect(await readWith(readRtf, `{\\rtf1 ${rtf}}`)).toMatchObject({ text });
  });

  test("that was changed has what was put in, and counts what was taken out", async () => {
    const rtf = "{\\rtf1 Within {\\deleted 30 days}{\\revised 45 days}\\par}";
    expect(await readWith(readRtf, rtf)).toMatchObject({
      text: "Within 45 days\n\n",
      leftOut: { "deleted words": 1 },
    });
  });

  test("counts a picture that Word writes in two ways once", async () => {
    const rtf =
      "{\\rtf1 Ada{\\*\\shppict{\\pict{\\*\\picprop{\\sp{\\sn a}}}00ff}}{\\nonshppict{\\pict 00ff}}\\par}";
    expect(await readWith(readRtf, rtf)).toMatchObject({
      text: "Ada\n\n",
      leftOut: { pictures: 1 },
    });
  });

  test("of more rows than are read is refused", async () => {
    const row = "\\pard\\intbl a\\cell\\row";
    expect(await refusalOf(readRtf, `{\\rtf1 ${row.repeat(5)}}`, { entries: 4 })).toMatchObject({
      code: "FILE_TOO_LARGE",
      why: expect.stringContaining("max_entries"),
    });
  });

  test("that is none is refused", async () => {
    expect(await refusalOf(readRtf, "Dear Ada")).toMatchObject({ code: "FILE_FORMAT_INVALID" });
  });

  test.each(["{", "}", "\\'e9", "{\\b a}", "\\u8364?", "a\\par\n"])(
    "of %j alone takes time in proportion",
    async (part) => {
      await expectLinear(100_000, (chars) => {
        const bytes = Buffer.from(`{\\rtf1 ${part.repeat(chars / part.length)}`);
        return () => void readWith(readRtf, bytes).catch(() => undefined);
      });
    },
  );
});

describe("calendars", () => {
  test("have the last of whole days and not the day after it, and letters that a line end parts", async () => {
    const event = (end: string): string =>
      `BEGIN:VEVENT\r\nSUMMARY:Leave\r\nDTSTART;VALUE=DATE:20260228\r\nDTEND;VALUE=DATE:${end}\r\nEND:VEVENT\r\n`;
    const [before, after] = ["LOCATION:B", "üro"].map((words) => Buffer.from(words));
    const parted = Buffer.concat([
      ...[Buffer.from("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n"), before ?? Buffer.alloc(0)],
      ...[after?.subarray(0, 1), Buffer.from("\r\n "), after?.subarray(1)].flatMap(
        (part) => part ?? [],
      ),
      Buffer.from(`\r\nEND:VEVENT\r\n${event("20260302")}${event("20260228")}END:VCALENDAR\r\n`),
    ]);
    const { text } = await readWith(readIcs, parted);
    expect(text).toContain("Location: Büro\n");
    expect(text).toContain("Start: 2026-02-28\nEnd: 2026-03-01\n");
    expect(text).toContain("Start: 2026-02-28\nEnd: 2026-02-28\n");
  });

  test("have each appointment under its title, with lines that go on, days and persons", async () => {
    const ics = [
      ...[
        "BEGIN:VCALENDAR",
        "X-WR-CALNAME:Harbour",
        "BEGIN:VEVENT",
        "SUMMARY:Slip, booked\\, twice",
      ],
      ...[
        "DTSTART;TZID=Europe/Oslo:20260502T093000",
        "DTEND:20260502T113000Z",
        "RRULE:FREQ=WEEKLY;COUNT=4",
      ],
      ...[
        'ORGANIZER;CN="Roe, Ada":mailto:ada@example.org',
        'ATTENDEE;MEMBER="mailto:a@example.org","mailto:b@example.org";PARTSTAT=ACCEPTED;CN=Bo:mailto:bo@example.org',
      ],
      ...[
        "DESCRIPTION:Bring the r",
        " opes.\\nAnd paint.",
        "BEGIN:VALARM",
        "DESCRIPTION:no",
        "END:VALARM",
        "END:VEVENT",
      ],
      ...[
        "BEGIN:VTODO",
        "SUMMARY:Order oil",
        "DUE;VALUE=DATE:20260601",
        "END:VTODO",
        "END:VCALENDAR",
        "",
      ],
    ].join("\r\n");
    const read = await readWith(readIcs, ics);
    expect(read.text).toBe(
      "## Slip, booked, twice\n\nStart: 2026-05-02 09:30 (Europe/Oslo)\nEnd: 2026-05-02 11:30 UTC\nRepeats: FREQ=WEEKLY;COUNT=4\n" +
        "Organizer: Roe, Ada <ada@example.org>\nAttendees: Bo <bo@example.org> (accepted)\nDescription: Bring the ropes.\nAnd paint.\n\n" +
        "## Order oil\n\nDue: 2026-06-01\n\n",
    );
    expect(read.metadata).toEqual({ title: "Harbour", entries: 2 });
    expect(await refusalOf(readIcs, "Dear Ada")).toMatchObject({ code: "FILE_FORMAT_INVALID" });
  });
});

describe("cards of persons", () => {
  const linesOf = async (...lines: readonly string[]): Promise<string> =>
    (await readWith(readVcf, ["BEGIN:VCARD", ...lines, "END:VCARD", ""].join("\r\n"))).text;

  test("have what is known under their name, with kinds, labels of the owner and lines that go on", async () => {
    const read = await readWith(
      readVcf,
      [
        ...[
          "BEGIN:VCARD",
          "VERSION:3.0",
          "N:Falk;Ida;;Dr.;",
          "FN:Dr. Ida Falk",
          "ORG:Sennerei;Verkauf",
        ],
        ...[
          "TEL;type=CELL;type=VOICE;type=pref:+43 664 1",
          "item1.TEL:+43 5 2",
          "item1.X-ABLabel:_$!<Alm>!$_",
        ],
        ...[
          "EMAIL;type=INTERNET;type=WORK:ida@example.org",
          "item2.URL;type=pref:https\\://example.org",
        ],
        ...[
          "ADR;TYPE=HOME:;;Gasse 3\\, Hof;Lech;;6764;Austria",
          "BDAY;X-APPLE-OMIT-YEAR=1604:1604-03-05",
        ],
        ...[
          "NOTE:Pays in\\n",
          "  cash\\; never late",
          "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQ",
          " SkZJRg==",
          "END:VCARD",
        ],
        ...[
          "BEGIN:VCARD",
          "VERSION:4.0",
          "FN:",
          "ORG:Werft Adria",
          "BDAY:19870412",
          "END:VCARD",
          "",
        ],
      ].join("\r\n"),
    );
    expect(read.text).toBe(
      "## Dr. Ida Falk\n\nOrganization: Sennerei, Verkauf\nPhone (cell): +43 664 1\nPhone (Alm): +43 5 2\nE-mail (work): ida@example.org\n" +
        "Address (home): Gasse 3, Hof, Lech, 6764, Austria\nBirthday: --03-05\nURL: https://example.org\nNote: Pays in\n cash; never late\n\n" +
        "## Werft Adria\n\nOrganization: Werft Adria\nBirthday: 1987-04-12\n\n",
    );
    expect(read).toMatchObject({ metadata: { entries: 2 }, leftOut: { pictures: 1 } });
  });

  test("are read as old telephones write them", async () => {
    expect(
      await linesOf(
        ...["VERSION:2.1", "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B8rgensen;=C3=85se;;;"],
        ...[
          "TEL;CELL;PREF:+47 1",
          "TEL;HOME;FAX:+47 2",
          "ORG;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:B=E5t",
        ],
        ...["NOTE;ENCODING=QUOTED-PRINTABLE:owes=", " 40 kr=0D=0Auntil =", "May"],
        ...["PHOTO;ENCODING=BASE64;JPEG:/9j/4A=", " =", ""],
        ...["EMAIL;INTERNET:aase@example.org"],
      ),
    ).toBe(
      "## Åse Jørgensen\n\nOrganization: Båt\nPhone (cell): +47 1\nPhone (home, fax): +47 2\nE-mail: aase@example.org\n" +
        "Note: owes 40 kr\nuntil May\n\n",
    );
  });

  test("are told where there are none, and take no longer than their length", async () => {
    expect(await refusalOf(readVcf, "Dear Ada")).toMatchObject({ code: "FILE_FORMAT_INVALID" });
    for (const part of ["QUOTED-PRINTABLE", "a=\n", ";x", "item1.", "A;Q=\n", "\\;"]) {
      await expectLinear(20_000, (chars) => {
        const parts = part.repeat(chars / part.length);
        return () => void linesOf(`NOTE;QUOTED-PRINTABLE:${parts}`, parts).catch(() => undefined);
      });
    }
  });
});

type Read = (bytes: Buffer, limits: TextLimits) => Extraction | Promise<Extraction>;

const here: ReadInChild = async ({ home, name }, bytes) => {
  const exported = (await import(home)) as Readonly<Record<string, Read>>;
  const read = exported[name];
  if (read === undefined) throw new Error(name);
  return read(bytes, READER_LIMITS.text);
};

describe("archives", () => {
  const year = writeZip([
    { name: "2026/plan.md", content: "# Plan" },
    { name: "2026/prices.csv", content: "a,b\n1,2\n" },
    { name: "2026/", content: "" },
    { name: "old/deep/notes.txt", content: "root" },
    { name: "../../etc/passwd.txt", content: "root" },
    { name: ".git/config.txt", content: "x" },
    { name: "__MACOSX/2026/._plan.md", content: "x" },
    { name: "2026/~$plan.docx", content: "x" },
    { name: "photo.png", content: "x" },
    { name: "locked.txt", content: "x", isEncrypted: true },
  ]);

  test("list what they hold, and hand over what is read", async () => {
    const read = await readWith(readZip, year);
    expect(read.text).toBe(
      "# Files\n\n- 2026/plan.md (6 bytes): attachments/1/2026-plan.md\n- 2026/prices.csv (8 bytes): attachments/2/2026-prices.csv\n" +
        "- old/deep/notes.txt (4 bytes): attachments/3/old-deep-notes.txt\n- photo.png (1 bytes): attachments/4/photo.png\n- locked.txt (1 bytes): attachments/5/locked.txt\n",
    );
    expect(read.attachments?.map(({ name }) => name)).toEqual([
      "attachments/1/2026-plan.md",
      "attachments/2/2026-prices.csv",
      "attachments/3/old-deep-notes.txt",
    ]);
    expect(read.leftOut).toEqual({
      "hidden files": 4,
      "encrypted files": 1,
      "files of other formats": 1,
    });
  });

  test("hold no hidden files where their names begin in the folder itself", async () => {
    const read = await readWith(
      readZip,
      writeZip([{ name: "./notes/plan.md", content: "# Plan" }]),
    );
    expect(read.attachments?.map(({ name }) => name)).toEqual(["attachments/1/notes-plan.md"]);
    expect(read.leftOut).toBeUndefined();
  });

  test("hand over files of allowed endings alone", async () => {
    const read = await extractTextBy(here, { allowed: [".md", ".zip"] })("allowed/year.zip", year);
    expect(read).toMatchObject({
      attachments: [{ name: "attachments/1/2026-plan.md" }],
      leftOut: { "files that are not allowed": 2, "hidden files": 4 },
    });
  });

  test("in archives are read up to the second", async () => {
    const inner = writeZip([{ name: "a.md", content: "# A" }]);
    const extract = extractTextBy(here);
    expect(await extract("y.zip/attachments/1/x.zip", inner)).toMatchObject({ kind: "text" });
    expect(await extract("z.zip/attachments/1/y.zip/attachments/1/x.zip", inner)).toMatchObject({
      kind: "unreadable",
      code: "FILE_TOO_LARGE",
    });
  });

  test.each([
    ["unpack to more than 200 times their size", { content: Buffer.alloc(5_000_000, 32) }, {}],
    [
      "unpack to too much",
      { content: Buffer.alloc(2_000_000, "abc1") },
      { unpackedBytes: 1_000_000 },
    ],
    ["hold too many files", { content: "x" }, { entries: 0 }],
  ])("that %s are refused before they are unpacked", async (_, part, limits) => {
    const bomb = writeZip([{ name: "a.txt", ...part }]);
    expect(await refusalOf(readZip, bomb, limits)).toMatchObject({ code: "FILE_TOO_LARGE" });
  });

  test("of which one file is damaged give the others, and count it", async () => {
    const read = await readWith(
      readZip,
      writeZip([
        { name: "a.txt", content: Buffer.alloc(90_000, 32), size: 10 },
        { name: "b.txt", content: "whole" },
      ]),
    );
    expect(read.attachments?.map(({ name }) => name)).toEqual(["attachments/2/b.txt"]);
    expect(read.leftOut).toEqual({ "damaged files": 1 });
  });

  test("that lie, break off or have a password are refused", async () => {
    const lying = writeZip([{ name: "a.txt", content: Buffer.alloc(90_000, 32), size: 10 }]);
    expect(await refusalOf(readZip, lying)).toMatchObject({ code: "FILE_FORMAT_INVALID" });
    expect(await refusalOf(readZip, year.subarray(0, -30))).toMatchObject({
      code: "FILE_FORMAT_INVALID",
    });
    const locked = writeZip([{ name: "a.txt", content: "x", isEncrypted: true }]);
    expect(await refusalOf(readZip, locked)).toMatchObject({ code: "FILE_ENCRYPTED" });
  });
});

test.each([
  ["letter.doc", "save it as .docx"],
  ["Prices.XLS", ".xlsx"],
  ["talk.ppt", ".pptx"],
  ["offer.msg", "save it as .eml"],
  ["folder/~$letter.docx", "name the file itself"],
])("%s is refused with what to do", async (path, remedy) => {
  expect(await extractTextBy(here)(path, Buffer.from("x"))).toMatchObject({
    kind: "unreadable",
    code: "FILE_FORMAT_INVALID",
    why: expect.stringContaining(remedy),
    lasts: "always",
  });
});

test("a text of more characters than one may have is refused, by its bytes before it is decoded", async () => {
  const extract = extractTextBy(here, { mostChars: 10 });
  expect(await extract("a.md", Buffer.from("ä".repeat(10)))).toMatchObject({ kind: "text" });
  for (const text of ["ä".repeat(11), "a".repeat(31)]) {
    expect(await extract("a.md", Buffer.from(text))).toMatchObject({
      code: "FILE_TOO_LARGE",
      why: expect.stringContaining("documents.reader.max_chars"),
    });
  }
});
