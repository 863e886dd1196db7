import type { FileHandle } from "node:fs/promises";
import writeExcelFile from "write-excel-file/node";
import type { Cell, SheetData } from "write-excel-file/node";
import { Failure } from "../../shared/failure.ts";
import type { JobResult } from "../../shared/views/results.ts";
import { formatCount } from "../../shared/views/quantity.ts";
import { CLAIM_COLUMNS, FIELD_COLUMNS, RESULT_COLUMNS } from "./table-columns.ts";
import type { CellValue, TypedColumn } from "./table-columns.ts";

/** The library holds a workbook whole. */
const MOST_CELLS = 400_000;
const MOST_CHARS = 40_000_000;
/** What a spreadsheet takes in one cell. */
const MOST_CELL_CHARS = 32_767;
const CUT = "… (cut: --format csv has all of it)";

/**
 * Writes results as a workbook: a sheet of jobs, one of the statements of answers with their places, one of the fields of extractions.
 * @returns how many jobs
 * @throws Failure INPUT_INVALID for more than a workbook can be made of here
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

/** What a spreadsheet takes for a formula when somebody has edited its cell; in a cell of texts it never does. */
const FORMULA_START = /^[=+\-@\t\n＝＋－＠]/;

function cellOf(value: CellValue): Cell {
  if (value === null) return null;
  if (typeof value === "number") return { value, type: Number };
  if (value instanceof Date) return { value, type: Date, format: "yyyy-mm-dd hh:mm:ss" };
  const shown =
    value.length <= MOST_CELL_CHARS
      ? value
      : `${value.slice(0, MOST_CELL_CHARS - CUT.length).toWellFormed()}${CUT}`;
  // A spreadsheet reads _x000D_ as a character by its number.
  const escaped = shown.replace(/_(?=x[0-9a-f]{4}_)/gi, "_x005F_");
  return { value: escaped, type: String, ...(FORMULA_START.test(shown) ? { format: "@" } : {}) };
}

const tooLarge = (): Failure =>
  new Failure(
    "INPUT_INVALID",
    `The batch is too large for --format xlsx, which takes ${formatCount(MOST_CELLS)} cells and ${formatCount(MOST_CHARS)} characters. ` +
      "Use --format csv or parquet.",
  );
