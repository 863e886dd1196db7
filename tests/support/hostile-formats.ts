import { deflateSync } from "node:zlib";
import { writeObjects, writeZip } from "./format-writers.ts";

/** A file that is made to hold up or end whoever reads it. */
export type HostileFile = {
  readonly what: string;
  readonly name: string;
  readonly write: () => Buffer;
  /** Codes that it may be refused with. */
  readonly code: RegExp;
};

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

const FILES: readonly (readonly [string, string, () => Buffer, RegExp])[] = [
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

export const HOSTILE_FILES: readonly HostileFile[] = FILES.map(([what, name, write, code]) => ({
  what,
  name,
  write,
  code,
}));
