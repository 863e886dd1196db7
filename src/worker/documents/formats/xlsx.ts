import { NO_FRONTMATTER } from "../frontmatter.ts";
import type { Block } from "../lines.ts";
import { openArchive } from "../reader/archive.ts";
import type { Archive } from "../reader/archive.ts";
import { inChild } from "../reader/reader.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextBuilder, TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { Format } from "./format.ts";
import type { Extraction } from "../extraction.ts";
import { readProperties } from "./office-properties.ts";
import { addRow, isHeader, rowBlocks } from "./table-rows.ts";

/** Workbooks: each sheet under its name, a line a row. */
export const XLSX: Format = {
  name: "xlsx",
  extensions: [".xlsx", ".xlsm"],
  extractor: inChild("xlsx 1", { home: import.meta.url, name: "readXlsx" }),
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (lines, firstLine) => ({
    kind: "blocks",
    blocks: rowBlocks(lines, firstLine).map((block): Block => {
      const line = lines.text.slice(lines.start(block.firstLine), lines.end(block.firstLine));
      return line.startsWith(SHEET_MARK)
        ? { ...block, heading: { level: 2, title: line.slice(SHEET_MARK.length) } }
        : block;
    }),
  }),
};

const SHEET_MARK = "## ";

export function readXlsx(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  const book = readWorkbook(archive);
  const builder = openTextBuilder(limits);
  const count = countEntries("rows", limits);
  for (const sheet of book.sheets) {
    const xml = archive.text(sheet.part);
    if (xml === undefined) continue;
    if (builder.length > 0) builder.add("\n");
    builder.place({ sheet: sheet.name, row: 1 });
    builder.add(`${SHEET_MARK}${sheet.name}${sheet.isHidden ? " (hidden)" : ""}\n`);
    addSheet(xml, { book, sheet, builder, count });
  }
  const hidden = book.sheets.filter(({ isHidden }) => isHidden).map(({ name }) => name);
  return builder.finish({
    ...readProperties(archive, "docProps/core.xml"),
    sheets: book.sheets.map(({ name }) => name),
    ...(hidden.length === 0 ? {} : { hidden_sheets: hidden }),
  });
}

type Sheet = { readonly name: string; readonly part: string; readonly isHidden: boolean };

type Workbook = {
  readonly sheets: readonly Sheet[];
  readonly strings: readonly string[];
  /** Whether numbers of a style are days, and their times. */
  readonly dateStyles: readonly DateStyle[];
  /** Milliseconds since 1970 of the day with the number 0. */
  readonly epoch: number;
};

const DAY_MS = 86_400_000;
/** With a day that never was, 29 February 1900, before all that is counted from here. */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);

function readWorkbook(archive: Archive): Workbook {
  const xml = archive.text("xl/workbook.xml");
  if (xml === undefined) {
    throw new NoText(
      "FILE_FORMAT_INVALID",
      "is no workbook: save it as .xlsx with the program that made it.",
    );
  }
  const targets = readTargets(archive.text("xl/_rels/workbook.xml.rels") ?? "<none/>");
  const sheets: Sheet[] = [];
  let epoch = EPOCH_1900;
  walkXml(xml, {
    open(name, { name: title = "", id = "", state, date1904 }) {
      if (name === "workbookPr" && (date1904 === "1" || date1904 === "true")) epoch = EPOCH_1904;
      if (name !== "sheet") return;
      sheets.push({
        name: title,
        part: targets.get(id) ?? "",
        isHidden: state !== undefined && state !== "visible",
      });
    },
  });
  return {
    sheets,
    epoch,
    strings: readStrings(archive.text("xl/sharedStrings.xml") ?? "<none/>"),
    dateStyles: readDateStyles(archive.text("xl/styles.xml") ?? "<none/>"),
  };
}

function readTargets(xml: string): Map<string, string> {
  const targets = new Map<string, string>();
  walkXml(xml, {
    open(name, { Id = "", Target = "" }) {
      if (name !== "Relationship") return;
      targets.set(Id, Target.startsWith("/") ? Target.slice(1) : `xl/${Target}`);
    },
  });
  return targets;
}

/** Texts that cells share. How a Japanese word is spoken is no part of it. */
function readStrings(xml: string): string[] {
  const strings: string[] = [];
  let inText = false;
  let spoken = 0;
  walkXml(xml, {
    open(name) {
      if (name === "si") strings.push("");
      if (name === "rPh") spoken += 1;
      inText = name === "t" && spoken === 0;
    },
    close(name) {
      if (name === "rPh") spoken -= 1;
      inText = false;
    },
    text(text) {
      if (inText) strings[strings.length - 1] = `${strings.at(-1) ?? ""}${text}`;
    },
  });
  return strings;
}

type DateStyle = "none" | "day" | "time" | "day and time";

/** Of the formats that every program knows by number. */
const KNOWN_DATES = new Map<number, DateStyle>([
  ...[14, 15, 16, 17].map((id) => [id, "day"] as const),
  ...[18, 19, 20, 21, 45, 46, 47].map((id) => [id, "time"] as const),
  [22, "day and time"],
]);

function readDateStyles(xml: string): DateStyle[] {
  const named = new Map(KNOWN_DATES);
  const styles: DateStyle[] = [];
  let inCells = false;
  walkXml(xml, {
    open(name, { numFmtId = "0", formatCode = "" }) {
      if (name === "numFmt") named.set(Number(numFmtId), dateStyleOf(formatCode));
      if (name === "cellXfs") inCells = true;
      if (name === "xf" && inCells) styles.push(named.get(Number(numFmtId)) ?? "none");
    },
    close(name) {
      if (name === "cellXfs") inCells = false;
    },
  });
  return styles;
}

function dateStyleOf(formatCode: string): DateStyle {
  const letters = formatCode.replaceAll(/"[^"]*"|\[[^\]]*\]|\\./g, "").toLowerCase();
  const [hasDay, hasTime] = [/[dy]/.test(letters), /[hs]/.test(letters)];
  if (hasDay) return hasTime ? "day and time" : "day";
  return hasTime ? "time" : "none";
}

type SheetWork = {
  readonly book: Workbook;
  readonly sheet: Sheet;
  readonly builder: TextBuilder;
  readonly count: () => void;
};

type Cell = { column: number; type: string; style: number; value: string; formula: string };

/** A first line of its own may stand above the names of the columns. */
const HEADER_WITHIN = 10;

function addSheet(xml: string, { book, sheet, builder, count }: SheetWork): void {
  let row = 0;
  let shown = 0;
  let cells: [number, string][] = [];
  let cell: Cell | undefined;
  let reading: "value" | "formula" | undefined;
  let header: ReadonlyMap<number, string> | null = null;
  const endRow = (): void => {
    if (cells.length === 0) return;
    builder.place({ sheet: sheet.name, row });
    addRow(builder, header, cells);
    shown += 1;
    if (header === null && shown <= HEADER_WITHIN && isHeader(cells.map(([, value]) => value))) {
      header = new Map(cells);
    }
  };
  walkXml(xml, {
    open(name, { r, t = "n", s = "0" }) {
      if (name === "row") {
        count();
        row = r === undefined ? row + 1 : Number(r);
        cells = [];
      } else if (name === "c") {
        const column = r === undefined ? (cells.at(-1)?.[0] ?? -1) + 1 : columnOf(r);
        cell = { column, type: t, style: Number(s), value: "", formula: "" };
      } else if (name === "v" || name === "t") reading = "value";
      else if (name === "f") reading = "formula";
    },
    text(text) {
      if (cell !== undefined && reading !== undefined) cell[reading] += text;
    },
    close(name) {
      if (name === "c" && cell !== undefined) {
        const value = valueOf(cell, book);
        if (value !== "") cells.push([cell.column, value]);
        cell = undefined;
      } else if (name === "row") endRow();
      reading = undefined;
    },
  });
}

/** `C7` is in column 2. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference.toUpperCase()) {
    const digit = letter.charCodeAt(0) - 64;
    if (digit < 1 || digit > 26) break;
    column = column * 26 + digit;
  }
  return column - 1;
}

/** The value as it is stored, a day as a day, and the formula that gave it. */
function valueOf(cell: Cell, { strings, dateStyles, epoch }: Workbook): string {
  const plain = plainValue(cell, strings, dateStyles[cell.style] ?? "none", epoch);
  return cell.formula === "" ? plain : `${plain} (=${cell.formula})`.trimStart();
}

function plainValue(
  { type, value }: Cell,
  strings: readonly string[],
  dates: DateStyle,
  epoch: number,
): string {
  switch (type) {
    case "s":
      return strings[Number(value)] ?? "";
    case "b":
      return value === "1" ? "TRUE" : "FALSE";
    case "n":
      return dates === "none" || value === "" ? value : dateOf(Number(value), dates, epoch);
    default:
      return value;
  }
}

function dateOf(days: number, style: DateStyle, epoch: number): string {
  const date = new Date(epoch + Math.round(days * 86_400) * (DAY_MS / 86_400));
  if (Number.isNaN(date.getTime())) return String(days);
  const [day = "", time = ""] = date.toISOString().slice(0, 19).split("T");
  if (style === "time") return time;
  return style === "day" || time === "00:00:00" ? day : `${day} ${time}`;
}
