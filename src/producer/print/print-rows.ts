import type { ReaderPage } from "../../shared/db/reader-sql.ts";
import { plainText, styledState } from "../../shared/styled-text.ts";
import type { Line } from "../../shared/styled-text.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { widthOf } from "../../shared/text-width.ts";
import { csvRecord } from "./csv.ts";
import { isNumeric, isoTime, jsonCell, keysOf, localTime } from "./json-cell.ts";
import { countOf } from "./quantity.ts";
import { layOutRecords } from "./records.ts";
import { layOutTable } from "./table.ts";
import type { Cell } from "./table.ts";

/** csv_crlf ends lines as RFC 4180 and some spreadsheets want it; csv as every other program on the machine does. */
export type RowFormat = "table" | "json" | "csv" | "csv_crlf";
type Pages = AsyncIterable<ReaderPage>;

/** Prints rows as they come. */
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

/** Columns are aligned page by page: what was printed can't be moved. */
async function printTable(terminal: Terminal, pages: Pages): Promise<void> {
  let printed = 0;
  let shape: Shape | undefined;
  for await (const page of pages) {
    if (printed > 0 && page.rows.length === 0) continue;
    const place = { printed, mostColumns: terminal.dataColumns ?? Infinity, zone: terminal.zone };
    shape ??= chooseShape(page, place);
    for (const line of layOut[shape](page, place)) await terminal.print(line);
    if (printed <= MANY_ROWS && printed + page.rows.length > MANY_ROWS) {
      terminal.say("More than 10,000 rows; --format csv or json is made for that many.");
    }
    printed += page.rows.length;
  }
  terminal.say(countOf(printed, "row"));
}

type Shape = "table" | "records";
type Place = {
  /** Rows that were printed before these. */
  readonly printed: number;
  readonly mostColumns: number;
  readonly zone: string | null;
};
type LayOut = (page: ReaderPage, place: Place) => readonly Line[];

/** Lines that a terminal would break are no table any more. */
const chooseShape = (page: ReaderPage, place: Place): Shape =>
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

/** One line: a list of objects. */
async function printJsonRows(terminal: Terminal, pages: Pages): Promise<void> {
  // A list that ends in the middle is not JSON: what goes wrong before the last row leaves nothing on stdout.
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

/** For people: times as the terminal's clocks show them, states in their colours. */
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
