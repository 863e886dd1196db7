import { markShifted } from "../../text/list-number.ts";
import { openArchive } from "../reader/archive.ts";
import { countedOut } from "../left-out.ts";
import { countEntries, openTextBuilder } from "../reader/text-builder.ts";
import type { TextBuilder, TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { XmlAttributes, XmlVisitor } from "../reader/walk-xml.ts";
import type { Extraction } from "../extraction.ts";
import { durationText, unitOf } from "./number-format.ts";
import { readOdtStyles } from "./odt-styles.ts";
import type { OdtStyles } from "./odt-styles.ts";
import { BOXES, contentOf, UNREAD_IN_COMMENTS } from "./odt.ts";
import { readProperties } from "./office-properties.ts";
import { addMargins } from "./sheet-margins.ts";
import { HIDDEN, oneLine, openTables, SHEET_MARK, withSpans } from "./table-rows.ts";
import type { Span } from "./table-rows.ts";

/** Reads a workbook of LibreOffice and others: each sheet under its name, one line per row. */
export function readOds(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  const content = contentOf(archive, "workbook", ".ods");
  const builder = openTextBuilder(limits);
  const book = { sheets: [] as string[], hidden: [] as string[], pictures: 0, objects: 0 };
  const margins = archive.text("styles.xml") ?? "<none/>";
  const { styleOf } = readOdtStyles([margins, content]);
  walkXml(content, sheetsVisitor({ builder, book, styleOf, count: countEntries("rows", limits) }));
  addMargins(margins, builder);
  const metadata = {
    ...readProperties(archive, "meta.xml"),
    sheets: book.sheets,
    ...(book.hidden.length === 0 ? {} : { hidden_sheets: book.hidden }),
  };
  return {
    ...builder.finish(metadata),
    ...countedOut({ pictures: book.pictures - book.objects, "charts and objects": book.objects }),
  };
}

type Work = {
  readonly builder: TextBuilder;
  readonly book: { sheets: string[]; hidden: string[]; pictures: number; objects: number };
  readonly styleOf: OdtStyles["styleOf"];
  readonly count: () => void;
};

/** Most repeats of a cell or row that are read; more are the empty rest of a sheet. */
const MOST_REPEATS = 1_000;

/** Most columns of a sheet in LibreOffice and Excel. */
const MOST_COLUMNS = 16_384;

type Cell = { attributes: XmlAttributes; text: string; comment: string };
type Sheet = {
  name: string;
  tables: ReturnType<typeof openTables>;
  hidden: Set<number>;
  row: number;
};

/** Elements that lie over the cell to which they are anchored. */
const DRAWN: ReadonlySet<string> = new Set(["frame", ...BOXES]);

/** Elements that separate words. */
const APART: ReadonlySet<string> = new Set(["p", "s", "tab", "line-break"]);

function sheetsVisitor({ builder, book, styleOf, count }: Work): XmlVisitor {
  /** Styles of tables that hide them. */
  const hiding = new Set<string>();
  let style = "";
  let sheet: Sheet | undefined;
  let row: { cells: Map<number, string>; next: number; attributes: XmlAttributes } | undefined;
  let cell: Cell | undefined;
  let notes: string[] = [];
  let columns = 0;
  let inComment = false;
  /** The open element of a comment that is skipped: its author or date. */
  let unread: string | undefined;
  let shape = "";
  let drawn = 0;
  let span: string | undefined;
  let spans: Span[] = [];
  const openSheet = ({ name = "", "style-name": by = "" }: XmlAttributes): void => {
    const isHidden = hiding.has(by);
    book.sheets.push(name);
    if (isHidden) book.hidden.push(name);
    if (builder.length > 0) builder.add("\n");
    builder.place({ sheet: name, row: 1 });
    builder.add(`${SHEET_MARK}${name}${isHidden ? HIDDEN : ""}\n`);
    const hidden = new Set<number>();
    sheet = { name, tables: openTables(builder, hidden), hidden, row: 0 };
    [columns, notes, spans] = [0, [], []];
  };
  const closeCell = (): void => {
    if (cell === undefined || row === undefined || sheet === undefined) return;
    const { attributes, text, comment } = cell;
    const { shift } = styleOf(attributes["style-name"]) ?? {};
    const value = markShifted(valueOf(attributes, text), shift);
    const times = repeatsOf(attributes["number-columns-repeated"]);
    if (value !== "") {
      for (let at = 0; at < Math.min(times, MOST_REPEATS); at += 1)
        row.cells.set(row.next + at, value);
      const rows = repeatsOf(attributes["number-rows-spanned"]);
      if (rows > 1) spans.push({ column: row.next, last: sheet.row + rows, value });
    }
    if (comment !== "") notes.push(`Comment in row ${sheet.row + 1}: ${oneLine(comment)}\n`);
    row.next += times;
    cell = undefined;
  };
  const closeRow = (): void => {
    if (row === undefined || sheet === undefined) return;
    const times = repeatsOf(row.attributes["number-rows-repeated"]);
    const isHidden = (row.attributes["visibility"] ?? "visible") !== "visible";
    const shown = row.cells.size === 0 ? 0 : Math.min(times, MOST_REPEATS);
    const cells = withSpans(row.cells, spans, sheet.row + 1);
    for (let at = 1; at <= shown; at += 1) {
      count();
      const locator = { sheet: sheet.name, row: sheet.row + at };
      sheet.tables.add({ locator, cells, mark: isHidden ? HIDDEN : "" });
    }
    sheet.row += times;
    const next = sheet.row;
    spans = spans.filter(({ last }) => last > next);
    row = undefined;
  };
  const closeSheet = (): void => {
    sheet?.tables.finish();
    for (const note of notes) builder.add(note);
    sheet = undefined;
  };
  return {
    open(name, attributes) {
      if (DRAWN.has(name)) drawn += 1;
      if (name === "style") style = attributes["name"] ?? "";
      else if (name === "table-properties" && attributes["display"] === "false") hiding.add(style);
      else if (name === "table" && sheet === undefined) openSheet(attributes);
      else if (name === "table-column") {
        const end = Math.min(
          columns + repeatsOf(attributes["number-columns-repeated"]),
          MOST_COLUMNS,
        );
        const isHidden = (attributes["visibility"] ?? "visible") !== "visible";
        if (isHidden) for (let at = columns; at < end; at += 1) sheet?.hidden.add(at);
        columns = end;
      } else if (name === "table-row") row = { cells: new Map(), next: 0, attributes };
      else if (name === "table-cell" || name === "covered-table-cell") {
        cell = { attributes, text: "", comment: "" };
      } else if (name === "annotation") inComment = true;
      else if (name === "image") book.pictures += 1;
      // Each object comes with a picture of it, which is counted too.
      else if (name === "object") book.objects += 1;
      else if (name === "span") span = attributes["style-name"];
      else if (inComment && UNREAD_IN_COMMENTS.has(name)) unread = name;
      else if (cell !== undefined && APART.has(name)) {
        const part = inComment ? "comment" : "text";
        if (name !== "p" || cell[part] !== "") cell[part] += " ";
      }
    },
    text(text) {
      if (unread !== undefined) return;
      if (cell !== undefined && drawn === 0)
        cell[inComment ? "comment" : "text"] += markShifted(text, styleOf(span)?.shift);
      else if ((row === undefined || drawn > 0) && sheet !== undefined) shape += text;
    },
    close(name) {
      if (DRAWN.has(name)) drawn -= 1;
      if (name === "span") span = undefined;
      else if (name === "table-cell" || name === "covered-table-cell") closeCell();
      else if (name === "table-row") closeRow();
      else if (name === unread) unread = undefined;
      else if (name === "annotation") inComment = false;
      else if (name === "p" && shape.trim() !== "") {
        notes.push(`${oneLine(shape)}\n`);
        shape = "";
      } else if (name === "table" && row === undefined) closeSheet();
    },
  };
}

const repeatsOf = (times: string | undefined): number =>
  Math.min(Math.max(1, Number(times ?? 1) || 1), 1_048_576);

/** The stored value of a cell, which does not depend on a language; words as they are shown. */
function valueOf(attributes: XmlAttributes, text: string): string {
  const { value = "", currency = "", formula = "" } = attributes;
  const plain = ((): string => {
    switch (attributes["value-type"] ?? "string") {
      case "float":
        return shownFigure(value, oneLine(text));
      case "percentage":
        return `${String(Number((Number(value) * 100).toPrecision(15)))}%`;
      case "currency":
        return `${value} ${currency}`.trim();
      case "date":
        return (attributes["date-value"] ?? text).replace("T", " ");
      case "time":
        return timeOf(attributes["time-value"] ?? "") ?? oneLine(text);
      default:
        return oneLine(text);
    }
  })();
  if (formula === "" || plain === "") return plain;
  return `${plain} (${formula.replace(/^\w+:(?==)/, "").replaceAll(/\[\.?|\]|(?<=:)\./g, "")})`;
}

/**
 * The stored value with all its digits and the unit that is shown; or the shown text, if it has leading zeros, marks between
 * digits, fewer digits than the whole number (thousands), or is a word.
 */
function shownFigure(value: string, shown: string): string {
  const figure = /\d(?:[\d.,'’\s]*\d)?/.exec(shown)?.[0];
  const words = shown.replace(figure ?? "", "#");
  if (figure === undefined) return /\p{L}/u.test(shown) ? shown : value;
  if (/\d[eE][+-]?\d/.test(shown)) return value;
  const digits = shown.replaceAll(/\D/g, "").length;
  const whole = String(Math.trunc(Math.abs(Number(value)))).length;
  if (/\d/.test(words) || /^0\d/.test(figure) || digits < whole) return shown;
  const [before, after] = words.split("#", 2).map(unitOf);
  const isSigned = /[-−(]/.test(words) || unitOf(words) === "";
  return `${before ?? ""} ${isSigned ? value : value.replace("-", "")} ${after ?? ""}`.trim();
}

/** `PT36H30M00S` is 36:30. */
function timeOf(value: string): string | undefined {
  const parts = /^(-?)P(?:(\d+)D)?T(\d+)H(\d+)M([\d.,]+)S$/.exec(value);
  if (parts === null) return undefined;
  const [, sign, days = "0", hours = "0", minutes = "0", seconds = "0"] = parts;
  const all =
    ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + parseInt(seconds, 10);
  return durationText(sign === "-" ? -all : all, { largest: "h", hasSeconds: false });
}
