import type { FileHandle } from "node:fs/promises";
import writeExcelFile from "write-excel-file/node";
import type { Cell, SheetData } from "write-excel-file/node";
import { Failure } from "../../shared/failure.ts";
import type { JobResult } from "../../shared/views/results.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { CLAIM_COLUMNS, FIELD_COLUMNS, RESULT_COLUMNS } from "./table-columns.ts";
import type { CellValue, TypedColumn } from "./table-columns.ts";

/** The library keeps the whole workbook in memory. */
const MOST_CELLS = 400_000;
const MOST_CHARS = 40_000_000;
/** The limit of spreadsheets for one cell. */
const MOST_CELL_CHARS = 32_767;
const CUT = "… (cut: --format csv has all of it)";

/**
 * Writes results as a workbook with a sheet of jobs, one of statements with their places, and one of extracted fields.
 * @returns the number of jobs
 * @throws Failure INPUT_INVALID for more cells or characters than the limits
 */
export async function writeXlsx(
  results: AsyncIterable<JobResult>,
  handle: FileHandle,
): Promise<number> {
  const [jobs, claims, fields] = [
    headOf(RESULT_COLUMNS),
    headOf(CLAIM_COLUMNS),
    headOf(FIELD_COLUMNS),
  ];
  const held = { cells: 0, chars: 0 };
  const add = <Row>(sheet: Cell[][], columns: readonly TypedColumn<Row>[], row: Row): void => {
    const cells = columns.map(({ value }) => value(row));
    held.cells += cells.length;
    for (const cell of cells) if (typeof cell === "string") held.chars += cell.length;
    if (held.cells > MOST_CELLS || held.chars > MOST_CHARS) throw tooLarge();
    sheet.push(cells.map(cellOf));
  };
  for await (const result of results) {
    add(jobs, RESULT_COLUMNS, result);
    for (const claim of result.claims) add(claims, CLAIM_COLUMNS, { result, claim });
    for (const field of result.bindings) add(fields, FIELD_COLUMNS, { result, field });
  }
  const sheets = [
    sheetOf("Results", jobs, RESULT_COLUMNS),
    sheetOf("Claims", claims, CLAIM_COLUMNS),
    sheetOf("Fields", fields, FIELD_COLUMNS),
  ];
  await handle.appendFile(await writeExcelFile(sheets).toBuffer());
  return jobs.length - 1;
}

const headOf = <Row>(columns: readonly TypedColumn<Row>[]): Cell[][] => [
  columns.map(({ title }) => ({ value: title, type: String, fontWeight: "bold" })),
];

const WIDTHS = { text: 24, count: 12, number: 12, time: 20 } as const;

const sheetOf = <Row>(sheet: string, data: SheetData, columns: readonly TypedColumn<Row>[]) => ({
  sheet,
  data,
  columns: columns.map(({ type }) => ({ width: WIDTHS[type] })),
  stickyRowsCount: 1,
});

/** A text that a spreadsheet takes for a formula once somebody edits its cell, unless the cell has the text format "@". */
const FORMULA_START = /^[=+\-@\t\n＝＋－＠]/;

function cellOf(value: CellValue): Cell {
  if (value === null) return null;
  if (typeof value === "number") return { value, type: Number };
  if (value instanceof Date) return { value, type: Date, format: "yyyy-mm-dd hh:mm:ss" };
  const shown =
    value.length <= MOST_CELL_CHARS
      ? value
      : `${value.slice(0, MOST_CELL_CHARS - CUT.length).toWellFormed()}${CUT}`;
  // A spreadsheet decodes _x000D_ to the character with that number.
  const escaped = shown.replace(/_(?=x[0-9a-f]{4}_)/gi, "_x005F_");
  return { value: escaped, type: String, ...(FORMULA_START.test(shown) ? { format: "@" } : {}) };
}

const tooLarge = (): Failure =>
  new Failure(
    "INPUT_INVALID",
    `The batch is too large for --format xlsx, which takes ${formatCount(MOST_CELLS)} cells and ${formatCount(MOST_CHARS)} characters. ` +
      "Use --format csv or parquet.",
  );
