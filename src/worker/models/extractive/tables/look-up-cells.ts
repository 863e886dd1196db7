import { expectedAnswer } from "../../../question/expected-answer.ts";
import { foldWord } from "../../../../shared/text/normalise-text.ts";
import { areAlike, heldBy, isUnspaced, readQuestion } from "../../../text/tables/terms.ts";
import type { Asked, Term } from "../../../text/tables/terms.ts";
import { readTables } from "../../../text/tables/read-tables.ts";
import type { Table, TableRow } from "../../../text/tables/read-tables.ts";
import type { EvidenceBlock } from "../../model.ts";
import { countHolders } from "../../../text/word-vectors.ts";

/** The result of looking up a question in tables. */
export type CellLookUp = {
  /** The cells that answer, one per line; empty if no table has the row and the column. */
  readonly found: readonly { readonly text: string; readonly number: number }[];
  /** By number of the block: lines of tables that have only a part of what is asked, and so do not answer. */
  readonly lacking: ReadonlyMap<number, ReadonlySet<number>>;
};

/** More rows than this do not answer a question for one cell. */
const MOST_ROWS = 3;

/**
 * Looks up the cell that a question asks for: the row by a cell that occurs in the question, the column by its name or by the
 * requested kind of thing. A table that lacks a name or a number of the question is skipped.
 */
export function lookUpCells(question: string, evidence: readonly EvidenceBlock[]): CellLookUp {
  const asked = readQuestion(question);
  const expected = expectedAnswer(question);
  const all = evidence.flatMap((block) => {
    const words = [block.text, block.path, block.title ?? "", block.headingPath ?? ""];
    const stems = new Set(words.flatMap(asked.stemsOf));
    const said = heldBy([...stems], asked, areAlike);
    return readTables(block.text).map((table) => ({
      ...{ block, table },
      match: matchTable(table, { asked, expected, said }),
    }));
  });
  const answering = all.filter(({ match }) => match.cells.length > 0);
  const most = Math.max(...answering.map(({ match }) => match.held));
  const best = answering.filter(({ match }) => match.held === most);
  const cells = best.flatMap(({ block, match }) =>
    match.cells.map((text) => ({ text, number: block.number })),
  );
  const lacking = new Map<number, Set<number>>();
  for (const { block, table, match } of all) {
    if (!match.isLacking) continue;
    const lines = lacking.get(block.number) ?? new Set();
    for (const line of table.lines) lines.add(line);
    lacking.set(block.number, lines);
  }
  return { found: best.length > MOST_ROWS ? [] : cells, lacking };
}

/** If a table lacks more words of the question, the question is about something else, or uses other words. */
const MOST_LACKING = 2;

type Match = {
  readonly cells: readonly string[];
  /** Number of words of the question that the rows and the column have. */
  readonly held: number;
  readonly isLacking: boolean;
};

type MatchContext = {
  readonly asked: Asked;
  readonly expected: ReturnType<typeof expectedAnswer>;
  /** The terms that occur anywhere in the block. */
  readonly said: ReadonlySet<number>;
};

/** A row with the columns whose cells occur in the question, and the terms in these cells. */
type KeyedRow = {
  readonly row: TableRow;
  readonly keys: readonly number[];
  readonly held: ReadonlySet<number>;
};

function matchTable(table: Table, against: MatchContext): Match {
  const { asked, said } = against;
  const rows = findRows(table, against);
  const columns = columnFor(table, rows, against);
  const held = new Set([...(rows[0]?.held ?? []), ...columns.held]);
  const left = asked.terms.filter(({ isSmall }, at) => !isSmall && !held.has(at) && !said.has(at));
  const isWhole = !left.some(({ isName }) => isName) && left.length <= columns.mostLeft;
  const isFound = rows.length > 0 && rows.length <= MOST_ROWS && columns.at.length > 0;
  if (isFound && isWhole) {
    const cells = rows.flatMap(({ row, keys }) =>
      columns.at.flatMap((at) => shownCells(table, row, [...keys, at])),
    );
    return { cells, held: held.size, isLacking: false };
  }
  const isLacking =
    left.length > 0 &&
    left.length <= MOST_LACKING &&
    (isFound || (rows.length === 0 ? columns.isNamed : asksOther(rows, columns, { left, asked })));
  return { cells: [], held: held.size, isLacking };
}

/** "The engine of the Petrel", asked of a table without engines: the missing word stands before the name of the row. */
function asksOther(
  [row]: readonly KeyedRow[],
  { at, mostLeft }: Column,
  { left, asked }: { readonly left: readonly Term[]; readonly asked: Asked },
): boolean {
  if (at.length > 0 || left.length <= mostLeft) return false;
  const last = asked.terms.findLastIndex((term) => left.includes(term));
  return left.some(({ word }) => isUnspaced(word)) || last < Math.min(...(row?.held ?? []));
}

/** Longer cells are sentences and do not name a row. */
const MOST_KEY_WORDS = 8;

/** The rows with the most words of the question. */
function findRows(
  { rows, columns }: Table,
  { asked, expected }: MatchContext,
): readonly KeyedRow[] {
  const stems = rows.map(({ cells }) => cells.map(asked.stemsOf));
  const names = columns.map(asked.stemsOf);
  const holders = columns.map((_, column) => countHolders(stems.map((row) => row[column] ?? [])));
  const keyed = rows.flatMap((row, at): KeyedRow[] => {
    const found = row.cells.map((cell, column) => {
      const own = stems[at]?.[column] ?? [];
      const name = names[column] ?? [];
      return keyTerms({ cell, own, holders: holders[column] ?? new Map(), name }, asked);
    });
    const keys = found.flatMap((terms, column) => (terms.size > 0 ? [column] : []));
    if (keys.length === 0) {
      const isAsked = isOfKind(row.cells[0] ?? "", expected.kind, asked);
      return isAsked ? [{ row, keys: [0], held: new Set() }] : [];
    }
    const named = keys.flatMap((column) => [...heldBy(names[column] ?? [], asked, areAlike)]);
    return [{ row, keys, held: new Set([...found.flatMap((terms) => [...terms]), ...named]) }];
  });
  const most = keyed.reduce((sum, { held }) => Math.max(sum, held.size), 0);
  return keyed.filter(({ held }) => held.size === most);
}

type KeyCell = {
  readonly cell: string;
  readonly own: readonly string[];
  /** For each word, the number of cells in its column that contain it. */
  readonly holders: ReadonlyMap<string, number>;
  readonly name: readonly string[];
};

/** The terms by which a cell names its row: all of its words, or at least half of them if no other row has these. Else empty. */
function keyTerms({ cell, own, holders, name }: KeyCell, asked: Asked): ReadonlySet<number> {
  const none = new Set<number>();
  if (cell === "" || own.length > MOST_KEY_WORDS) return none;
  const isMet = (stem: string): boolean =>
    asked.terms.some(({ word, isSmall }) => !isSmall && isWordOf(stem, word));
  const met = own.filter(isMet);
  if (met.length === 0) return none;
  const held = heldBy(met, asked, isWordOf);
  const isFigure = own.every((stem) => /^\p{N}{1,2}$/u.test(stem));
  if (isFigure && heldBy(name, asked, areAlike).size === 0) return none;
  if (met.length === own.length) return held;
  const isPart =
    met.length * 2 >= own.length && own.every((stem) => isMet(stem) || !/\p{N}/u.test(stem));
  const isShared = met.every((stem) => (holders.get(stem) ?? 0) > 1);
  return isPart && !isShared ? held : none;
}

/** Whether two words are equal except for an ending. */
const isWordOf = (stem: string, word: string): boolean =>
  stem === word ||
  (isUnspaced(stem) && stem.length > 1 && word.includes(stem)) ||
  (Math.min(stem.length, word.length) > 4 &&
    Math.abs(stem.length - word.length) <= 2 &&
    !/\p{N}/u.test(stem + word) &&
    (stem.startsWith(word) || word.startsWith(stem)));

type Column = {
  readonly at: readonly number[];
  readonly held: ReadonlySet<number>;
  /** Whether the question names one or more columns. */
  readonly isNamed: boolean;
  /** How many words of the question may occur nowhere: the verbs around a named thing. */
  readonly mostLeft: number;
};

const VERBS_LEFT = 2;

/** The column that a question names, or else the only one with the requested kind of thing. */
function columnFor(
  { columns, rows: all }: Table,
  rows: readonly KeyedRow[],
  against: MatchContext,
): Column {
  const { asked, expected } = against;
  const [first] = rows;
  const used = first?.held ?? new Set<number>();
  const free = columns.flatMap((name, at) => {
    const cells = rows.map(({ row }) => row.cells[at] ?? "");
    const isFree =
      first?.keys.includes(at) !== true &&
      cells.every((cell) => cell !== "" && !isOtherKind(cell, against));
    return isFree && name !== "" ? [{ at, name }] : [];
  });
  const named = free
    .map(({ at, name }) => {
      const stems = asked.stemsOf(name);
      const terms = [...heldBy(stems, asked, areAlike)].filter((term) => !used.has(term));
      return { at, terms, share: terms.length / Math.max(1, stems.length) };
    })
    .filter(({ terms }) => terms.length > 0)
    .sort((one, other) => other.terms.length - one.terms.length || other.share - one.share);
  const [best, next] = named;
  if (best !== undefined) {
    const isOne = next?.terms.length !== best.terms.length || next.share !== best.share;
    return {
      at: isOne ? [best.at] : [],
      held: new Set(best.terms),
      isNamed: true,
      mostLeft: VERBS_LEFT,
    };
  }
  const none = new Set<number>();
  const listed = free.filter(({ name }) => isOfKind(name, expected.kind, asked));
  const shaped = free.filter(({ at }) =>
    all.every(({ cells }) => fitsShape(cells[at] ?? "", against)),
  );
  const [only, ...more] = listed.length > 0 ? listed : shaped;
  const isDone = LIST_OF[expected.kind ?? ""] !== undefined && expected.kind !== "person";
  const isOne = only !== undefined && more.length === 0;
  return { at: isOne ? [only.at] : [], held: none, isNamed: false, mostLeft: isDone ? 1 : 0 };
}

/** The list of column names for each requested kind of thing. */
const LIST_OF: Readonly<Record<string, "person" | "time" | "place" | "money">> = {
  ...{ person: "person", time: "time", date: "time", "clock time": "time" },
  ...{ place: "place", money: "money" },
};

function isOfKind(name: string, kind: string | null, { lists, stemsOf }: Asked): boolean {
  const list = LIST_OF[kind ?? ""];
  if (list === undefined) return false;
  const stems = stemsOf(name);
  return lists[list].some((word) =>
    word.startsWith("-")
      ? stems.some((stem) => stem.length >= word.length && stem.endsWith(foldWord(word.slice(1))))
      : stems.includes(stemsOf(word)[0] ?? word),
  );
}

const SHAPED: ReadonlySet<string> = new Set([
  "person",
  "duration",
  "phone number",
  "mail address",
  "percentage",
]);

const fitsShape = (cell: string, { expected }: MatchContext): boolean =>
  SHAPED.has(expected.kind ?? "") && expected.isIn(cell);

const OF_FIGURES: ReadonlySet<string> = new Set(["money", "amount", "count", "percentage", "age"]);

/** Whether a cell can't be of the requested kind. */
function isOtherKind(cell: string, { expected }: MatchContext): boolean {
  const kind = expected.kind ?? "";
  if (kind === "person") return /\p{N}/u.test(cell);
  if (OF_FIGURES.has(kind)) return !/\p{N}/u.test(cell);
  return LIST_OF[kind] === "time" && !expected.isIn(cell);
}

/** The cells of a row with the names of their columns: on one line, or as the lines of a record. */
function shownCells(
  { layout, columns }: Table,
  { cells }: TableRow,
  at: readonly number[],
): string[] {
  const shown = [...new Set(at)]
    .sort((one, other) => one - other)
    .map((column) => ({ name: columns[column] ?? "", cell: cells[column] ?? "" }));
  const said = shown.map(({ name, cell }) => (name === "" ? cell : `${name}: ${cell}`));
  if (layout === "records") return said;
  const isUnnamed = shown[0]?.name === "";
  return [isUnnamed ? `${said[0] ?? ""} — ${said.slice(1).join("; ")}` : said.join("; ")];
}
