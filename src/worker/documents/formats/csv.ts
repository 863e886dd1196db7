import { decodeBytes } from "../encoding.ts";
import { countedOut } from "../left-out.ts";
import { countEntries, NoText, openTextBuilder } from "../reader/text-builder.ts";
import type { TextLimits } from "../reader/text-builder.ts";
import type { Extraction } from "../extraction.ts";
import { isHeader, isValue, lineOfRow, modeOf, MOSTLY, oneLine, openTables } from "./table-rows.ts";
import type { Cells } from "./table-rows.ts";

/** Reads a table as text: the lines above it, then one line per row, each cell behind the name of its column. */
export function readCsv(bytes: Buffer, limits: TextLimits): Extraction {
  const decoded = decodeBytes(bytes, limits.encoding);
  if (decoded === undefined) {
    throw new NoText(
      "FILE_READ_ERROR",
      "is no text in an encoding that is known: save it as UTF-8.",
    );
  }
  const said = SEPARATOR.exec(decoded.text);
  const text = decoded.text.slice(said?.[0].length ?? 0);
  let layout = layoutOf(text, said?.[1]);
  let isAfterGap = false;
  const builder = openTextBuilder(limits);
  const count = countEntries("rows", limits);
  const tables = openTables(builder);
  let [row, torn] = [0, 0];
  for (const given of parseRows(text, layout.delimiter)) {
    count();
    row += 1;
    // Another table below a gap, with more columns than the one above.
    if (isAfterGap && widthOf(given) > layout.width && !given.some(isValue) && row > layout.above)
      layout = { ...layout, width: widthOf(given), values: new Set() };
    isAfterGap = widthOf(given) === 0;
    const isShifted = layout.hasRowNames && row === layout.above + 1;
    const aligned = realign(isShifted ? ["", ...given] : given, layout);
    const cells = cellsOf(aligned);
    if (cells.size === 0) continue;
    // A row above the names that leaves the first cell empty names groups of columns.
    const isFew = cells.size > 1 && cells.size < layout.width - 1;
    const isGroups = row === layout.above && !cells.has(0) && isFew;
    if (row <= layout.above && !isGroups) {
      builder.place({ row });
      builder.add(lineOfRow(introOf([...cells.values()])));
    } else {
      const isTorn = layout.width > 1 && widthOf(aligned) > layout.width;
      if (isTorn) torn += 1;
      tables.add({ locator: { row }, cells, isTorn });
    }
  }
  tables.finish();
  const delimiter = NAMES.get(layout.delimiter) ?? layout.delimiter;
  const metadata = { encoding: decoded.encoding, delimiter, rows: row };
  return { ...builder.finish(metadata), ...countedOut({ "rows of more cells than names": torn }) };
}

/** The first line `sep=;`, by which Excel names the delimiter. */
const SEPARATOR = /^"?sep=([^\r\n"])"?(?:\r\n?|\n)/i;

const NAMES: ReadonlyMap<string, string> = new Map([
  ["\t", "tab"],
  [";", "semicolon"],
  [",", "comma"],
  ["|", "bar"],
]);

/** The text of a line above the table: words, or a name and its values. */
const introOf = ([name = "", ...values]: readonly string[]): string =>
  values.length === 0
    ? oneLine(name)
    : `${oneLine(name).replace(/:$/, "")}: ${values.map(oneLine).join("; ")}`;

const cellsOf = (row: readonly string[]): Cells =>
  new Map([...row.entries()].filter(([, cell]) => cell.trim() !== ""));

type Layout = {
  readonly delimiter: string;
  /** Cells of a row. */
  readonly width: number;
  /** How many rows stand above the table. */
  readonly above: number;
  /** Columns that hold figures or dates. */
  readonly values: ReadonlySet<number>;
  /** Whether each row begins with its own name, for which the row of names has no cell. */
  readonly hasRowNames: boolean;
};

const SAMPLE_CHARS = 100_000;

/** Guesses the layout of the table from the beginning of the text. @param said the delimiter that a `sep=` line names */
function layoutOf(text: string, said: string | undefined): Layout {
  const candidates = (said === undefined ? [...NAMES.keys()] : [said]).map((delimiter) => {
    const rows = sampleOf(text, delimiter);
    const widths = rows.map(widthOf).filter((width) => width > 1);
    const usual = modeOf(widths);
    const alike = widths.filter((one) => one === usual).length;
    const trust = delimiter === "," ? 1 - decimalShare(rows) : 1;
    return { delimiter, rows, usual, score: alike * trust };
  });
  const chosen = candidates.reduce((best, other) =>
    other.score > best.score || (other.score === best.score && other.usual > best.usual)
      ? other
      : best,
  );
  const { delimiter, rows } = chosen;
  const usual = widthOfTable(rows, chosen.usual);
  const above = usual < 2 ? 0 : startOf(rows, usual);
  const around = above === 0 ? [0] : [above - 1, above];
  const short = around.find((at) => isShort(rows.slice(at), usual));
  const hasRowNames =
    short !== undefined &&
    areRowNames(text.split(/\r\n?|\n/, rows.length).slice(short), delimiter, rows.slice(short));
  const parted = around.find((at) => delimiter === "," && isAboveParted(rows, at));
  const names = hasRowNames ? undefined : (parted ?? short);
  if (names !== undefined) {
    const width = widthOf(rows[names] ?? []);
    return { delimiter, width, above: names, values: new Set(), hasRowNames };
  }
  const first = short ?? above;
  // The row of names may be wider than most rows, which can leave the last cells empty.
  const width = usual < 2 ? usual : Math.max(usual, widthOf(rows[above] ?? []));
  const below = rows.slice(above + 1).filter((row) => widthOf(row) <= width);
  return { delimiter, width, above: first, values: valueColumns(below, width), hasRowNames };
}

/** The width of a short table below many lines of names and values, such as two bookings: a row of names proves it. */
function widthOfTable(rows: readonly (readonly string[])[], usual: number): number {
  const widths = rows.map(widthOf);
  const weightOf = (width: number): number =>
    width * widths.filter((other) => other === width).length;
  const isProven = (width: number): boolean => {
    const table = blockAt(rows, startOf(rows, width)).map(cellsOf);
    return table.length > 1 && isHeader(table, "figures");
  };
  const wider = [...new Set(widths)].filter((width) => width > Math.max(2, usual));
  const heavier = wider.filter((width) => weightOf(width) > weightOf(usual));
  return heavier.sort((a, b) => weightOf(b) - weightOf(a)).find(isProven) ?? usual;
}

/** Rows up to the next empty one; all rows that follow if the first or second one is empty. */
function blockAt(rows: readonly (readonly string[])[], at: number): readonly (readonly string[])[] {
  const length = rows.slice(at).findIndex((row) => widthOf(row) === 0);
  return rows.slice(at, length < 2 ? undefined : at + length);
}

/** Whether the first row has one name fewer than most rows below have cells. */
function isShort(rows: readonly (readonly string[])[], usual: number): boolean {
  const [names = [], ...below] = rows.filter((row) => widthOf(row) > 0);
  const isNames = names.length === usual - 1 && names.every((name) => /\S/.test(name));
  const wide = below.filter((row) => widthOf(row) === usual).length;
  const isWhole = below.length > 1 && wide >= below.length * MOSTLY;
  const isIntro = isHeader(below.map(cellsOf), usual > 3 ? "figures" : "figures or words");
  return isNames && isWhole && !names.every(isValue) && !isIntro;
}

/** Whether rows begin with names, as R writes them: names are quoted, figures are not, and no comma can be a decimal one. */
function areRowNames(lines: readonly string[], delimiter: string, rows: string[][]): boolean {
  const bare = lines.filter(Boolean).map((line) => line.replaceAll(/"[^"]*"/g, '"'));
  const [{ length: columns } = [], ...below] = rows.filter((row) => widthOf(row) > 0);
  const isQuoted = bare[0] === Array(columns).fill('"').join(delimiter);
  const areMixed = bare
    .slice(1)
    .every((line) => line.startsWith('"') && /[^"\s]/.test(line.replaceAll(delimiter, "")));
  const mayBeDecimals = Array.from({ length: columns }, (_, at) =>
    below.every((row) => INTEGER.test(row[at] ?? "") && /^\d\d?$/.test(row[at + 1] ?? "")),
  ).some(Boolean);
  const own = new Set(below.map(([first]) => first));
  return isQuoted && areMixed && own.size === below.length && !(delimiter === "," && mayBeDecimals);
}

const INTEGER = /^-?(?:\d+|\d{1,3}(?:\.\d{3})+)$/;

function sampleOf(text: string, delimiter: string): string[][] {
  const rows = [...parseRows(text.slice(0, SAMPLE_CHARS), delimiter, "cut")];
  // The last one may be cut.
  return rows.length > 1 && text.length > SAMPLE_CHARS ? rows.slice(0, -1) : rows;
}

/** The number of cells up to the last non-empty one. */
const widthOf = (row: readonly string[]): number =>
  row.findLastIndex((cell) => cell.trim() !== "") + 1;

/** The share of commas that stand within a number: `1.234,50`. */
function decimalShare(rows: readonly (readonly string[])[]): number {
  let [within, all] = [0, 0];
  for (const row of rows) {
    for (const [at, cell] of row.entries()) {
      if (at === 0) continue;
      all += 1;
      if (/\d$/.test(row[at - 1] ?? "") && /^\d{1,2}(?!\d)/.test(cell)) within += 1;
    }
  }
  return within / Math.max(1, all);
}

/** Whether a row names the columns of a wider row that unquoted decimal commas split: `Rent,850,00`. */
function isAboveParted(rows: readonly (readonly string[])[], at: number): boolean {
  const [names = [], first = []] = rows.slice(at, at + 2);
  const isNames = widthOf(names) > 1 && !names.some(isValue);
  return isNames && widthOf(first) > widthOf(names) && decimalShare([first]) > 0;
}

/** The row where the table begins: it is as wide as most rows, and similar rows follow. */
function startOf(rows: readonly (readonly string[])[], width: number): number {
  const isAlike = (row: readonly string[], first: readonly string[]): boolean =>
    row.length >= width - 1 && (widthOf(row) <= width + 1 || row.length === first.length);
  const start = rows.findIndex((row, at) => {
    if (widthOf(row) < width) return false;
    const rest = blockAt(rows, at).filter((other) => widthOf(other) > 0);
    return rest.filter((other) => isAlike(other, row)).length >= rest.length * MOSTLY;
  });
  if (start < 1) return 0;
  // Names may be one fewer than the cells of a row.
  const before = rows.slice(start - 1).map(cellsOf);
  const isNarrow = widthOf(rows[start - 1] ?? []) === width - 1 && !isHeader(before.slice(1));
  return isNarrow && isHeader(before, "figures") ? start - 1 : start;
}

const valueColumns = (rows: readonly (readonly string[])[], width: number): ReadonlySet<number> =>
  new Set(
    Array.from({ length: width }, (_, column) => column).filter((column) => {
      const cells = rows.map((row) => (row[column] ?? "").trim()).filter(Boolean);
      return cells.length > 0 && cells.filter(isValue).length >= cells.length * MOSTLY;
    }),
  );

/**
 * Repairs a row that has too many cells because a delimiter stands in its words: joins cells again, if exactly one way puts
 * figures into all columns of figures.
 */
function realign(row: readonly string[], { delimiter, width, values }: Layout): readonly string[] {
  const more = widthOf(row) - width;
  if (more < 1 || values.size === 0) return row;
  const ways = Array.from({ length: width }, (_, at) => at)
    .filter((at) => !values.has(at))
    .map((at) => row.toSpliced(at, more + 1, row.slice(at, at + more + 1).join(delimiter)))
    .filter((way) => [...values].every((at) => isValue((way[at] ?? "").trim())));
  const [only] = ways;
  return ways.length === 1 && only !== undefined ? only : row;
}

/**
 * Parses rows by RFC 4180: a cell in quotation marks may hold delimiters, line ends and doubled marks. Linear in the text.
 * @param end `cut` if the text may end within a cell
 */
function* parseRows(
  text: string,
  delimiter: string,
  end: "whole" | "cut" = "whole",
): Generator<string[]> {
  let cells: string[] = [];
  let at = 0;
  let row = 1;
  while (at < text.length) {
    const cell = text.charAt(at) === '"' ? quotedCell(text, at) : plainCell(text, at, delimiter);
    if (cell === undefined && end === "whole") {
      throw new NoText(
        "FILE_FORMAT_INVALID",
        `has a quotation mark in row ${row} that is never closed: close it, or save the table anew.`,
      );
    }
    if (cell === undefined) break;
    // Text between a closing mark and the next delimiter belongs to the cell.
    const rest = plainCell(text, cell.end, delimiter);
    cells.push(cell.end === rest.end ? cell.value : cell.value + rest.value);
    at = rest.end;
    if (text.charAt(at) === delimiter) {
      at += 1;
      if (at < text.length) continue;
      cells.push("");
    }
    at += text.startsWith("\r\n", at) ? 2 : 1;
    yield cells;
    cells = [];
    row += 1;
  }
  if (cells.length > 0) yield cells;
}

type Cell = { readonly value: string; readonly end: number };

function quotedCell(text: string, start: number): Cell | undefined {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 2)) {
    if (text.charAt(at + 1) === '"') continue;
    return { value: text.slice(start + 1, at).replaceAll('""', '"'), end: at + 1 };
  }
  return undefined;
}

function plainCell(text: string, start: number, delimiter: string): Cell {
  let end = start;
  while (end < text.length && !isEnd(text.charAt(end), delimiter)) end += 1;
  return { value: text.slice(start, end), end };
}

const isEnd = (character: string, delimiter: string): boolean =>
  character === delimiter || character === "\n" || character === "\r";
