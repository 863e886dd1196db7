import { foldWord, normaliseText } from "../../../shared/text/normalise-text.ts";
import { totalsOfTables } from "../../../shared/text/word-lists.ts";
import { addColumn } from "./add-column.ts";
import { readTables } from "./read-tables.ts";
import type { Table, TableRow } from "./read-tables.ts";
import { areAlike, heldBy, readQuestion } from "./terms.ts";
import type { Asked } from "./terms.ts";

type Piece = {
  readonly number: number;
  readonly path: string;
  readonly text: string;
  /** Whether it is all of its file. */
  readonly isWhole?: boolean;
};

export type TableFigure =
  | {
      readonly kind: "computed";
      /** States the result, the rows and the file it comes from, and the rows left out. */
      readonly text: string;
      readonly number: number;
      /** UTF-16 offsets of its rows in the text of the piece. */
      readonly start: number;
      readonly end: number;
    }
  /** The question asks for a count or a sum that is not certain. */
  | { readonly kind: "refused" };

/**
 * Counts rows or adds up a column, if a question asks for that: of one table that it names by its file or caption, and that
 * was read whole. Null if it asks for neither.
 */
export function figureOverTable(question: string, evidence: readonly Piece[]): TableFigure | null {
  const words = normaliseText(question).toLowerCase();
  const about = evidence.reduce((left, { path }) => left.replaceAll(fileOf(path), " "), words);
  const asked = readQuestion(about);
  const what = wantedOf(asked);
  if (what === null) return null;
  const meant = evidence.flatMap((piece) =>
    readTables(piece.text).flatMap((table) => {
      const name = table.names.find((one) => isSaid(one, asked));
      const rest = name === undefined ? about : about.replace(name.toLowerCase(), " ");
      const column = columnOf(table, what, readQuestion(rest));
      const isNamed = name !== undefined || words.includes(fileOf(piece.path));
      return column === null ? [] : [{ piece, table, column, isNamed }];
    }),
  );
  if (meant.length === 0) return null;
  const named = meant.filter(({ isNamed }) => isNamed);
  const [one, ...others] = named;
  if (one === undefined || others.length > 0) return { kind: "refused" };
  const { piece, table, column } = one;
  const counted = table.rows.filter((row) => !isTotal(row));
  const [first, last] = [counted[0], counted.at(-1)];
  const isUnread = piece.isWhole !== true || table.torn > 0;
  if (isUnread || first === undefined || last === undefined) return { kind: "refused" };
  const figure = what === "rows" ? ofRows(counted) : addColumn(counted, column);
  if (figure === null) return { kind: "refused" };
  const { said } = asked.lists;
  const [from, to] = [first, last].map(({ cells }) => keyOf(cells));
  const left = table.rows.filter((row) => isTotal(row) || figure.empty.has(row));
  const name = piece.path.slice(piece.path.lastIndexOf("/") + 1);
  const head = what === "rows" ? said.count : `${said.sum} ${table.columns[column] ?? ""}`;
  const parts = [
    `${said.rows}: ${counted.length - figure.empty.size}`,
    `${said.first} ${from ?? ""} ${said.last} ${to ?? ""}`,
    `${said.left_out}: ${[left.length, ...left.map(({ cells }) => keyOf(cells))].join(" ")}`,
    name,
  ];
  const text = `${head}: ${figure.text} (${parts.join(", ")})`;
  const start = lineStart(piece.text, first.lines[0] ?? 0);
  const end = lineStart(piece.text, (last.lines.at(-1) ?? 0) + 1);
  return { kind: "computed", text, number: piece.number, start, end };
}

function lineStart(text: string, line: number): number {
  const breaks = [...text.matchAll(/\r\n|\n|\r/g)];
  const before = breaks[line - 1];
  return line === 0 ? 0 : before === undefined ? text.length : before.index + before[0].length;
}

const ofRows = (rows: readonly TableRow[]) => ({
  text: String(rows.length),
  empty: new Set<TableRow>(),
});

const keyOf = (cells: readonly string[]): string => cells.find((cell) => cell !== "") ?? "";

/** A count of rows, or the sum of a column. */
type Wanted = "rows" | "sum";

function wantedOf({ text, lists }: Asked): Wanted | null {
  const holds = (words: readonly string[]): boolean =>
    words.some((word) => text.includes(` ${foldWord(word)} `));
  if (holds(lists.sum)) return "sum";
  const isJapanese = lists.rows.some((row) => text.includes(` 何${row} `));
  return isJapanese || holds(lists.count) ? "rows" : null;
}

/** The column that a question means: for a count the first one, if rows or the things it names are counted; else null. */
function columnOf({ columns }: Table, what: Wanted, asked: Asked): number | null {
  const { terms, lists, stemsOf } = asked;
  const cues = new Set([...lists.sum, ...lists.count, ...lists.rows].flatMap(stemsOf));
  const rest = { ...asked, terms: terms.map((term) => (cues.has(term.word) ? SMALL : term)) };
  const named = columns.flatMap((name, at) => {
    const whole = heldBy(stemsOf(name), asked, areAlike).size;
    const held = heldBy(stemsOf(name), rest, areAlike).size;
    return held > 0 ? [{ at, held: whole }] : [];
  });
  const most = named.reduce((sum, { held }) => Math.max(sum, held), 0);
  const [best, ...others] = named.filter(({ held }) => held === most);
  if (what === "sum") return best === undefined || others.length > 0 ? null : best.at;
  const isRows = lists.rows.some(
    (word) => asked.text.includes(` ${foldWord(word)} `) || asked.text.includes(` 何${word} `),
  );
  const first = columns.findIndex((name) => name !== "");
  return isRows || (best?.at === first && others.length === 0) ? first : null;
}

const SMALL = { word: "", isName: false, isSmall: true } as const;

const fileOf = (path: string): string =>
  normaliseText(path.slice(path.lastIndexOf("/") + 1)).toLowerCase();

/** Whether a question holds the name of a table: a heading, or the line above it. */
function isSaid(name: string, { text }: Asked): boolean {
  const words = readQuestion(name).text;
  return words.trim() !== "" && text.includes(words);
}

const MOST_TOTAL_WORDS = 3;

/** Whether a row is a total, by its name. */
function isTotal({ cells }: TableRow): boolean {
  const words = foldWord(keyOf(cells)).match(/[\p{L}\p{N}-]+/gu) ?? [];
  return words.length <= MOST_TOTAL_WORDS && totalsOfTables().has(words[0] ?? "");
}
