import type { ReaderColumn, ReaderPage } from "../../shared/store/reader-sql.ts";
import { plainText, styledState, widthOf } from "../../shared/terminal/styled-text.ts";
import type { Line } from "../../shared/terminal/styled-text.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import { formatInZone, offsetAt } from "../../shared/schedules/time.ts";
import { layOutRecords, layOutTable } from "./layout.ts";
import type { Cell } from "./layout.ts";
import { countOf } from "../../shared/views/quantity.ts";

/** csv_crlf ends lines with CRLF, as RFC 4180 and some spreadsheets require; csv with a line feed, as other Unix programs do. */
export type RowFormat = "table" | "json" | "csv" | "csv_crlf";
type Pages = AsyncIterable<ReaderPage>;

/** Prints rows as they arrive. */
export function printRows(terminal: Terminal, format: RowFormat, pages: Pages): Promise<void> {
  switch (format) {
    case "table":
      return printTable(terminal, pages);
    case "json":
      return printJsonRows(terminal, pages);
    case "csv":
      return printCsv(terminal, pages, "");
    case "csv_crlf":
      return printCsv(terminal, pages, "\r");
  }
}

const MANY_ROWS = 10_000;

/** Columns are aligned page by page, because printed lines can't be changed. */
async function printTable(terminal: Terminal, pages: Pages): Promise<void> {
  let printed = 0;
  let shape: Shape | undefined;
  for await (const page of pages) {
    if (printed > 0 && page.rows.length === 0) continue;
    const place = { printed, mostColumns: terminal.dataColumns ?? Infinity, zone: terminal.zone };
    shape ??= selectShape(page, place);
    for (const line of layOut[shape](page, place)) await terminal.print(line);
    if (printed <= MANY_ROWS && printed + page.rows.length > MANY_ROWS) {
      terminal.say("More than 10,000 rows; --format csv or json is made for that many.");
    }
    printed += page.rows.length;
  }
  terminal.say(countOf(printed, "row"));
}

type Shape = "table" | "records";
type PrintState = {
  /** Rows that were printed before these. */
  readonly printed: number;
  readonly mostColumns: number;
  readonly zone: string | null;
};
type LayOut = (page: ReaderPage, place: PrintState) => readonly Line[];

/** Chooses records if a line of the table would be wider than the terminal. */
const selectShape = (page: ReaderPage, place: PrintState): Shape =>
  page.rows.length > 0 &&
  layOut.table(page, place).some((line) => widthOf(plainText(line)) > place.mostColumns)
    ? "records"
    : "table";

const layOut: Readonly<Record<Shape, LayOut>> = {
  table({ columns, rows }, { printed, mostColumns, zone }) {
    const titles = columns.map((column) => ({
      title: column.name,
      align: isNumeric(column) ? ("right" as const) : ("left" as const),
    }));
    const lines = layOutTable(titles, toShown({ columns, rows }, zone), mostColumns);
    return printed === 0 ? lines : lines.slice(2);
  },
  records: ({ columns, rows }, { printed, mostColumns, zone }) =>
    layOutRecords(
      columns.map(({ name }) => name),
      toShown({ columns, rows }, zone),
      { first: printed + 1, mostColumns },
    ),
};

/** Prints one line: a list of objects. */
async function printJsonRows(terminal: Terminal, pages: Pages): Promise<void> {
  // Collected first, because an incomplete list is not JSON: an error before the last row leaves stdout empty.
  const objects: string[] = [];
  for await (const { columns, rows } of pages) {
    const keys = keysOf(columns).map((key) => JSON.stringify(key));
    for (const row of rows) {
      const members = row.map(
        (cell, index) => `${keys[index] ?? ""}:${jsonCell(cell, columns[index]?.typeId ?? 0)}`,
      );
      objects.push(`{${members.join(",")}}`);
    }
  }
  await terminal.printJsonText(`[${objects.join(",")}]`);
}

async function printCsv(terminal: Terminal, pages: Pages, lineEnd: "" | "\r"): Promise<void> {
  // Loaded here, because the other formats don't need it.
  const { csvRecord } = await import("../../shared/text/csv.ts");
  let hasTitles = false;
  for await (const page of pages) {
    if (!hasTitles)
      await terminal.printText(`${csvRecord(page.columns.map(({ name }) => name))}${lineEnd}`);
    hasTitles = true;
    for (const row of toCells(page)) await terminal.printText(`${csvRecord(row)}${lineEnd}`);
  }
}

const toCells = ({ columns, rows }: ReaderPage): (string | null)[][] =>
  rows.map((row) =>
    row.map((cell, index) => (cell === null ? null : isoTime(cell, columns[index]?.typeId ?? 0))),
  );

/** Cells for people: times in the terminal's time zone, states in colour. */
const toShown = (
  { columns, rows }: ReaderPage,
  zone: string | null,
): readonly (readonly Cell[])[] =>
  toCells({ columns, rows }).map((row) =>
    row.map((cell, index) => {
      const { name, typeId } = columns[index] ?? { name: "", typeId: 0 };
      if (cell === null) return null;
      if (name === "state") return STATE_WORD.test(cell) ? styledState(cell) : cell;
      return zone === null ? cell : localTime(cell, typeId, zone);
    }),
  );

const STATE_WORD = /^[a-z_]{1,20}$/;

/** OIDs of pg_type. */
const BOOL = 16;
const INTEGERS = [20, 21, 23, 26];
const FLOATS = [700, 701];
const NUMERIC = 1700;
const JSON_TYPES = [114, 3802];
const TIMESTAMPTZ = 1184;
const TIMESTAMP = 1114;

/**
 * Converts the server's text of a value to JSON. A number that a double would change stays a text, a time becomes
 * ISO 8601, and `json` is not changed.
 */
function jsonCell(value: string | null, typeId: number): string {
  if (value === null) return "null";
  if (typeId === BOOL) return value === "t" ? "true" : "false";
  if (INTEGERS.includes(typeId))
    return Number.isSafeInteger(Number(value)) ? value : JSON.stringify(value);
  if (FLOATS.includes(typeId) && Number.isFinite(Number(value))) return String(Number(value));
  if (typeId === NUMERIC && isExact(value)) return String(Number(value));
  if (JSON_TYPES.includes(typeId)) return oneLine(value);
  return JSON.stringify(isoTime(value, typeId));
}

/** Whether a double represents the number exactly as written, apart from trailing zeros. */
function isExact(value: string): boolean {
  const written = value.includes(".") ? value.replace(/\.?0+$/, "") : value;
  return String(Number(value)) === written && Number.isFinite(Number(value));
}

/** Replaces line feeds, which can only be between the tokens of JSON: in strings they are escaped. */
const oneLine = (json: string): string => json.replace(/[\r\n]\s*/g, " ");

/** Converts times to ISO 8601; `infinity` stays. The reader's session is in UTC. */
function isoTime(value: string, typeId: number): string {
  if (!/^\d{4,}-\d\d-\d\d \d\d:/.test(value)) return value;
  if (typeId === TIMESTAMPTZ) return `${value.replace(" ", "T").replace(/\+00$/, "")}Z`;
  return typeId === TIMESTAMP ? value.replace(" ", "T") : value;
}

/**
 * Converts a `timestamptz` from `isoTime` to a time zone, in a form that Postgres accepts:
 * `2026-11-21 23:04:11.25+01:00`. Anything else stays.
 */
function localTime(value: string, typeId: number, zone: string): string {
  const time = new Date(value);
  if (typeId !== TIMESTAMPTZ || Number.isNaN(time.getTime())) return value;
  const fraction = /\.\d+/.exec(value)?.[0] ?? "";
  return `${formatInZone(time, zone, "seconds").slice(0, 19)}${fraction}${offsetAt(time, zone)}`;
}

/** Keys of a row's object: a repeated name gets a number. */
function keysOf(columns: readonly ReaderColumn[]): readonly string[] {
  const used = new Set<string>();
  return columns.map(({ name }) => {
    let key = name;
    for (let again = 2; used.has(key); again += 1) key = `${name}_${again}`;
    used.add(key);
    return key;
  });
}

const isNumeric = ({ typeId }: ReaderColumn): boolean =>
  [...INTEGERS, ...FLOATS, NUMERIC].includes(typeId);
