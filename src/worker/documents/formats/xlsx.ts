import { markShifted, shiftOf } from "../../text/list-number.ts";
import { openArchive } from "../reader/archive.ts";
import type { Archive } from "../reader/archive.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextBuilder, TextLimits } from "../reader/text-builder.ts";
import { walkXml } from "../reader/walk-xml.ts";
import type { Extraction } from "../extraction.ts";
import { countedOut } from "../left-out.ts";
import { isOn } from "./docx-styles.ts";
import { GENERAL, KNOWN_STYLES, numberStyleOf } from "./number-format.ts";
import type { NumberStyle } from "./number-format.ts";
import { readChart } from "./office-chart.ts";
import { mainPart, relationsOf, targetOf } from "./office-package.ts";
import type { Relation } from "./office-package.ts";
import { readProperties } from "./office-properties.ts";
import type { CellFacts } from "./xlsx-sheet.ts";
import { readSheet } from "./xlsx-sheet.ts";
import { addMargins } from "./sheet-margins.ts";
import {
  addRow,
  columnNames,
  HIDDEN,
  lineOfRow,
  oneLine,
  openTables,
  SHEET_MARK,
} from "./table-rows.ts";

/** Reads a workbook: each sheet under its name, one line per row. */
export function readXlsx(bytes: Buffer, limits: TextLimits): Extraction {
  const archive = openArchive(bytes, limits);
  const book = readWorkbook(archive);
  const builder = openTextBuilder(limits);
  const count = countEntries("rows", limits);
  const leftOut = { pictures: 0, charts: 0, "formulas without a result": 0 };
  for (const { name, part, isHidden } of book.sheets) {
    const xml = archive.text(part);
    if (xml === undefined) continue;
    if (builder.length > 0) builder.add("\n");
    builder.place({ sheet: name, row: 1 });
    builder.add(`${SHEET_MARK}${name}${isHidden ? HIDDEN : ""}\n`);
    addSheet(xml, { book, name, builder, count, leftOut });
    addMargins(marginsOf(xml), builder);
    addNotes(archive, part, { builder, leftOut });
  }
  const hidden = book.sheets.filter(({ isHidden }) => isHidden).map(({ name }) => name);
  const metadata = {
    ...readProperties(archive, "docProps/core.xml"),
    sheets: book.sheets.map(({ name }) => name),
    ...(hidden.length === 0 ? {} : { hidden_sheets: hidden }),
  };
  return { ...builder.finish(metadata), ...countedOut(leftOut) };
}

const MARGINS = "headerFooter";

/** The XML of the printed headers and footers of a sheet, which stands behind its rows. */
function marginsOf(xml: string): string | undefined {
  const name = xml.indexOf(MARGINS, xml.lastIndexOf("sheetData"));
  const end = xml.lastIndexOf(`${MARGINS}>`);
  if (name < 0 || end <= name) return undefined;
  return xml.slice(xml.lastIndexOf("<", name), end + MARGINS.length + 1);
}

type Sheet = { readonly name: string; readonly part: string; readonly isHidden: boolean };

type Workbook = CellFacts & { readonly sheets: readonly Sheet[] };

type SheetWork = {
  readonly book: Workbook;
  readonly name: string;
  readonly builder: TextBuilder;
  readonly count: () => void;
  readonly leftOut: { "formulas without a result": number };
};

function addSheet(xml: string, { book, name: sheet, builder, count, leftOut }: SheetWork): void {
  const hidden = new Set<number>();
  const tables = openTables(builder, hidden);
  readSheet(xml, book, {
    hideColumn: (column) => void hidden.add(column),
    unreckoned: () => void (leftOut["formulas without a result"] += 1),
    row(row, cells, isHidden) {
      count();
      tables.add({ locator: { sheet, row }, cells, mark: isHidden ? HIDDEN : "" });
    },
  });
  tables.finish();
}

function readWorkbook(archive: Archive): Workbook {
  const main = mainPart(archive, "xl/workbook.xml");
  const xml = archive.text(main);
  if (xml === undefined) throw noWorkbook();
  const relations = relationsOf(archive, main);
  const partOf = (type: string): string =>
    archive.text(targetOf(relations, type) ?? "") ?? "<none/>";
  const sheets: Sheet[] = [];
  let start: CellFacts["start"] = 1900;
  let isUnreckoned = false;
  walkXml(xml, {
    open(name, { name: title = "", id = "", state, date1904, fullCalcOnLoad }) {
      if (name === "calcPr") isUnreckoned = fullCalcOnLoad === "1" || fullCalcOnLoad === "true";
      if (name === "workbookPr" && (date1904 === "1" || date1904 === "true")) start = 1904;
      if (name !== "sheet") return;
      sheets.push({
        name: title,
        part: relations.find((relation) => relation.id === id)?.target ?? "",
        isHidden: state !== undefined && state !== "visible",
      });
    },
  });
  if (sheets.length === 0) throw noWorkbook();
  const strings = wordsOf("si", partOf("sharedStrings"));
  return { sheets, start, ...readStyles(partOf("styles")), isUnreckoned, strings };
}

const noWorkbook = (): NoText =>
  new NoText(
    "FILE_FORMAT_INVALID",
    "is no workbook: save it as .xlsx with the program that made it.",
  );

/** The words of each element of that name, such as shared texts or paragraphs, without phonetic readings of Japanese words. */
function wordsOf(element: string, xml: string): string[] {
  const strings: string[] = [];
  let inText = false;
  let spoken = 0;
  let shift = shiftOf(undefined);
  walkXml(xml, {
    open(name, { val }) {
      if (name === element) strings.push("");
      if (name === element || name === "r") shift = undefined;
      else if (name === "vertAlign") shift ??= shiftOf(val);
      else if (name === "strike" && isOn(val)) shift = "struck";
      if (name === "rPh") spoken += 1;
      inText = name === "t" && spoken === 0;
    },
    close(name) {
      if (name === "rPh") spoken -= 1;
      inText = false;
    },
    text(text) {
      if (inText)
        strings[strings.length - 1] = `${strings.at(-1) ?? ""}${markShifted(text, shift)}`;
    },
  });
  return strings;
}

/** The styles of cells, by the number that cells give, and the numbers of those that strike out. */
function readStyles(xml: string): Pick<CellFacts, "styles" | "struck"> {
  const named = new Map(KNOWN_STYLES);
  const styles: NumberStyle[] = [];
  const struck = new Set<number>();
  const struckFonts = new Set<number>();
  let fonts = 0;
  let inCells = false;
  walkXml(xml, {
    open(name, { numFmtId = "0", formatCode = "", fontId, val }) {
      if (name === "font") fonts += 1;
      if (name === "strike" && isOn(val)) struckFonts.add(fonts - 1);
      if (name === "numFmt") named.set(Number(numFmtId), numberStyleOf(formatCode));
      if (name === "cellXfs") inCells = true;
      if (name !== "xf" || !inCells) return;
      if (struckFonts.has(Number(fontId))) struck.add(styles.length);
      styles.push(named.get(Number(numFmtId)) ?? GENERAL);
    },
    close(name) {
      if (name === "cellXfs") inCells = false;
    },
  });
  return { styles, struck };
}

type Beside = {
  readonly builder: TextBuilder;
  readonly leftOut: { pictures: number; charts: number };
};

/** Adds comments, charts and words in shapes of a sheet. */
function addNotes(archive: Archive, part: string, { builder, leftOut }: Beside): void {
  const relations = relationsOf(archive, part);
  const threads = relations.filter(({ type }) => type === "threadedComment");
  // If there are threads, the plain comments only repeat them for older programs.
  for (const { target } of threads.length > 0 ? threads : relations.filter(isOf("comments"))) {
    for (const comment of readComments(archive.text(target) ?? "<none/>")) builder.add(comment);
  }
  for (const drawing of relations.filter(isOf("drawing"))) {
    for (const words of wordsOf("p", archive.text(drawing.target) ?? "<none/>"))
      if (words.trim() !== "") builder.add(lineOfRow(oneLine(words)));
    for (const { type, target } of relationsOf(archive, drawing.target)) {
      if (type === "image") leftOut.pictures += 1;
      else if (type === "chartEx") leftOut.charts += 1;
      else if (type === "chart") addChart(builder, archive.text(target) ?? "<none/>");
    }
  }
}

const isOf =
  (type: string) =>
  (relation: Relation): boolean =>
    relation.type === type;

function addChart(builder: TextBuilder, xml: string): void {
  const { title, rows } = readChart(xml);
  const [names, ...rest] = rows.map(
    (row) => new Map([...row.entries()].filter(([, cell]) => cell !== "")),
  );
  builder.add(`\nChart: ${oneLine(title)}\n`);
  const header = new Map(names === undefined ? [] : columnNames(names));
  header.delete(0);
  for (const cells of rest) addRow(builder, header, { cells });
}

function* readComments(xml: string): Generator<string> {
  const authors: string[] = [];
  const comments: { ref: string; by: string; text: string }[] = [];
  let inAuthor = false;
  let inText = 0;
  walkXml(xml, {
    open(name, { ref = "", authorId = "" }) {
      inAuthor = name === "author";
      if (inAuthor) authors.push("");
      if (name === "comment" || name === "threadedComment") {
        comments.push({ ref, by: authors[Number(authorId)] ?? "", text: "" });
      }
      if (name === "text") inText += 1;
    },
    text(text) {
      const comment = comments.at(-1);
      if (inAuthor) authors.push((authors.pop() ?? "") + text);
      else if (inText > 0 && comment !== undefined) comment.text += text;
    },
    close(name) {
      inAuthor = false;
      if (name === "text") inText -= 1;
    },
  });
  for (const { ref, by, text } of comments) {
    yield `Comment on ${ref}${by === "" ? "" : ` (${oneLine(by)})`}: ${oneLine(text)}\n`;
  }
}
