import { parseMailHeader } from "../mail-header.ts";
import { cellTexts } from "../table-cells.ts";
import { frontmatterLines } from "../units/cut-blocks.ts";

/** A table of a text in any layout. The line that names its columns is no row. */
export type Table = {
  /** `rows`: one line per row. `records`: several lines of `Name: value` per row. */
  readonly layout: "rows" | "records";
  /** Names of the table: the headings above it, the highest first, and a single line right above it. */
  readonly names: readonly string[];
  /** Names of the columns. In records with headings of their own the first name is "". */
  readonly columns: readonly string[];
  readonly rows: readonly TableRow[];
  /** All lines of it, from 0. */
  readonly lines: readonly number[];
  /** How many lines have cells that fit no column. */
  readonly torn: number;
};

export type TableRow = {
  /** One per column; "" for a missing one. */
  readonly cells: readonly string[];
  /** Line numbers of the row, from 0. */
  readonly lines: readonly number[];
};

type Reader = {
  readonly lines: readonly string[];
  readonly tables: Table[];
  headings: readonly { readonly level: number; readonly title: string }[];
  /** Records so far, since the last other table. */
  records: Grid | null;
};

/** Rows whose columns are found one by one. */
type Grid = { readonly columns: string[]; readonly rows: TableRow[]; readonly names: string[] };

/** The tables of a text, in its order: drawn with bars, of named cells, in columns of blanks, and of records. Linear. */
export function readTables(text: string): Table[] {
  const lines = text.split(/\r\n|\n|\r/);
  const reader: Reader = { lines, tables: [], headings: [], records: null };
  let isInCode = false;
  for (let at = frontmatterLines(lines); at < lines.length;) {
    const line = lines[at] ?? "";
    const heading = HEADING.exec(line)?.groups;
    if (/^\s*(?:`{3}|~{3})/.test(line)) isInCode = !isInCode;
    if (heading !== undefined && !isInCode) {
      const level = heading["marks"]?.length ?? 1;
      const title = heading["title"]?.trim() ?? "";
      reader.headings = [...reader.headings.filter((one) => one.level < level), { level, title }];
    }
    const header = at === 0 || line.startsWith("# ") ? parseMailHeader(lines, at).lines : 0;
    if (header > 0 && !isInCode) {
      at += header;
      continue;
    }
    const isOther = isInCode || heading !== undefined || line.trim() === "";
    at = isOther ? at + 1 : parseRun(reader, at);
  }
  closeRecords(reader);
  return reader.tables;
}

const HEADING = /^(?<marks>#{1,6})[ \t]+(?<title>.{1,200})/;

/** @returns the line behind the table that begins at this one, or behind this one */
function parseRun(reader: Reader, from: number): number {
  for (const parse of [parseDrawn, parseNamed, parseRecord, parseAligned]) {
    const to = parse(reader, from);
    if (to === null) continue;
    if (parse !== parseRecord) closeRecords(reader);
    return to;
  }
  return from + 1;
}

/** The line behind the last one of a run that fits. */
function endOf(lines: readonly string[], from: number, fits: (line: string) => boolean): number {
  let to = from;
  while (to < lines.length && fits(lines[to] ?? "")) to += 1;
  return to;
}

const linesFrom = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, at) => from + at);

function pushTable(
  { tables, headings, lines }: Reader,
  { from, to }: { readonly from: number; readonly to: number },
  table: Pick<Table, "columns" | "rows" | "torn">,
): void {
  const above = lines[from - 1]?.trim() || (lines[from - 2] ?? "").trim();
  const caption = above.length <= MOST_CAPTION && !/^[#|]/.test(above) ? [above] : [];
  const names = [...headings.map(({ title }) => title), ...caption];
  tables.push({ ...table, layout: "rows", names, lines: linesFrom(from, to) });
}

const MOST_CAPTION = 80;

function parseDrawn(reader: Reader, from: number): number | null {
  const to = endOf(reader.lines, from, (line) => line.trimStart().startsWith("|"));
  if (to - from < 2) return null;
  const all = reader.lines.slice(from, to).map((line, at) => ({
    cells: cellTexts(line.trim()),
    lines: [from + at],
  }));
  const [header, ...rows] = all.filter(
    ({ cells }) => !cells.every((cell) => /^:?-*:?$/.test(cell)),
  );
  if (header === undefined || rows.length === 0) return to;
  const columns = header.cells;
  const whole = rows.filter(({ cells }) => cells.length === columns.length);
  const torn = rows.length - whole.length;
  pushTable(reader, { from, to }, { columns, rows: whole, torn });
  return to;
}

/** Rows as the readers of CSV and workbooks write them: each cell behind the name of its column, the names in the line above. */
function parseNamed(reader: Reader, from: number): number | null {
  const first = reader.lines[from] ?? "";
  const names = first.split("; ");
  const isHead = !first.includes(": ") && names.length > 1;
  const known = isHead ? new Set(names) : null;
  const start = isHead ? from + 1 : from;
  const to = endOf(reader.lines, start, (line) => isNamedRow(line, known));
  if (to === start) return null;
  const columns = isHead ? names : [];
  const found = reader.lines.slice(start, to).map((line) => {
    const cells = new Map<string, string>();
    for (const [name, cell] of cellsByName(line, known)) {
      if (!columns.includes(name)) columns.push(name);
      cells.set(name, cell);
    }
    return cells;
  });
  const rows = found.map((cells, at) => ({
    cells: columns.map((name) => cells.get(name) ?? ""),
    lines: [start + at],
  }));
  pushTable(reader, { from, to }, { columns, rows, torn: 0 });
  return to;
}

/** Whether a line is a row. If the names are unknown, it has at least two cells, and each has a name. */
function isNamedRow(line: string, names: ReadonlySet<string> | null): boolean {
  const parts = line.split("; ");
  return names === null
    ? parts.length > 1 && parts.every((part) => /^[^:.]{1,80}: \S/.test(part))
    : names.has((parts[0] ?? "").split(": ", 1)[0] ?? "");
}

/** @param names of the columns; null if unknown: then each part with a colon has a name */
function cellsByName(line: string, names: ReadonlySet<string> | null): [string, string][] {
  const cells: [string, string][] = [];
  for (const part of line.split("; ")) {
    const at = part.indexOf(": ");
    const name = part.slice(0, Math.max(0, at));
    const last = cells.at(-1);
    if (at > 0 && (names === null || names.has(name))) cells.push([name, part.slice(at + 2)]);
    else if (last !== undefined) last[1] += `; ${part}`;
  }
  return cells;
}

const FIELD =
  /^\s*(?:[-*+•] )?[*_]{0,2}(?<name>\p{L}[^:：=;|*]{0,40}?)[*_]{0,2}[ \u00A0]?(?:[:：])[*_]{0,2}\s+(?<value>\S.{0,80})$/u;

/** Reads a record: lines of names and values without a gap. Records with the same names are rows of one table. */
function parseRecord(reader: Reader, from: number): number | null {
  const to = endOf(reader.lines, from, (line) => FIELD.test(line));
  if (to - from < 2) return null;
  const heading = reader.headings.at(-1)?.title ?? "";
  const isHeaded =
    /^#/.test(reader.lines[from - 1] ?? "") || /^#/.test(reader.lines[from - 2] ?? "");
  const fields = reader.lines.slice(from, to).map((line) => FIELD.exec(line)?.groups);
  const cells = new Map([["", isHeaded ? heading : ""]]);
  for (const field of fields)
    cells.set(field?.["name"]?.trim() ?? "", field?.["value"]?.trim() ?? "");
  const known = reader.records?.columns.filter((name) => cells.has(name)).length ?? 0;
  if (known * 2 < cells.size) closeRecords(reader);
  const above = reader.headings.map(({ title }) => title);
  reader.records ??= { columns: [], rows: [], names: isHeaded ? above.slice(0, -1) : above };
  const { columns, rows } = reader.records;
  for (const name of cells.keys()) if (!columns.includes(name)) columns.push(name);
  const lines = linesFrom(from, to);
  rows.push({ cells: columns.map((name) => cells.get(name) ?? ""), lines });
  return to;
}

function closeRecords(reader: Reader): void {
  const { columns, rows, names } = reader.records ?? NO_RECORDS;
  reader.records = null;
  if (rows.length < FEWEST_RECORDS) return;
  const filled = rows.map((row) => ({
    ...row,
    cells: columns.map((_, at) => row.cells[at] ?? ""),
  }));
  const lines = rows.flatMap((row) => row.lines);
  reader.tables.push({ layout: "records", names, columns, rows: filled, lines, torn: 0 });
}

/** Fewest records of a table; a single one is a form, or metadata of the document. */
const FEWEST_RECORDS = 2;
const NO_RECORDS: Grid = { columns: [], rows: [], names: [] };

type Placed = { readonly text: string; readonly start: number; readonly end: number };

/** A longer line is no row of a table in columns of blanks. */
const MOST_ROW_CHARS = 300;
const FEWEST_LINES = 3;

const placedCells = (line: string): Placed[] =>
  line.length > MOST_ROW_CHARS
    ? []
    : [...line.matchAll(/\S+(?: \S+)*/g)].map(({ 0: text, index }) => ({
        ...{ text, start: index, end: index + text.length },
      }));

/** Reads columns of blanks: words name the columns, and a row has as many cells, or each cell shares an edge with its name. */
function parseAligned(reader: Reader, from: number): number | null {
  const to = endOf(reader.lines, from, (line) => placedCells(line).length > 1);
  if (to - from < FEWEST_LINES) return null;
  const [header = [], ...below] = reader.lines.slice(from, to).map(placedCells);
  if (header.some(({ text }) => /^\P{L}*\d/u.test(text))) return to;
  const rows = below.map((cells, at) => ({ cells: inColumns(cells, header), line: from + 1 + at }));
  const whole = rows.flatMap(({ cells, line }) =>
    cells === null ? [] : [{ cells, lines: [line] }],
  );
  const columns = header.map(({ text }) => text);
  const torn = rows.length - whole.length;
  if (whole.length > 1) pushTable(reader, { from, to }, { columns, rows: whole, torn });
  return to;
}

function inColumns(cells: readonly Placed[], header: readonly Placed[]): string[] | null {
  if (cells.length === header.length) return cells.map(({ text }) => text);
  const found = header.map(() => "");
  for (const { text, start, end } of cells) {
    const at = header.findIndex((name) => name.start === start || name.end === end);
    if (at === -1 || found[at] !== "") return null;
    found[at] = text;
  }
  return found;
}
