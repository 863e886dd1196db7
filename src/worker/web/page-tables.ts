import type { PageLines } from "./page-lines.ts";

type Attributes = Readonly<Record<string, string>>;

type Cell = { readonly text: string; readonly isName: boolean; readonly columns: number };
type Spanning = Cell & { rows: number };

type Table = {
  /** Whether the first row names the columns; undefined before that row is written. */
  hasNames: boolean | undefined;
  /** Names of columns, some of which go over several, until the row below says whether it has names for each of these. */
  names: readonly string[] | undefined;
  /** By column: the cell that a row above extends into this row. */
  readonly spanning: Map<number, Spanning>;
  cells: Cell[];
  column: number;
  open:
    | {
        readonly held: ReturnType<PageLines["hold"]>;
        readonly element: string;
        readonly attributes: Attributes;
      }
    | undefined;
};

/** Nested tables that are read as tables; deeper ones are read as plain text. */
const MOST_DEPTH = 4;
const MOST_SPAN = 100;
/** In a row of more columns, cells are not repeated across the columns that they span. */
const MOST_COLUMNS = 200;
/** A longer cell is written once, however many columns and rows it spans. */
const MOST_REPEATED_CHARS = 80;
/** Characters of a row; a longer row is a layout. The second limit applies if a cell has headings or rows of its own. */
const MOST_ROW_CHARS = 2_000;
const MOST_NESTED_CHARS = 300;

/** Receives every element of a page. */
export type PageTables = {
  open(element: string, attributes: Attributes): void;
  close(element: string): void;
};

/** Writes each row of a data table as one line, and the cells of a layout table as separate blocks. */
export function openTables(lines: PageLines): PageTables {
  const tables: (Table | null)[] = [];
  const current = (): Table | null | undefined => tables.at(-1);
  const closeCell = (): void => {
    const table = current();
    if (table?.open === undefined) return;
    const { held, element, attributes } = table.open;
    table.open = undefined;
    const text = lines.take(held);
    const columns = spanOf(attributes["colspan"]);
    addSpanningCells(table);
    const cell = { text, isName: element === "th", columns };
    table.cells.push(cell);
    const rows = spanOf(attributes["rowspan"]);
    if (rows > 1) table.spanning.set(table.column, { ...cell, rows: rows - 1 });
    table.column += columns;
  };
  const closeRow = (): void => {
    const table = current();
    if (table === null || table === undefined) return;
    closeCell();
    if (table.cells.length === 0) return;
    addSpanningCells(table);
    const { cells } = table;
    table.cells = [];
    table.column = 0;
    if (cells.some(({ text }) => text !== "")) writeRow(lines, table, cells);
  };
  return {
    open(element, attributes) {
      if (element === "table") {
        tables.push(tables.length >= MOST_DEPTH ? null : newTable());
        return;
      }
      const table = current();
      if (table === null || table === undefined) return;
      if (element === "tr") closeRow();
      if (element !== "td" && element !== "th") return;
      closeCell();
      table.open = { held: lines.hold(), element, attributes };
    },
    close(element) {
      if (element === "td" || element === "th") closeCell();
      if (element === "tr") closeRow();
      if (element === "table") {
        closeRow();
        const table = tables.pop();
        if (table?.names !== undefined) writeNames(lines, table.names);
      }
    },
  };
}

const newTable = (): Table => ({
  hasNames: undefined,
  names: undefined,
  spanning: new Map(),
  cells: [],
  column: 0,
  open: undefined,
});

const spanOf = (value: string | undefined): number => {
  const span = Number(value ?? 1);
  return Number.isInteger(span) && span > 1 ? Math.min(span, MOST_SPAN) : 1;
};

/** Adds the cells that rows above extend into this row; a cell that spans several rows is repeated in each. */
function addSpanningCells(table: Table): void {
  for (;;) {
    const spanning = table.spanning.get(table.column);
    if (spanning === undefined || table.column > MOST_COLUMNS) return;
    const { text, columns, isName } = spanning;
    spanning.rows -= 1;
    if (spanning.rows === 0) table.spanning.delete(table.column);
    table.cells.push({ text: isShort(text) ? text : "", isName, columns });
    table.column += columns;
  }
}

const isShort = (text: string): boolean => text.length <= MOST_REPEATED_CHARS;

const lengthOf = (cells: readonly Cell[]): number =>
  cells.reduce((sum, { text }) => sum + text.length, 0);

const isNested = ({ text }: Cell): boolean => /^#{1,6} .*\n|^.* \| /m.test(text);

function writeRow(lines: PageLines, table: Table, cells: readonly Cell[]): void {
  const filled = cells.filter(({ text }) => text !== "");
  const chars = lengthOf(filled);
  const most = filled.some(isNested) ? MOST_NESTED_CHARS : MOST_ROW_CHARS;
  const isLayout = filled.length === 1 ? table.hasNames !== true : chars > most;
  lines.break(1);
  const above = table.names ?? [];
  const isSecond =
    !isLayout && above.length > 0 && cells.every(({ isName, text }) => isName || text === "");
  if (above.length > 0 && !isSecond) writeNames(lines, above);
  table.names = undefined;
  if (isLayout) {
    for (const { text } of filled) {
      lines.preformatted(text);
      lines.break(text.includes("\n") ? 2 : 1);
    }
    return;
  }
  const isFirst = table.hasNames === undefined;
  table.hasNames ??= filled.length > 1 && filled.every(({ isName }) => isName);
  const isWide = cells.reduce((sum, { columns }) => sum + columns, 0) > MOST_COLUMNS;
  const row = cells.flatMap(({ text, isName, columns }) => {
    const words = oneLine(text);
    const more = isName && cells.length > 1 && isShort(words) ? words : "";
    return [words, ...Array.from({ length: isWide ? 0 : columns - 1 }, () => more)];
  });
  if (isFirst && table.hasNames && cells.some(({ columns }) => columns > 1)) table.names = row;
  else if (isSecond) writeNames(lines, joinNames(above, row));
  else if (isFirst && table.hasNames) writeNames(lines, row);
  else lines.preformatted(table.hasNames ? barRow(row) : plainRow(row));
  lines.break(1);
}

function writeNames(lines: PageLines, names: readonly string[]): void {
  lines.preformatted(`${barRow(names)}\n${barRow(names.map(() => "---"))}`);
  lines.break(1);
}

/** What several columns share stands before the name of each; a name that goes over both rows stands once. */
const joinNames = (above: readonly string[], names: readonly string[]): string[] =>
  Array.from({ length: Math.max(above.length, names.length) }, (_, at) =>
    [...new Set([above[at] ?? "", names[at] ?? ""])].filter(Boolean).join(" "),
  );

const barRow = (row: readonly string[]): string => `| ${row.map(escapeBar).join(" | ")} |`;

const escapeBar = (text: string): string => text.replaceAll("|", "\\|");

/** Drops the empty cells at both ends. */
const plainRow = (row: readonly string[]): string => {
  const from = row.findIndex((text) => text !== "");
  return row.slice(from, row.findLastIndex((text) => text !== "") + 1).join(" | ");
};

/** Puts the text of a cell on one line; rows of a nested table are joined by slashes. */
const oneLine = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replace(/^#{1,6} /, "").replace(/^\| ?(.*) \|$/, "$1"))
    .filter((line) => line !== "" && !/^-{3}(?: \| -{3})*$/.test(line))
    .map((line) => (line.includes(" | ") ? `${line.replaceAll(" | ", "; ")} /` : line))
    .join(" ")
    .replaceAll(/ \/$/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
