/** A piece of text as a PDF draws it: `transform[4]` and `[5]` are where it begins, from the lower left. */
export type PdfItem = {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
};

type Piece = {
  readonly text: string;
  readonly x: number;
  readonly end: number;
  readonly y: number;
  readonly size: number;
};
type Line = { readonly y: number; readonly size: number; readonly pieces: readonly Piece[] };

/** Points to which places are rounded before they are compared. */
const GRID = 0.5;

/**
 * The lines of a page from top to bottom, one column after the other, whatever the order in which they were drawn.
 * @param width of the page, in points
 */
export function pageLines(items: readonly PdfItem[], width: number): string[] {
  const lines = gatherLines(items.flatMap(toPiece));
  const gutter = findGutter(lines, width);
  const ordered = gutter === undefined ? lines : byColumn(lines, gutter);
  return ordered.flatMap((line, at) => {
    const above = ordered[at - 1];
    const isApart =
      above !== undefined && (above.y - line.y > line.size * PARAGRAPH || line.y > above.y + GRID);
    return isApart ? ["", textOf(line)] : [textOf(line)];
  });
}

/** Heights of a line; more between two is a new paragraph. */
const PARAGRAPH = 1.9;

function toPiece({ str, transform, width, height }: PdfItem): Piece[] {
  const text = str.trim();
  const [, b = 0, , d = 0, left = 0, bottom = 0] = transform;
  if (text === "" || ![left, bottom, width].every(Number.isFinite)) return [];
  const round = (points: number): number => Math.round(points / GRID) * GRID;
  const size = height > 0 ? height : Math.hypot(b, d) || 10;
  return [{ text, x: round(left), end: round(left + width), y: round(bottom), size }];
}

/** Pieces on one height, with what stands a little above or below, as figures of notes do. */
function gatherLines(pieces: readonly Piece[]): Line[] {
  const sorted = pieces.toSorted((one, other) => other.y - one.y || one.x - other.x);
  const lines: { y: number; size: number; pieces: Piece[] }[] = [];
  for (const piece of sorted) {
    const last = lines.at(-1);
    if (last !== undefined && last.y - piece.y <= Math.min(last.size, piece.size) * 0.4) {
      last.pieces.push(piece);
      last.size = Math.max(last.size, piece.size);
    } else lines.push({ y: piece.y, size: piece.size, pieces: [piece] });
  }
  for (const line of lines) line.pieces.sort((one, other) => one.x - other.x);
  return lines;
}

/** Sizes of a line; a wider gap sets cells apart. */
const CELL_GAP = 1.5;
const WORD_GAP = 0.15;

function textOf({ pieces, size }: Line): string {
  let text = "";
  let end: number | undefined;
  for (const piece of pieces) {
    if (end !== undefined) {
      const gap = piece.x - end;
      text += gap > size * CELL_GAP ? " | " : gap > size * WORD_GAP ? " " : "";
    }
    text += piece.text;
    end = piece.end;
  }
  return text;
}

const FEWEST_LINES = 5;
/** Of the page, between which a gutter is looked for. */
const GUTTER_WITHIN = [0.3, 0.7] as const;
const STEPS = 40;
/** Of a column that its lines fill: those of a table are shorter. */
const FILLED = 0.55;

/** Where a page is parted into two columns of running text: nothing but lines across both goes over it. */
function findGutter(lines: readonly Line[], width: number): number | undefined {
  const [from, to] = GUTTER_WITHIN;
  let best: { readonly x: number; readonly both: number } | undefined;
  for (let step = 0; step <= STEPS; step += 1) {
    const x = width * (from + ((to - from) * step) / STEPS);
    const both = lines.filter((line) => hasBothSides(line, x)).length;
    if (both >= FEWEST_LINES && both > (best?.both ?? 0) && isFilled(lines, x, width)) {
      best = { x, both };
    }
  }
  return best !== undefined && best.both * 2 >= lines.length ? best.x : undefined;
}

const crosses = ({ pieces }: Line, x: number): boolean =>
  pieces.some((piece) => piece.x < x && piece.end > x);

const hasBothSides = (line: Line, x: number): boolean =>
  !crosses(line, x) &&
  line.pieces.some(({ end }) => end <= x) &&
  line.pieces.some((piece) => piece.x >= x);

function isFilled(lines: readonly Line[], x: number, width: number): boolean {
  const parted = lines.filter((line) => hasBothSides(line, x)).map((line) => split(line, x));
  const start = Math.min(...parted.map(([left]) => left.pieces[0]?.x ?? 0));
  const end = Math.max(...parted.map(([, right]) => right.pieces.at(-1)?.end ?? width));
  const share = (side: 0 | 1, whole: number): number =>
    parted.reduce((sum, sides) => sum + lengthOf(sides[side]), 0) / (parted.length * whole);
  return share(0, x - start) > FILLED && share(1, end - x) > FILLED;
}

const lengthOf = ({ pieces }: Line): number => (pieces.at(-1)?.end ?? 0) - (pieces[0]?.x ?? 0);

const split = (line: Line, x: number): [Line, Line] => [
  { ...line, pieces: line.pieces.filter(({ end }) => end <= x) },
  { ...line, pieces: line.pieces.filter((piece) => piece.x >= x) },
];

/** Between lines that go across, the left column and then the right. */
function byColumn(lines: readonly Line[], x: number): Line[] {
  const ordered: Line[] = [];
  let parted: [Line, Line][] = [];
  const flush = (): void => {
    for (const side of [0, 1] as const) {
      ordered.push(...parted.map((sides) => sides[side]).filter(({ pieces }) => pieces.length > 0));
    }
    parted = [];
  };
  for (const line of lines) {
    if (!crosses(line, x)) parted.push(split(line, x));
    else {
      flush();
      ordered.push(line);
    }
  }
  flush();
  return ordered;
}
