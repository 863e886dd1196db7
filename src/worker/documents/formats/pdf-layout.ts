import type { Frame } from "./pdf-frames.ts";
import { cutGrids, findGrids, isWholeFigure, uprightOf } from "./pdf-grids.ts";
import { isTurned, linesOf, readUnits } from "./pdf-lines.ts";
import type { Line, Piece } from "./pdf-lines.ts";
import { findTables, textOfCell } from "./pdf-tables.ts";
import type { Row } from "./pdf-tables.ts";
import type { Rule } from "./pdf-shapes.ts";

/** The lines of a page from top to bottom, column by column, independent of the order of drawing. */
export function frameLines({ glyphs, rules }: Frame): string[] {
  const grids = findGrids(rules);
  const all = linesOf(glyphs, [...rules, ...uprightOf(grids, rules)]);
  const parts = cutGrids(all, grids)
    .map((part) => ("rows" in part ? part.rows : flowLines(part.lines, rules)))
    .filter((lines) => lines.length > 0);
  return parts.flatMap((lines, at) => (at > 0 ? ["", ...lines] : lines));
}

function flowLines(flow: readonly Line[], rules: readonly Rule[]): string[] {
  const lines = inColumns(flow, 0).map((line, at, all): Row => ({
    ...line,
    cells: cellsOf(all, at),
    top: line.y,
  }));
  const bands = bandsOf(lines, rules);
  const rows = bands.flatMap((band, at) =>
    isWrappedRow(band, [bands[at - 1], bands[at + 1]]) ? [joinWrappedRow(band)] : band,
  );
  let above: Row | undefined;
  return findTables(rows).flatMap(({ rows: own, table }) =>
    own.flatMap((row, at) => {
      const isApart =
        above !== undefined && (above.y - row.y > row.size * PARAGRAPH || row.y > above.y + 0.5);
      above = row;
      const text = table === undefined ? [textOf(row)] : at === 0 ? table : [];
      return isApart && text.length > 0 ? ["", ...text] : text;
    }),
  );
}

/** Line heights; a larger distance between two lines begins a new paragraph. */
const PARAGRAPH = 1.9;

/** Font sizes; a wider gap separates two cells. */
const CELL_GAP = 1.5;

function textOf({ cells }: Row): string {
  const isRightToLeft = isTurned(cells);
  const texts = cells.map((cell) => textOfCell(cell, isRightToLeft));
  return (isRightToLeft ? texts.reverse() : texts).join(" | ");
}

function cellsOf(lines: readonly Line[], at: number): Piece[] {
  const cells: Piece[] = [];
  const pieces = lines[at]?.pieces ?? [];
  pieces.forEach((piece, place) => {
    const before = pieces[place - 1];
    const last = cells.pop();
    if (last === undefined || before === undefined) cells.push(piece);
    else if (partsCells(lines, at, [before, piece])) cells.push(last, piece);
    else cells.push({ x: last.x, end: piece.end, units: [...last.units, " ", ...piece.units] });
  });
  return cells;
}

/** Factor of the usual distance; more white than that separates two rows of a table. */
const MORE_WHITE = 1.25;

/** Font sizes; a line that is closer stands beside the other one, not below it. */
const BESIDE = 0.8;

/** Groups lines that stand closer together than others, and that no rule separates. */
function bandsOf(lines: readonly Row[], rules: readonly Rule[]): Row[][] {
  const level = rules.filter(({ y, toY }) => y === toY);
  const down = lines.map((line, at) => (lines[at - 1]?.y ?? Infinity) - line.y);
  const bands: Row[][] = [];
  lines.forEach((line, at) => {
    const above = lines[at - 1];
    const white = down[at] ?? 0;
    const around = down
      .slice(Math.max(1, at - 2), at + 3)
      .filter((height) => height > 0)
      // A cell beside two lines of another one stands halfway between them.
      .map((height) => (height < line.size * BESIDE ? height * 2 : height));
    const isOpen =
      above !== undefined &&
      white > 0 &&
      white <= line.size * PARAGRAPH &&
      white <= Math.min(...around) * MORE_WHITE &&
      !level.some(
        ({ x, toX, y }) =>
          y < above.y && y > line.y + line.size * 0.3 && x < endOf(line) && toX > startOf(line),
      );
    if (isOpen) bands.at(-1)?.push(line);
    else bands.push([line]);
  });
  return bands;
}

const startOf = ({ pieces }: Line): number => pieces[0]?.x ?? Infinity;
const endOf = ({ pieces }: Line): number => pieces.at(-1)?.end ?? -Infinity;

/** Whether a band of lines is one row of a table with cells of several lines; then a neighbouring band has the same columns. */
function isWrappedRow(
  band: readonly Row[],
  beside: readonly (readonly Row[] | undefined)[],
): boolean {
  const isStaggered = band.some(
    ({ y, size }, at) => (band[at - 1]?.y ?? Infinity) - y < size * BESIDE,
  );
  const isOfOne = band.every(({ cells }) => cells.length === 1);
  if (band.length === 1 || holdsFigures(band)) return false;
  if (isStaggered ? !isAroundCell(band) : isOfOne) return false;
  const columns = columnsOf(band);
  const full = band.filter(({ cells }) => cells.length === columns.length);
  if (columns.length < 2 || full.length > 1) return false;
  return beside.some((other) => {
    const starts = columnsOf(other ?? []);
    return (
      starts.length > 1 &&
      starts.filter(({ x, end }) =>
        columns.some(
          (one) => Math.abs(one.x - x) < SAME_EDGE || Math.abs(one.end - end) < SAME_EDGE,
        ),
      ).length > 1
    );
  });
}

/** Whether the lines stand around a cell of one line that is centred in their height. */
function isAroundCell(band: readonly Row[]): boolean {
  const middle = ((band[0]?.y ?? 0) + (band.at(-1)?.y ?? 0)) / 2;
  const cells = band.flatMap((row) => row.cells.map((cell) => ({ ...row, cell })));
  return cells.some(
    ({ y, size, cell }) =>
      Math.abs(y - middle) < size * 0.3 &&
      !cells.some((other) => other.y !== y && isOver(other.cell, cell)),
  );
}

const isOver = (one: Piece, other: Piece): boolean => one.x < other.end && one.end > other.x;

/** Whether two lines have figures in the same column, which makes them two rows. A year does not count: it may end a date. */
function holdsFigures(band: readonly Row[]): boolean {
  const figures: Piece[] = [];
  for (const { cells } of band) {
    const own = cells.filter(({ units }) => isWholeFigure(units.join("")));
    if (own.some((one) => figures.some((other) => isOver(one, other)))) return true;
    figures.push(...own);
  }
  return false;
}

/** The columns of a band: cells that overlap horizontally are joined. */
function columnsOf(band: readonly Row[]): Piece[] {
  const columns: Piece[] = [];
  for (const cell of band.flatMap(({ cells }) => cells)) {
    const over = columns.filter((column) => isOver(column, cell));
    const rest = columns.filter((column) => !over.includes(column));
    const all = [...over, cell];
    columns.splice(0, columns.length, ...rest, {
      x: Math.min(...all.map(({ x }) => x)),
      end: Math.max(...all.map(({ end }) => end)),
      units: all.flatMap(({ units }, at) => (at === 0 ? units : [" ", ...units])),
    });
  }
  return columns.sort((one, other) => one.x - other.x);
}

function joinWrappedRow(band: readonly Row[]): Row {
  const isRightToLeft = isTurned(band.flatMap(({ cells }) => cells));
  const read = band.map((row) => ({
    ...row,
    // Each line is put into reading order by itself, before the lines of a cell are joined.
    cells: row.cells.map((cell) => ({ ...cell, units: [readUnits(cell.units, isRightToLeft)] })),
  }));
  const cells = columnsOf(read).map((cell) => ({ ...cell, text: cell.units.join("") }));
  const [y, top] = [band.at(-1)?.y ?? 0, band[0]?.y ?? 0];
  return { y, top, size: band[0]?.size ?? 0, pieces: [], bars: band[0]?.bars ?? [], cells };
}

const NEAR_LINES = 3;
const SAME_EDGE = 2;

/** Whether a gap separates cells: it is wide, a rule stands in it, or a wide gap of a nearby line ends at the same edge. */
function partsCells(
  lines: readonly Line[],
  at: number,
  [left, right]: readonly [Piece, Piece],
): boolean {
  const line = lines[at];
  if (line === undefined || isWideGap(line, left, right)) return true;
  if (line.bars.some((x) => x > left.end - 1 && x < right.x + 1)) return true;
  return lines.slice(Math.max(0, at - NEAR_LINES), at + NEAR_LINES + 1).some(
    (other) =>
      other !== line &&
      other.pieces.some((piece, place) => {
        const before = other.pieces[place - 1];
        return (
          before !== undefined &&
          isWideGap(other, before, piece) &&
          (Math.abs(piece.x - right.x) < SAME_EDGE || Math.abs(piece.end - right.end) < SAME_EDGE)
        );
      }),
  );
}

const hasCells = (line: Line): boolean =>
  line.pieces.some((piece, at) => at > 0 && isWideGap(line, line.pieces[at - 1] ?? piece, piece));

const isWideGap = ({ size }: Line, left: Piece, right: Piece): boolean =>
  right.x - left.end > size * CELL_GAP;

const FEWEST_LINES = 5;
const DEEPEST = 4;

type Run = { readonly from: number; readonly to: number; readonly x: number };

/** Orders columns of running text: lines above them, the left column, the right column, lines below them. */
function inColumns(lines: readonly Line[], depth: number): Line[] {
  const run = depth < DEEPEST ? widestRun(lines, 0) : undefined;
  if (run === undefined) return [...lines];
  const { from, to, x } = run;
  const within = lines.slice(from, to);
  const sides = [sideOf(within, x, "left"), sideOf(within, x, "right")];
  if (isTurned(within.flatMap(({ pieces }) => pieces))) sides.reverse();
  return [
    ...inColumns(lines.slice(0, from), depth),
    ...sides.flatMap((side) => inColumns(side, depth + 1)),
    ...inColumns(lines.slice(to), depth),
  ];
}

function sideOf(lines: readonly Line[], x: number, side: "left" | "right"): Line[] {
  return lines.flatMap((line) => {
    const pieces = line.pieces.filter((piece) => (side === "left" ? piece.end <= x : piece.x >= x));
    return pieces.length === 0 ? [] : [{ ...line, pieces }];
  });
}

/** The longest run of lines with text on both sides of a gutter that no line crosses. */
function widestRun(lines: readonly Line[], depth: number): Run | undefined {
  if (lines.length < FEWEST_LINES) return undefined;
  const judged = new Map<string, boolean>();
  let best: { readonly run: Run; readonly count: number } | undefined;
  for (const x of gutters(lines)) {
    for (const run of runsAround(lines, x)) {
      const [left, right, pieces] = countBeside(lines, run);
      if (Math.min(left, right) < FEWEST_LINES || left + right <= (best?.count ?? 0)) continue;
      const within = lines.slice(run.from, run.to);
      const key = `${run.from} ${run.to} ${pieces}`;
      const areColumns =
        judged.get(key) ??
        (["left", "right"] as const).every((side) => isProse(sideOf(within, x, side), depth));
      judged.set(key, areColumns);
      if (areColumns) best = { run, count: left + right };
    }
  }
  return best?.run;
}

/** Points; edges that are closer count as one. */
const EDGE = 4;

/** Possible gutters: places beside an edge that several lines share. */
function gutters(lines: readonly Line[]): number[] {
  const edges = new Map<number, { count: number; x: number }>();
  const add = (side: 1 | -1, x: number): void => {
    const key = Math.floor(x / EDGE) * side;
    const edge = edges.get(key);
    if (edge === undefined) edges.set(key, { count: 1, x: x + side });
    else {
      edge.count += 1;
      edge.x = side === 1 ? Math.max(edge.x, x + side) : Math.min(edge.x, x + side);
    }
  };
  for (const { pieces } of lines) {
    for (const { x, end } of pieces) {
      add(-1, x);
      add(1, end);
    }
  }
  return [...edges.values()].filter(({ count }) => count >= FEWEST_LINES - 2).map(({ x }) => x);
}

const extentOf = (lines: readonly Line[]): [number, number] => [
  Math.min(...lines.map(({ pieces }) => pieces[0]?.x ?? Infinity)),
  Math.max(...lines.map(({ pieces }) => pieces.at(-1)?.end ?? 0)),
];

/** Runs of lines that a gutter does not cross. */
function runsAround(lines: readonly Line[], x: number): Run[] {
  const runs: Run[] = [];
  let from = 0;
  for (let at = 0; at <= lines.length; at += 1) {
    if (lines[at]?.pieces.every((piece) => piece.end <= x || piece.x >= x) === true) continue;
    if (at - from >= FEWEST_LINES) runs.push(withoutTable(lines, { from, to: at, x }));
    from = at + 1;
  }
  return runs;
}

/** Cuts off a table below the columns whose own gap fits the gutter by chance: white stands above it, and a side has cells. */
function withoutTable(lines: readonly Line[], run: Run): Run {
  const isApart = ({ y, size }: Line, at: number): boolean =>
    at > run.from && (lines[at - 1]?.y ?? 0) - y > size * PARAGRAPH;
  const to = lines.slice(0, run.to).findLastIndex(isApart);
  if (to === -1) return run;
  const rest = lines.slice(to, run.to);
  const isTable = [sideOf(rest, run.x, "left"), sideOf(rest, run.x, "right")].flat().some(hasCells);
  return isTable ? withoutTable(lines, { ...run, to }) : run;
}

/** Counts lines that begin left of a gutter, lines that end right of it, and pieces left of it. */
function countBeside(lines: readonly Line[], { from, to, x }: Run): [number, number, number] {
  let [left, right, inLeft] = [0, 0, 0];
  for (let at = from; at < to; at += 1) {
    const pieces = lines[at]?.pieces ?? [];
    if ((pieces[0]?.end ?? Infinity) <= x) left += 1;
    if ((pieces.at(-1)?.x ?? 0) >= x) right += 1;
    for (const { end } of pieces) if (end <= x) inLeft += 1;
  }
  return [left, right, inLeft];
}

/** Share of the width of a column that running text fills; lines of a table are shorter. */
const FILLED = 0.55;
const MOST_CELLS = 0.25;
const FEWEST_WORDS = 3.5;
const MOSTLY = 0.6;

/** Whether lines are running text: they fill their width and have few cells, or consist of columns that do. */
function isProse(lines: readonly Line[], depth: number): boolean {
  const [start, end] = extentOf(lines);
  const filled =
    lines.reduce((sum, line) => sum + lengthOf(line), 0) / (lines.length * (end - start));
  const cells = lines.filter(hasCells).length;
  const words =
    lines.map(wordsOf).sort((one, other) => one - other)[Math.floor(lines.length / 2)] ?? 0;
  if (cells < lines.length * MOST_CELLS) return filled > FILLED && words >= FEWEST_WORDS;
  const inner = depth === 0 ? widestRun(lines, 1) : undefined;
  return inner !== undefined && inner.to - inner.from > lines.length * MOSTLY;
}

const lengthOf = ({ pieces }: Line): number => pieces.reduce((sum, { x, end }) => sum + end - x, 0);

/** Counts the words of a line; three letters of a script without blanks count as one word. */
function wordsOf({ pieces }: Line): number {
  const text = pieces.map(({ units }) => units.join("")).join(" ");
  const wide = text.match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/gu)?.length ?? 0;
  return (text.match(/\p{L}+/gu)?.length ?? 0) + wide / 3;
}
