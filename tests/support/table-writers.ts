import { writeZip } from "./format-writers.ts";

// Workbooks and tables as programs write them, of which a test knows each figure.

export type Value =
  | string
  | number
  | { readonly value: number; readonly format: string | number }
  | { readonly formula: string; readonly value: number };

export type SheetOfBook = {
  readonly name: string;
  readonly rows: readonly (readonly Value[])[];
  readonly state?: "hidden" | "veryHidden";
  readonly hiddenRows?: readonly number[];
  readonly hiddenColumns?: readonly number[];
  readonly merged?: readonly string[];
  readonly comments?: readonly { readonly ref: string; readonly text: string }[];
};

/** How a program writes a workbook: where strings stand, what parts are called, how they are found. */
export type BookDialect = {
  readonly strings: "shared" | "inline";
  readonly folder: string;
  readonly stringsPart: string;
  readonly target: "relative" | "absolute";
  /** Of elements. */
  readonly prefix: "" | "x:";
  readonly types: string;
  readonly references: "given" | "left out";
};

const TRANSITIONAL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const STRICT = "http://purl.oclc.org/ooxml/officeDocument/relationships";

export const BOOK_DIALECTS: Readonly<Record<string, BookDialect>> = {
  excel: {
    ...{ strings: "shared", folder: "xl", stringsPart: "sharedStrings.xml", target: "relative" },
    ...{ prefix: "", types: TRANSITIONAL, references: "given" },
  },
  "excel, strict": {
    ...{ strings: "shared", folder: "xl", stringsPart: "sharedStrings.xml", target: "relative" },
    ...{ prefix: "x:", types: STRICT, references: "given" },
  },
  libreoffice: {
    ...{ strings: "shared", folder: "xl", stringsPart: "sharedstrings.xml", target: "relative" },
    ...{ prefix: "", types: TRANSITIONAL, references: "given" },
  },
  google: {
    ...{ strings: "shared", folder: "xl", stringsPart: "Strings2.xml", target: "absolute" },
    ...{ prefix: "", types: TRANSITIONAL, references: "given" },
  },
  "a library": {
    ...{ strings: "inline", folder: "book", stringsPart: "none.xml", target: "relative" },
    ...{ prefix: "", types: TRANSITIONAL, references: "left out" },
  },
};

const escape = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

const columnName = (column: number): string => String.fromCharCode(65 + column);

export function writeBook(
  sheets: readonly SheetOfBook[],
  dialect: BookDialect,
  start: 1900 | 1904 = 1900,
): Buffer {
  const { strings, folder, stringsPart, target, prefix: p, types, references } = dialect;
  const shared: string[] = [];
  const formats: (string | number)[] = ["General"];
  const styleOf = (format: string | number): number => {
    if (!formats.includes(format)) formats.push(format);
    return formats.indexOf(format);
  };
  const cellOf = (cell: Value, ref: string): string => {
    const r = references === "given" ? ` r="${ref}"` : "";
    if (typeof cell === "string" && strings === "shared") {
      return `<${p}c${r} t="s"><${p}v>${shared.push(cell) - 1}</${p}v></${p}c>`;
    }
    if (typeof cell === "string") {
      return `<${p}c${r} t="inlineStr"><${p}is><${p}t>${escape(cell)}</${p}t></${p}is></${p}c>`;
    }
    if (typeof cell === "number") return `<${p}c${r}><${p}v>${cell}</${p}v></${p}c>`;
    const style = "format" in cell ? ` s="${styleOf(cell.format)}"` : "";
    const formula = "formula" in cell ? `<${p}f>${escape(cell.formula)}</${p}f>` : "";
    return `<${p}c${r}${style}>${formula}<${p}v>${cell.value}</${p}v></${p}c>`;
  };
  const sheetXml = ({
    rows,
    hiddenRows = [],
    hiddenColumns = [],
    merged = [],
  }: SheetOfBook): string =>
    `<${p}worksheet xmlns${p === "" ? "" : ":x"}="urn:sheet">` +
    (hiddenColumns.length === 0
      ? ""
      : `<${p}cols>${hiddenColumns.map((at) => `<${p}col min="${at + 1}" max="${at + 1}" hidden="1"/>`).join("")}</${p}cols>`) +
    `<${p}sheetData>${rows
      .map((cells, at) =>
        cells.length === 0
          ? ""
          : `<${p}row r="${at + 1}"${hiddenRows.includes(at + 1) ? ' hidden="1"' : ""}>${cells
              .map((cell, column) =>
                cell === "" && references === "given"
                  ? ""
                  : cellOf(cell, `${columnName(column)}${at + 1}`),
              )
              .join("")}</${p}row>`,
      )
      .join("")}</${p}sheetData>` +
    (merged.length === 0
      ? ""
      : `<${p}mergeCells>${merged.map((ref) => `<${p}mergeCell ref="${ref}"/>`).join("")}</${p}mergeCells>`) +
    `</${p}worksheet>`;
  const parts = sheets.map(sheetXml);
  const path = (name: string): string => (target === "absolute" ? `/${folder}/${name}` : name);
  const relation = (id: string, type: string, to: string): string =>
    `<Relationship Id="${id}" Type="${types}/${type}" Target="${to}"/>`;
  const relations = (inner: string): string =>
    `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${inner}</Relationships>`;
  return writeZip([
    {
      name: "_rels/.rels",
      content: relations(relation("r0", "officeDocument", `${folder}/workbook.xml`)),
    },
    {
      name: `${folder}/workbook.xml`,
      content:
        `<${p}workbook xmlns${p === "" ? "" : ":x"}="urn:sheet" xmlns:r="${types}"><${p}workbookPr${start === 1904 ? ' date1904="1"' : ""}/><${p}sheets>` +
        sheets
          .map(
            ({ name, state }, at) =>
              `<${p}sheet name="${escape(name)}" sheetId="${at + 1}"${state === undefined ? "" : ` state="${state}"`} r:id="r${at + 1}"/>`,
          )
          .join("") +
        `</${p}sheets></${p}workbook>`,
    },
    {
      name: `${folder}/_rels/workbook.xml.rels`,
      content: relations(
        sheets
          .map((_, at) => relation(`r${at + 1}`, "worksheet", path(`sheets/${at + 1}.xml`)))
          .join("") +
          relation("rs", "styles", path("styles.xml")) +
          relation("rt", "sharedStrings", path(stringsPart)),
      ),
    },
    {
      name: `${folder}/styles.xml`,
      content:
        `<${p}styleSheet xmlns${p === "" ? "" : ":x"}="urn:sheet"><${p}numFmts>` +
        formats
          .map((format, at) =>
            typeof format === "string"
              ? `<${p}numFmt numFmtId="${200 + at}" formatCode="${escape(format)}"/>`
              : "",
          )
          .join("") +
        `</${p}numFmts><${p}cellXfs>${formats
          .map(
            (format, at) =>
              `<${p}xf numFmtId="${typeof format === "number" ? format : 200 + at}"/>`,
          )
          .join("")}</${p}cellXfs></${p}styleSheet>`,
    },
    ...parts.map((content, at) => ({ name: `${folder}/sheets/${at + 1}.xml`, content })),
    ...sheets.flatMap(({ comments = [] }, at) =>
      comments.length === 0
        ? []
        : [
            {
              name: `${folder}/sheets/_rels/${at + 1}.xml.rels`,
              content: relations(relation("c1", "comments", `../comments${at + 1}.xml`)),
            },
            {
              name: `${folder}/comments${at + 1}.xml`,
              content: `<comments><authors><author>Ada Roe</author></authors><commentList>${comments
                .map(
                  ({ ref, text }) =>
                    `<comment ref="${ref}" authorId="0"><text><r><t>${escape(text)}</t></r></text></comment>`,
                )
                .join("")}</commentList></comments>`,
            },
          ],
    ),
    ...(strings === "inline"
      ? []
      : [
          {
            name: `${folder}/${stringsPart}`,
            content: `<${p}sst xmlns${p === "" ? "" : ":x"}="urn:sheet">${shared.map((text) => `<${p}si><${p}t>${escape(text)}</${p}t></${p}si>`).join("")}</${p}sst>`,
          },
        ]),
  ]);
}

/** How a program writes a table as text. */
export type TextDialect = {
  readonly delimiter: string;
  readonly quotes: "all" | "needed";
  readonly end: "\r\n" | "\n" | "\r";
  readonly encoding: "utf8" | "latin1" | "utf16le" | "utf8 with mark";
  readonly decimal: "," | ".";
  readonly sep?: true;
  /** Cells that nothing is in, at the end of each row. */
  readonly trailing?: number;
};

export const TEXT_DIALECTS: Readonly<Record<string, TextDialect>> = {
  "Excel in Germany": {
    ...{ delimiter: ";", quotes: "needed", end: "\r\n", encoding: "latin1", decimal: "," },
  },
  "Excel with its separator": {
    ...{ delimiter: ";", quotes: "needed", end: "\r\n", encoding: "utf8 with mark", decimal: "," },
    sep: true,
  },
  LibreOffice: { delimiter: ",", quotes: "needed", end: "\n", encoding: "utf8", decimal: "." },
  "a bank": {
    ...{
      delimiter: ";",
      quotes: "all",
      end: "\r\n",
      encoding: "latin1",
      decimal: ",",
      trailing: 1,
    },
  },
  SAP: { delimiter: "\t", quotes: "needed", end: "\r\n", encoding: "utf16le", decimal: "," },
};

export function writeTable(
  rows: readonly (readonly (string | number)[])[],
  { delimiter, quotes, end, encoding, decimal, sep, trailing = 0 }: TextDialect,
): Buffer {
  const text = rows
    .map((row) =>
      [
        ...row.map((cell) => {
          const words = cellText(cell, decimal);
          const isQuoted = quotes === "all" || /["\r\n]/.test(words) || words.includes(delimiter);
          return isQuoted ? `"${words.replaceAll('"', '""')}"` : words;
        }),
        ...Array<string>(row.length === 0 ? 0 : trailing).fill(""),
      ].join(delimiter),
    )
    .join(end);
  const whole = `${sep === true ? `sep=${delimiter}${end}` : ""}${text}${end}`;
  switch (encoding) {
    case "utf8":
      return Buffer.from(whole);
    case "utf8 with mark":
      return Buffer.from(`\uFEFF${whole}`);
    case "latin1":
      return Buffer.from(whole, "latin1");
    case "utf16le":
      return Buffer.from(`\uFEFF${whole}`, "utf16le");
  }
}

/** A number with two decimals as people of the country write it. */
export const cellText = (cell: string | number, decimal: "," | "."): string =>
  typeof cell === "string" ? cell : cell.toFixed(2).replace(".", decimal);
