import { deflateSync } from "node:zlib";
import { writeObjects, writeZip } from "./format-writers.ts";
import { shape, writeOpenDocument } from "./package-writers.ts";

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

const ENTITIES = `<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa">${"bcdefghij".replaceAll(/./g, (name, at: number) => `<!ENTITY ${name} "${`&${String.fromCharCode(97 + at)};`.repeat(10)}">`)}]><a>&j;</a>`;

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const relation = (type: string, target: string): string =>
  `<Relationships><Relationship Id="r1" Type="${OFFICE}/${type}" Target="${target}"/></Relationships>`;

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
          content: ENTITIES,
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
  [
    "an archive of a thousand times its size",
    "a.zip",
    () => writeZip([{ name: "a.txt", content: zeros(20) }]),
    /^FILE_TOO_LARGE$/,
  ],
  [
    "an archive whose only file is longer than it says",
    "b.zip",
    () =>
      writeZip([
        { name: "../../a.txt/../b.md", content: "a" },
        { name: "c.txt", content: zeros(5), size: 90_000 },
      ]),
    /^FILE_FORMAT_INVALID$/,
  ],
  [
    "entities of a presentation that grow",
    "a.pptx",
    () => writeZip([{ name: "_rels/.rels", content: ENTITIES }]),
    /^FILE_FORMAT_INVALID$/,
  ],
  [
    "a slide that a presentation shows 10,000 times",
    "b.pptx",
    () =>
      writeZip([
        { name: "_rels/.rels", content: relation("officeDocument", "p.xml") },
        {
          name: "p.xml",
          content: `<p:presentation><p:sldIdLst>${'<p:sldId id="256" r:id="r1"/>'.repeat(10_000)}</p:sldIdLst></p:presentation>`,
        },
        { name: "_rels/p.xml.rels", content: relation("slide", "s.xml") },
        { name: "s.xml", content: `<p:sld>${shape("body", "x".repeat(100_000))}</p:sld>` },
      ]),
    /^FILE_TOO_LARGE$/,
  ],
  [
    "shapes in shapes",
    "a.odp",
    () => writeOpenDocument(`<office:presentation><draw:page>${"<draw:g>".repeat(200_000)}`),
    /^FILE_FORMAT_INVALID$/,
  ],
  [
    "a row and a cell that come a billion times",
    "a.ods",
    () =>
      writeOpenDocument(
        `<office:spreadsheet><table:table table:name="A"><table:table-row table:number-rows-repeated="1000000000"><table:table-cell table:number-columns-repeated="1000000000" office:value-type="string"><text:p>${"a".repeat(1_000)}</text:p></table:table-cell></table:table-row></table:table></office:spreadsheet>`,
      ),
    /^FILE_TOO_LARGE$/,
  ],
  [
    "a book whose package is its own container",
    "a.epub",
    () =>
      writeZip([
        {
          name: "META-INF/container.xml",
          content:
            '<container><rootfiles><rootfile full-path="META-INF/container.xml"/></rootfiles></container>',
        },
      ]),
    /^FILE_FORMAT_INVALID$/,
  ],
  [
    "a chapter that a book has 100,000 times",
    "b.epub",
    () =>
      writeZip([
        {
          name: "META-INF/container.xml",
          content: '<container><rootfiles><rootfile full-path="b.opf"/></rootfiles></container>',
        },
        {
          name: "b.opf",
          content: `<package><manifest><item id="c" href="c.xhtml"/></manifest><spine>${'<itemref idref="c"/>'.repeat(100_000)}</spine></package>`,
        },
        { name: "c.xhtml", content: `<html><body><p>${"x".repeat(1_100_000)}</p></body></html>` },
      ]),
    /^FILE_TOO_LARGE$/,
  ],
  [
    "rich text of more words than a document may have",
    "a.rtf",
    () => Buffer.from(`{\\rtf1 ${"x".repeat(11_000_000)}}`),
    /^FILE_TOO_LARGE$/,
  ],
  [
    "a calendar of 1.6 million lines",
    "a.ics",
    () => Buffer.from(`BEGIN:VCALENDAR\n${"X:\n".repeat(1_600_000)}`),
    /^FILE_TOO_LARGE$/,
  ],
];

export const HOSTILE_FILES: readonly HostileFile[] = FILES.map(([what, name, write, code]) => ({
  what,
  name,
  write,
  code,
}));
