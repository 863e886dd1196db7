import { append } from "../../../shared/group-by.ts";
import { walkXml } from "../reader/walk-xml.ts";
import { isOn } from "./docx-styles.ts";
import { GENERAL, numberText } from "./number-format.ts";
import type { NumberStyle } from "./number-format.ts";
import { markShifted, shiftOf } from "../../text/list-number.ts";
import { withSpans } from "./table-rows.ts";
import type { Cells, Span } from "./table-rows.ts";

/** Facts of the workbook that its cells need. */
export type CellFacts = {
  readonly strings: readonly string[];
  readonly styles: readonly NumberStyle[];
  /** Numbers of the styles that strike out. */
  readonly struck: ReadonlySet<number>;
  /** The year that days are counted from. */
  readonly start: 1900 | 1904;
  /** Whether the program left all calculation to whoever opens the workbook; then a 0 is no result. */
  readonly isUnreckoned: boolean;
};

export type SheetReader = {
  readonly row: (number: number, cells: Cells, isHidden: boolean) => void;
  /** Called before the rows. */
  readonly hideColumn: (column: number) => void;
  /** Called for each formula without a result. */
  readonly unreckoned: () => void;
};

type Cell = { column: number; type: string; style: number; value: string; formula: string };

const MOST_COLUMNS = 16_384;

/** Reads the rows of a sheet, without those that have no value of their own. */
export function readSheet(
  xml: string,
  facts: CellFacts,
  { row: take, hideColumn, unreckoned }: SheetReader,
): void {
  const merges = openMerges(xml);
  let row = 0;
  let isHidden = false;
  let cells = new Map<number, string>();
  let column = -1;
  let cell: Cell | undefined;
  let reading: "value" | "formula" | undefined;
  let spoken = 0;
  let shift = shiftOf(undefined);
  walkXml(xml, {
    open(name, { r, t = "n", s = "0", hidden, min, max, val }) {
      if (name === "row") {
        row = r === undefined ? row + 1 : Number(r);
        isHidden = isTrue(hidden);
        cells = new Map();
        column = -1;
      } else if (name === "c") {
        column = r === undefined ? column + 1 : columnOf(r);
        cell = { column, type: t, style: Number(s), value: "", formula: "" };
        shift = undefined;
      } else if (name === "rPh") spoken += 1;
      else if (name === "r") shift = undefined;
      else if (name === "vertAlign") shift ??= shiftOf(val);
      else if (name === "strike" && isOn(val)) shift = "struck";
      else if (name === "v" || (name === "t" && spoken === 0)) reading = "value";
      else if (name === "f") reading = "formula";
      else if (name === "col" && isTrue(hidden)) {
        const end = Math.min(Number(max), MOST_COLUMNS);
        for (let one = Number(min); one <= end; one += 1) hideColumn(one - 1);
      }
    },
    text(text) {
      if (cell !== undefined && reading !== undefined) cell[reading] += markShifted(text, shift);
    },
    close(name) {
      if (name === "c" && cell !== undefined) {
        if (hasNoResult(cell, facts)) {
          unreckoned();
          cell.value = "";
        }
        const value = valueOf(cell, facts);
        if (value.trim() !== "") cells.set(cell.column, value);
        cell = undefined;
      } else if (name === "row" && cells.size > 0) take(row, merges.fill(row, cells), isHidden);
      if (name === "rPh") spoken -= 1;
      reading = undefined;
    },
  });
}

const hasNoResult = ({ type, formula, value }: Cell, { isUnreckoned }: CellFacts): boolean =>
  formula !== "" && type === "n" && (value === "" || (isUnreckoned && value === "0"));

const isTrue = (attribute: string | undefined): boolean =>
  attribute === "1" || attribute === "true";

/** `C7` is in column 2. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of reference.toUpperCase()) {
    const digit = letter.charCodeAt(0) - 64;
    if (digit < 1 || digit > 26) break;
    column = column * 26 + digit;
  }
  return column - 1;
}

/** The value of a cell as its format shows it, and its formula. */
function valueOf(cell: Cell, facts: CellFacts): string {
  const isStruck = facts.struck.has(cell.style);
  const plain = markShifted(plainValue(cell, facts), isStruck ? "struck" : undefined);
  return cell.formula === "" ? plain : `${plain} (=${cell.formula})`.trimStart();
}

function plainValue({ type, value, style }: Cell, { strings, styles, start }: CellFacts): string {
  // Number("") is 0, which would be the first shared text.
  if (value === "") return "";
  switch (type) {
    case "s":
      return unescapeText(strings[Number(value)] ?? "");
    case "b":
      return value === "1" ? "TRUE" : "FALSE";
    case "n":
      return numberText(value, styles[style] ?? GENERAL, start);
    default:
      return unescapeText(value);
  }
}

/** Decodes escapes such as `_x000D_` (CR), which stand for characters that XML can't hold. */
const unescapeText = (text: string): string =>
  text.replaceAll(/_x([\dA-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );

/** Most merged cells that are open in one row. */
const MOST_OPEN = 100;

/** Repeats the value of a cell that spans several rows in each of them. */
function openMerges(xml: string): { fill(row: number, cells: Cells): Cells } {
  const starting = new Map<number, { column: number; last: number }[]>();
  const ranges = /mergeCell[^>]*?\bref="([A-Z]{1,3})(\d{1,7}):[A-Z]{1,3}(\d{1,7})"/g;
  const end = xml.lastIndexOf("sheetData>");
  for (const [, letters = "", first, last] of xml.slice(Math.max(0, end)).matchAll(ranges)) {
    if (first === last) continue;
    append(starting, Number(first), { column: columnOf(letters), last: Number(last) });
  }
  let open: Span[] = [];
  return {
    fill(row, cells) {
      if (starting.size === 0) return cells;
      open = open.filter(({ last }) => last >= row);
      const filled = withSpans(cells, open, row);
      for (const merge of starting.get(row) ?? []) {
        const value = cells.get(merge.column);
        if (value !== undefined && open.length < MOST_OPEN) open.push({ ...merge, value });
      }
      return filled;
    },
  };
}
