/** Includes full-width forms, which some spreadsheets fold. */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/;
const PLAIN_NUMBER = /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i;
const NEEDS_QUOTES = /[",\r\n]/;

/** One record by RFC 4180, without its line end: null is empty, an empty text is quoted. */
export const csvRecord = (cells: readonly (string | null)[]): string =>
  cells.map(csvCell).join(",");

/** Prefixes an apostrophe to a text that a spreadsheet would take for a formula; a plain number is unchanged. */
function csvCell(value: string | null): string {
  if (value === null) return "";
  const safe = FORMULA_START.test(value) && !PLAIN_NUMBER.test(value) ? `'${value}` : value;
  return safe === "" || NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
