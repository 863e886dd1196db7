import { deflateSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import { extractTextBy } from "../../src/worker/documents/formats/registry.ts";
import { openDocumentReader } from "../../src/worker/documents/reader/reader.ts";
import {
  paragraph,
  run,
  sheetXml,
  writeDocx,
  writeObjects,
  writeXlsx,
  writeZip,
} from "../support/format-writers.ts";
import { READER_LIMITS } from "../support/read-documents.ts";

// Each is made to hold up or end whoever reads it. The process that reads them is one for all, as in a worker.

const MEMORY = 500_000_000;
const extract = extractTextBy(
  openDocumentReader({ ...READER_LIMITS, timeoutMs: 60_000, memoryBytes: MEMORY }),
);

const zeros = (megabytes: number): Buffer => Buffer.alloc(megabytes * 1_000_000, 32);

const pdf = (contents: string, resources = ""): Buffer =>
  writeObjects(
    [
      "<< /Type /Catalog /Pages 2 0 R >>",
      "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << ${resources} >> >>`,
      contents,
      "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /F 5 0 R >> >> /Length 4 >>\nstream\n/F Do\nendstream",
    ],
    "",
  );

const stream = (bytes: Buffer): string =>
  `<< /Length ${bytes.length} /Filter /FlateDecode >>\nstream\n${bytes.toString("latin1")}\nendstream`;

const HOSTILE: readonly (readonly [string, string, () => Buffer, RegExp])[] = [
  [
    "an archive of 300 MB",
    "a.docx",
    () => writeZip([{ name: "word/document.xml", content: zeros(300) }]),
    /^FILE_TOO_LARGE$/,
  ],
  [
    "an archive that says less than it holds",
    "a.xlsx",
    () => writeZip([{ name: "xl/workbook.xml", content: zeros(50), size: 1_000 }]),
    /^FILE_FORMAT_INVALID$/,
  ],
  [
    "entities that grow",
    "b.docx",
    () =>
      writeZip([
        {
          name: "word/document.xml",
          content: `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">${"bcdefghij".replaceAll(/./g, (name, at: number) => `<!ENTITY ${name} "${`&${String.fromCharCode(97 + at)};`.repeat(10)}">`)}]><a>&j;</a>`,
        },
      ]),
    /^FILE_FORMAT_INVALID$/,
  ],
  [
    "a form that draws itself",
    "a.pdf",
    () => pdf("<< /Length 5 >>\nstream\n/F Do\nendstream", "/XObject << /F 5 0 R >>"),
    /^(NO_TEXT_LAYER|FILE_TOO_LARGE|FILE_FORMAT_INVALID)$/,
  ],
  [
    "a page that unpacks to 200 MB",
    "b.pdf",
    () => pdf(stream(deflateSync(zeros(200)))),
    /^(NO_TEXT_LAYER|FILE_TOO_LARGE|FILE_FORMAT_INVALID)$/,
  ],
  [
    "arrays in arrays",
    "c.pdf",
    () =>
      Buffer.from(`%PDF-1.4\n1 0 obj\n${"[".repeat(200_000)}\nendobj\ntrailer << /Root 1 0 R >>`),
    /^FILE_FORMAT_INVALID$/,
  ],
  [
    "parts in parts",
    "a.eml",
    () =>
      Buffer.from(
        `Subject: x\r\n${Array.from({ length: 10_000 }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\r\n\r\n--b${at}\r\n`).join("")}`,
      ),
    /^FILE_FORMAT_INVALID$/,
  ],
  [
    "elements in elements",
    "a.html",
    () => Buffer.from("<div>".repeat(100_000)),
    /^FILE_FORMAT_INVALID$/,
  ],
  [
    "a mark that is never closed",
    "a.csv",
    () => Buffer.from(`a,b\n"${"x,".repeat(500_000)}`),
    /^FILE_FORMAT_INVALID$/,
  ],
];

describe("a hostile file fails alone, with a code, within its limit", () => {
  test.each(HOSTILE)(
    "%s",
    async (_, path, write, code) => {
      const bytes = write();
      let longest = 0;
      let last = performance.now();
      const heart = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 20);
      const found = await extract(path, bytes);
      clearInterval(heart);
      expect(found).toMatchObject({ kind: "unreadable", code: expect.stringMatching(code) });
      // A lease is renewed every five seconds.
      expect(longest).toBeLessThan(2_500);
      const next = await extract("good.docx", writeDocx({ body: paragraph(run("still here")) }));
      expect(next).toMatchObject({ kind: "text", text: "still here\n\n" });
    },
    90_000,
  );

  test("a million cells are a table like any other", async () => {
    const rows = Array.from({ length: 100_000 }, (_, at) =>
      Array.from({ length: 10 }, (__, cell) => at + cell),
    );
    const sheet = sheetXml(rows);
    expect(sheet.length).toBeGreaterThan(10_000_000);
    const found = await extract("cells.xlsx", writeXlsx([{ name: "Cells", rows }]));
    expect(found.kind === "text" ? found.text.length : found.why).toBeGreaterThan(5_000_000);
  }, 90_000);
});
