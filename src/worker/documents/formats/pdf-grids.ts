import { append } from "../../../shared/group-by.ts";
import { markdownTable } from "./flow-writer.ts";
import { isTurned, readUnits } from "./pdf-lines.ts";
import type { Line, Piece } from "./pdf-lines.ts";
import type { Rule } from "./pdf-shapes.ts";
import { isValue } from "./table-rows.ts";

/**
 * A table whose cells have a border below, as browsers draw them: level rules that meet at the edges of the columns, at several
 * heights.
 */
export type Grid = {
  /** The edges of its columns, from left to right, in points. */
  readonly edges: readonly number[];
  /** Its rules of one height each, from top to bottom. */
  readonly levels: readonly Level[];
};
type Level = {
  readonly y: number;
  /** The ends of its rules: fewer than the columns below a cell that goes over several of them. */
  readonly edges: readonly number[];
};

/** Points within which two ends are one. */
const SAME = 2;
const FEWEST_COLUMNS = 2;
const MOST_COLUMNS = 60;
/** Three are those of a table with one rule below its names, and others around it: rows without rules. */
const FEWEST_LEVELS = 4;

/** The grids of a page, from top to bottom. */
export function findGrids(rules: readonly Rule[]): Grid[] {
  const grids: { edges: readonly number[]; levels: Level[] }[] = [];
  for (const level of levelsOf(rules)) {
    const { edges } = level;
    const last = grids.at(-1);
    const [coarse, fine] = [last?.edges ?? [], edges].sort(byLength);
    if (last === undefined || !isWithin(coarse ?? [], fine ?? []))
      grids.push({ edges, levels: [level] });
    else {
      last.edges = fine ?? [];
      last.levels.push(level);
    }
  }
  return grids
    .filter(({ edges }) => edges.length > FEWEST_COLUMNS && edges.length <= MOST_COLUMNS)
    .filter(({ levels }) => levels.length + OPEN_ENDS >= FEWEST_LEVELS)
    .map((grid) => withOpenEnds(grid, rules))
    .filter(({ levels }) => levels.length >= FEWEST_LEVELS);
}

/** The upright rules between columns. */
const dividersOf = ({ edges }: Pick<Grid, "edges">, rules: readonly Rule[]): Rule[] =>
  rules.filter(({ x, toX }) => x === toX && edges.slice(1, -1).some((edge) => isSame(edge, x)));

const OPEN_ENDS = 2;

/** Adds the ends of upright rules beyond the first and the last level rule: the border of a table may lack its top or bottom. */
function withOpenEnds({ edges, levels }: Grid, rules: readonly Rule[]): Grid {
  const [top, bottom] = [levels[0]?.y ?? 0, levels.at(-1)?.y ?? 0];
  const between = dividersOf({ edges }, rules).filter(
    ({ y, toY }) => y < top + SAME && toY > bottom - SAME,
  );
  const highest = between.reduce((y, { toY }) => Math.max(y, toY), top);
  const lowest = between.reduce((end, { y }) => Math.min(end, y), bottom);
  return {
    edges,
    levels: [
      ...(highest > top + SAME ? [{ y: highest, edges }] : []),
      ...levels,
      ...(lowest < bottom - SAME ? [{ y: lowest, edges }] : []),
    ],
  };
}

const byLength = (one: readonly number[], other: readonly number[]): number =>
  one.length - other.length;

/** Whether the coarse edges are some of the fine ones, with the same ends: a cell may go over several columns. */
const isWithin = (coarse: readonly number[], fine: readonly number[]): boolean =>
  [0, -1].every((at) => isSame(coarse.at(at), fine.at(at))) &&
  coarse.every((edge) => fine.some((other) => isSame(edge, other)));

const isSame = (one = Infinity, other = -Infinity): boolean => Math.abs(one - other) < SAME;

/** A drawing with more rules is no table; it bounds the time for the pairs of level and upright rules. */
const MOST_RULES = 20_000;
const MOST_PAIRS = 4_000_000;

/** Rules of one height that meet, from top to bottom: the places where they meet, with both ends. */
function levelsOf(rules: readonly Rule[]): Level[] {
  if (rules.length > MOST_RULES) return [];
  const level = rules
    .filter(({ y, toY, x, toX }) => y === toY && toX - x > SAME)
    .sort((one, other) => other.y - one.y || one.x - other.x);
  const upright = rules.filter(({ x, toX }) => x === toX);
  const isSlow = level.length * upright.length > MOST_PAIRS;
  const levels: Level[] = [];
  for (let from = 0, end = 0; from < level.length; from = end) {
    const y = level[from]?.y ?? 0;
    while (end < level.length && y - (level[end]?.y ?? 0) <= SAME) end += 1;
    const own = level.slice(from, end).sort((one, other) => one.x - other.x);
    levels.push(
      ...meeting(own)
        .filter((edges) => edges.length <= MOST_COLUMNS + 1)
        .map((edges) => ({ y, edges: isSlow ? edges : withUpright(edges, y, upright) })),
    );
  }
  return levels;
}

/** Adds the upright rules that meet a level one between its ends. */
function withUpright(edges: number[], y: number, upright: readonly Rule[]): number[] {
  const [left = 0, right = 0] = [edges[0], edges.at(-1)];
  const added = upright.filter(
    (rule) => rule.y < y + SAME && rule.toY > y - SAME && rule.x > left && rule.x < right,
  );
  const all = [...edges, ...added.map(({ x }) => x)].sort((one, other) => one - other);
  return all.filter((x, at) => at === 0 || x - (all[at - 1] ?? 0) > SAME);
}

function meeting(level: readonly Rule[]): number[][] {
  const runs: number[][] = [];
  for (const { x, toX } of level) {
    const last = runs.at(-1);
    if (last === undefined || x - (last.at(-1) ?? 0) > SAME) runs.push([x, toX]);
    else if (toX - (last.at(-1) ?? 0) > SAME) last.push(toX);
  }
  return runs;
}

/**
 * The edges between the cells of grids without upright rules, as if they were drawn: a cell ends where the rule below it does.
 */
export const uprightOf = (grids: readonly Grid[], rules: readonly Rule[]): Rule[] =>
  grids
    .filter((grid) => dividersOf(grid, rules).length === 0)
    .flatMap(({ levels }) =>
      levels
        .slice(1)
        .flatMap(({ y, edges }, above) =>
          edges.slice(1, -1).map((x) => ({ x, toX: x, y, toY: levels[above]?.y ?? y })),
        ),
    );

/** Lines of a page outside of grids, or the rows of a grid. */
type Part = { readonly lines: readonly Line[] } | { readonly rows: readonly string[] };

/** Lines in one row; a cell of more is running text. */
const MOST_LINES = 12;
/** Font sizes from a line of the header to the rule below it, or to the next line of the header. */
const HEADER_GAP = 2;

/** Takes the rows of grids out of the lines of a page. A grid that shares a line with other text is none. */
export function cutGrids(lines: readonly Line[], grids: readonly Grid[]): Part[] {
  const parts: Part[] = [];
  let from = 0;
  for (const grid of grids) {
    const [top, bottom] = [grid.levels[0]?.y ?? 0, grid.levels.at(-1)?.y ?? 0];
    const first = lines.findIndex(({ y }, at) => at >= from && y < top);
    const end = lines.findLastIndex(({ y }) => y > bottom) + 1;
    if (first === -1 || end <= first) continue;
    const header = headerAbove(lines.slice(from, first), grid, top);
    const rows = rowsOf(lines.slice(first - header, end), grid);
    if (rows === undefined) continue;
    parts.push({ lines: lines.slice(from, first - header) }, { rows });
    from = end;
  }
  return [...parts, { lines: lines.slice(from) }];
}

/** The number of lines above the first rule that name its columns. */
function headerAbove(lines: readonly Line[], grid: Grid, top: number): number {
  let [count, below] = [0, top];
  for (const line of lines.toReversed()) {
    const columns = columnsOf(line, grid);
    if (columns === undefined || line.y - below > line.size * HEADER_GAP) break;
    // A line of one column is a part of a name only between a rule and other lines of names.
    if (columns.size < 2 && count === 0) break;
    count += 1;
    below = line.y;
  }
  return count;
}

/** The pieces of a line by their column; undefined if one lies outside, or over an edge. */
function columnsOf({ pieces }: Line, { edges }: Grid): Map<number, Piece[]> | undefined {
  const columns = new Map<number, Piece[]>();
  for (const piece of pieces) {
    const at = edges.findLastIndex((edge) => edge - SAME < piece.x);
    if (at === -1 || piece.end > (edges[at + 1] ?? -Infinity) + SAME) return undefined;
    append(columns, at, piece);
  }
  return columns;
}

function rowsOf(lines: readonly Line[], grid: Grid): string[] | undefined {
  const isRightToLeft = isTurned(lines.flatMap(({ pieces }) => pieces));
  const bands = new Map<number, Band>();
  for (const line of lines) {
    const columns = columnsOf(line, grid) ?? columnsOver(line, grid);
    if (columns === undefined) return undefined;
    const level = grid.levels.findIndex(({ y }) => y < line.y);
    const band: Band = bands.get(level) ?? { cells: new Map(), columns: [] };
    bands.set(level, band);
    band.columns.push(columns.size);
    for (const [at, pieces] of columns) {
      const read = pieces.map(({ units }) => readUnits(units, isRightToLeft));
      const text = (isRightToLeft ? read.reverse() : read).join(" ");
      append(band.cells, at, text);
    }
  }
  if ([...bands.values()].some(isOfSeveralRows)) return undefined;
  const rows = [...bands.values()].map(({ cells }) => cells);
  // Names that are turned by 90 degrees stand in the same rules, one a row.
  if (rows.every((cells) => cells.size < 2)) return undefined;
  const order = Array.from({ length: grid.edges.length - 1 }, (_, at) => at);
  if (isRightToLeft) order.reverse();
  return writeRows(rows.map((band) => order.map((at) => band.get(at)?.join(" ") ?? "")));
}

/** What stands between two rules: the lines of each cell, and how many cells each line has. */
type Band = { readonly cells: Map<number, string[]>; readonly columns: number[] };

/** Rows without a rule between them: two figures below each other, or two lines with all cells. A longer cell is running text. */
function isOfSeveralRows({ cells, columns }: Band): boolean {
  const texts = [...cells.values()];
  return (
    columns.filter((count) => count === cells.size).length > 1 ||
    texts.some((lines) => lines.length > MOST_LINES || lines.filter(isWholeFigure).length > 1)
  );
}

/** A year may end a day. */
export const isWholeFigure = (text: string): boolean =>
  isValue(text.trim().replace(/[²³]$/, "")) && !/[-–/.,]$|^(?:19|20)\d\d$/.test(text.trim());

/** A cell over several columns is one of the first; undefined for text outside of the grid. */
function columnsOver({ pieces }: Line, { edges }: Grid): Map<number, Piece[]> | undefined {
  const [first = 0, last = 0] = [edges[0], edges.at(-1)];
  if (pieces.some(({ x, end }) => x < first - SAME || end > last + SAME)) return undefined;
  return new Map(
    pieces.map((piece) => [edges.findLastIndex((edge) => edge - SAME < piece.x), [piece]]),
  );
}

/** With names and empty cells as a table in Markdown; else a row a line. */
function writeRows(rows: readonly (readonly string[])[]): string[] {
  const [header = [], ...rest] = rows;
  const isNamed = header.every((name, at) => at === 0 || name !== "");
  const hasEmpty = rest.some((row) => row.includes(""));
  if (isNamed && hasEmpty) return markdownTable(rows).trimEnd().split("\n");
  return rows.map((row) => row.join(" | "));
}
