import { crc32, deflateRawSync } from "node:zlib";

// The smallest files of their formats that programs open: what examples and tests are written with.

export type ZipPart = {
  readonly name: string;
  readonly content: string | Buffer;
  /** What the directory says, where it is to say something else. */
  readonly size?: number;
  readonly isEncrypted?: boolean;
};

export function writeZip(parts: readonly ZipPart[]): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content, size, isEncrypted = false } of parts) {
    const bytes = Buffer.from(content);
    const data = deflateRawSync(bytes);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(isEncrypted ? 1 : 0, 2);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt16LE(0x21, 8);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(data.length, 14);
    facts.writeUInt32LE(size ?? bytes.length, 18);
    facts.writeUInt16LE(Buffer.byteLength(name), 22);
    const entry = Buffer.concat([Buffer.from("PK\u0003\u0004"), facts, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    central.push(
      Buffer.concat([Buffer.from("PK\u0001\u0002\u0014\u0000"), facts, rest, Buffer.from(name)]),
    );
    local.push(entry);
    offset += entry.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006");
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
export const escapeXml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

type Docx = {
  /** WordprocessingML of the body. */
  readonly body: string;
  readonly styles?: string;
  readonly footnotes?: string;
  readonly comments?: string;
  readonly title?: string;
  readonly created?: string;
};

export const run = (text: string): string =>
  `<w:r><w:t xml:space="preserve">${escapeXml(text)}</w:t></w:r>`;

export const paragraph = (content: string, style?: string): string =>
  `<w:p>${style === undefined ? "" : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}${content}</w:p>`;

export const wordTable = (rows: readonly (readonly string[])[]): string =>
  `<w:tbl>${rows
    .map(
      (row) => `<w:tr>${row.map((cell) => `<w:tc>${paragraph(run(cell))}</w:tc>`).join("")}</w:tr>`,
    )
    .join("")}</w:tbl>`;

/** Styles as Word of that language names them: the outline says which are headings. */
export const headingStyles = (name: string): string =>
  [1, 2]
    .map(
      (level) =>
        `<w:style w:type="paragraph" w:styleId="${name}${level}"><w:name w:val="${name} ${level}"/>` +
        `<w:pPr><w:outlineLvl w:val="${level - 1}"/></w:pPr></w:style>`,
    )
    .join("");

const properties = (title: string, created: string): ZipPart => ({
  name: "docProps/core.xml",
  content:
    `${XML}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" ` +
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">' +
    `<dc:title>${escapeXml(title)}</dc:title><dcterms:created>${created}</dcterms:created></cp:coreProperties>`,
});

const contentTypes = (main: string, type: string): ZipPart => ({
  name: "[Content_Types].xml",
  content:
    `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `<Default Extension="xml" ContentType="application/xml"/><Override PartName="/${main}" ContentType="${type}"/></Types>`,
});

const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

const relations = (name: string, targets: readonly (readonly [string, string])[]): ZipPart => ({
  name,
  content:
    `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
    targets
      .map(
        ([type, target], at) =>
          `<Relationship Id="r${at + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
      )
      .join("") +
    "</Relationships>",
});

export function writeDocx({
  body,
  styles,
  footnotes,
  comments,
  title = "",
  created = "2026-01-05T08:00:00Z",
}: Docx): Buffer {
  const inner = [
    ...(styles === undefined ? [] : [["styles", `<w:styles ${W}>${styles}</w:styles>`] as const]),
    ...(footnotes === undefined
      ? []
      : [["footnotes", `<w:footnotes ${W}>${footnotes}</w:footnotes>`] as const]),
    ...(comments === undefined
      ? []
      : [["comments", `<w:comments ${W}>${comments}</w:comments>`] as const]),
  ];
  return writeZip([
    contentTypes(
      "word/document.xml",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
    ),
    relations("_rels/.rels", [["officeDocument", "word/document.xml"]]),
    {
      name: "word/document.xml",
      content: `${XML}<w:document ${W}><w:body>${body}</w:body></w:document>`,
    },
    relations(
      "word/_rels/document.xml.rels",
      inner.map(([name]) => [name, `${name}.xml`] as const),
    ),
    ...inner.map(([name, xml]) => ({ name: `word/${name}.xml`, content: `${XML}${xml}` })),
    properties(title, created),
  ]);
}

export type SheetCell =
  | string
  | number
  | { readonly day: number }
  | { readonly formula: string; readonly result: number };

type SheetToWrite = {
  readonly name: string;
  readonly isHidden?: boolean;
  readonly rows: readonly (readonly SheetCell[])[];
};

const S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';

const cellXml = (cell: SheetCell, reference: string): string => {
  if (typeof cell === "number") return `<c r="${reference}"><v>${cell}</v></c>`;
  if (typeof cell === "string") {
    return cell === ""
      ? ""
      : `<c r="${reference}" t="inlineStr"><is><t>${escapeXml(cell)}</t></is></c>`;
  }
  return "day" in cell
    ? `<c r="${reference}" s="1"><v>${cell.day}</v></c>`
    : `<c r="${reference}"><f>${escapeXml(cell.formula)}</f><v>${cell.result}</v></c>`;
};

/** Of fewer than 27 columns. */
export const sheetXml = (rows: SheetToWrite["rows"]): string =>
  `${XML}<worksheet ${S}><sheetData>${rows
    .map(
      (cells, at) =>
        `<row r="${at + 1}">${cells
          .map((cell, column) => cellXml(cell, `${String.fromCharCode(65 + column)}${at + 1}`))
          .join("")}</row>`,
    )
    .join("")}</sheetData></worksheet>`;

export function writeXlsx(sheets: readonly SheetToWrite[], title = ""): Buffer {
  return writeZip([
    contentTypes(
      "xl/workbook.xml",
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
    ),
    relations("_rels/.rels", [["officeDocument", "xl/workbook.xml"]]),
    {
      name: "xl/workbook.xml",
      content:
        `${XML}<workbook ${S} xmlns:r="${OFFICE}"><sheets>` +
        sheets
          .map(
            ({ name, isHidden }, at) =>
              `<sheet name="${escapeXml(name)}" sheetId="${at + 1}"${isHidden === true ? ' state="hidden"' : ""} r:id="r${at + 1}"/>`,
          )
          .join("") +
        "</sheets></workbook>",
    },
    relations("xl/_rels/workbook.xml.rels", [
      ...sheets.map((_, at) => ["worksheet", `worksheets/sheet${at + 1}.xml`] as const),
      ["styles", "styles.xml"],
    ]),
    {
      name: "xl/styles.xml",
      content: `${XML}<styleSheet ${S}><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
    },
    ...sheets.map(({ rows }, at) => ({
      name: `xl/worksheets/sheet${at + 1}.xml`,
      content: sheetXml(rows),
    })),
    properties(title, "2026-01-05T08:00:00Z"),
  ]);
}

/** @param body of OpenDocument, below office:text */
export function writeOdt(body: string, title = "", manifest = ""): Buffer {
  const names =
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" ' +
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:dc="http://purl.org/dc/elements/1.1/"';
  return writeZip([
    { name: "mimetype", content: "application/vnd.oasis.opendocument.text" },
    {
      name: "META-INF/manifest.xml",
      content: `${XML}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">${manifest}</manifest:manifest>`,
    },
    {
      name: "content.xml",
      content: `${XML}<office:document-content ${names}><office:body><office:text>${body}</office:text></office:body></office:document-content>`,
    },
    {
      name: "meta.xml",
      content: `${XML}<office:document-meta ${names}><office:meta><dc:title>${escapeXml(title)}</dc:title></office:meta></office:document-meta>`,
    },
  ]);
}

/** A piece of text and where it begins, in points from the lower left of a page of 595 by 842. */
export type Drawn = readonly [x: number, y: number, text: string];

/** Latin letters alone: the font is one that every program has. */
export function writePdf(pages: readonly (readonly Drawn[])[], title = ""): Buffer {
  const objects: string[] = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${5 + at * 2} 0 R`).join(" ")}] >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    `<< /Title ${pdfText(title)} /CreationDate (D:20260105080000Z) >>`,
  ];
  for (const [at, drawn] of pages.entries()) {
    const stream = drawn
      .map(([x, y, text]) => `BT /F1 10 Tf ${x} ${y} Td ${pdfText(text)} Tj ET`)
      .join("\n");
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${6 + at * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    );
  }
  return writeObjects(objects);
}

/** The first is the catalogue, the fourth says what the file is. @param more entries of the trailer */
export function writeObjects(objects: readonly string[], more = "/Info 4 0 R"): Buffer {
  let file = "%PDF-1.4\n";
  const offsets = objects.map((object, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const size = objects.length + 1;
  file +=
    `xref\n0 ${size}\n0000000000 65535 f \n${table}` +
    `trailer\n<< /Size ${size} /Root 1 0 R ${more} >>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}

/** As WinAnsi spells it: octal for all that is no ASCII. */
const pdfText = (text: string): string =>
  `(${Array.from(text.replaceAll("€", "\u0080").replaceAll("–", "\u0096"), (character) => {
    if ("()\\".includes(character)) return `\\${character}`;
    const code = character.charCodeAt(0);
    return code < 128 ? character : `\\${code.toString(8)}`;
  }).join("")})`;

type MailPart = { readonly name: string; readonly type: string; readonly content: Buffer | string };
type Mail = {
  readonly from: string;
  readonly to: string;
  readonly date: string;
  readonly subject: string;
  readonly text: string;
  readonly attachments?: readonly MailPart[];
};

const wordOf = (text: string): string => `=?utf-8?B?${Buffer.from(text).toString("base64")}?=`;
const folded = (bytes: Buffer | string): string =>
  (
    Buffer.from(bytes)
      .toString("base64")
      .match(/.{1,76}/g) ?? []
  ).join("\r\n");

/** A mail of which only what is attached to it matters. */
export const MAIL_HEAD = {
  from: "Ada <ada@example.org>",
  to: "Bo <bo@example.org>",
  date: "Tue, 3 Nov 2026 10:00:00 +0100",
  subject: "Our offer",
  text: "The offer is attached.",
} as const satisfies Mail;

export function writeMail({ from, to, date, subject, text, attachments = [] }: Mail): Buffer {
  const headers = `From: ${from}\r\nTo: ${to}\r\nDate: ${date}\r\nSubject: ${wordOf(subject)}\r\nMIME-Version: 1.0\r\n`;
  const body = `Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 8bit\r\n\r\n${text.replaceAll("\n", "\r\n")}\r\n`;
  if (attachments.length === 0) return Buffer.from(headers + body);
  const parts = attachments.map(
    ({ name, type, content }) =>
      `--part\r\nContent-Type: ${type}; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\n` +
      `Content-Transfer-Encoding: base64\r\n\r\n${folded(content)}\r\n`,
  );
  return Buffer.from(
    `${headers}Content-Type: multipart/mixed; boundary=part\r\n\r\n--part\r\n${body}${parts.join("")}--part--\r\n`,
  );
}

export const writeMailbox = (mails: readonly Buffer[]): Buffer =>
  Buffer.concat(
    mails.flatMap((mail) => [
      Buffer.from("From sender@example.org Mon Jan  5 08:00:00 2026\n"),
      Buffer.from(
        mail
          .toString("latin1")
          .replaceAll("\r\n", "\n")
          .replaceAll(/^(>*From )/gm, ">$1"),
        "latin1",
      ),
      Buffer.from("\n"),
    ]),
  );
