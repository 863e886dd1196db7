import type { EngineReading, EngineWord, Ink } from "./tesseract.ts";
import type { PixelBox } from "../../shared/pages/page-record.ts";

// Tesseract may miss columns and whole tables and be confident of the rest: only the ink shows that.

/** In heights of a word: a lower or higher shape is no letter. */
const LETTER = [0.35, 2.2] as const;
const WIDEST = 2.5;
/** In heights of a word: longer strokes are rules, and letters may touch them. */
export const LONGEST_STROKE = 4;
/** In heights of a word: a taller box holds a picture. */
const TALLEST = 3;
/** Pixels, if no word was read. */
const USUAL_HEIGHT = 24;
/** Fewer shapes on a page without words are dirt. */
const FEWEST = 12;

export const heightOf = (words: readonly Pick<EngineWord, "box">[]): number => {
  const heights = words.map(({ box }) => box[3] - box[1]).sort((one, other) => one - other);
  return heights[Math.floor(heights.length / 2)] ?? USUAL_HEIGHT;
};

/** Drops "words" that are as large as a picture or a page. */
export function withoutGiants(words: readonly EngineWord[]): EngineWord[] {
  const tallest = heightOf(words) * TALLEST;
  return words.filter(({ box }) => box[3] - box[1] <= tallest);
}

/** The share of letter shapes outside of all word boxes, 0 to 1. */
export function unreadShare({ words, ink }: Pick<EngineReading, "words" | "ink">): number {
  const height = heightOf(words);
  const letters = shapesOf(ink, height * LONGEST_STROKE).filter(([left, top, right, bottom]) => {
    const [tall, wide] = [bottom - top, right - left];
    return tall >= height * LETTER[0] && tall <= height * LETTER[1] && wide <= height * WIDEST;
  });
  if (letters.length < FEWEST && words.length === 0) return 0;
  const isRead = coverageOf(words, ink);
  const left = letters.filter(
    ([x0, y0, x1, y1]) => !isRead(Math.floor((x0 + x1) / 2), Math.floor((y0 + y1) / 2)),
  );
  return left.length < 2 ? 0 : left.length / letters.length;
}

const CELL = 4;

/** Tells whether a pixel lies in a word's box, to a precision of four pixels. */
function coverageOf(words: readonly EngineWord[], { width, height }: Ink) {
  const perRow = Math.ceil(width / CELL) + 1;
  const read = new Uint8Array(perRow * (Math.ceil(height / CELL) + 1));
  for (const { box } of words) {
    const [left, top, right, bottom] = box.map((side) => Math.floor(side / CELL)) as [
      number,
      number,
      number,
      number,
    ];
    for (let y = top; y <= bottom; y += 1) read.fill(1, y * perRow + left, y * perRow + right + 1);
  }
  return (x: number, y: number): boolean =>
    read[Math.floor(y / CELL) * perRow + Math.floor(x / CELL)] === 1;
}

type Stroke = { readonly from: number; readonly to: number; readonly shape: number };

/** Boxes of connected shapes of ink, made of horizontal strokes. Strokes over `longest` pixels are left out. */
function shapesOf(ink: Ink, longest: number): PixelBox[] {
  const parents: number[] = [];
  const boxes: [number, number, number, number][] = [];
  const rootOf = (shape: number): number => {
    let root = shape;
    while (parents[root] !== root) root = parents[root] ?? root;
    parents[shape] = root;
    return root;
  };
  let above: Stroke[] = [];
  for (let y = 0; y < ink.height; y += 1) {
    const row = strokesOf(ink, y).filter(([from, to]) => to - from <= longest);
    let next = 0;
    const strokes = row.map(([from, to]): Stroke => {
      while ((above[next]?.to ?? Infinity) < from) next += 1;
      let shape: number | undefined;
      for (let at = next; (above[at]?.from ?? Infinity) <= to; at += 1) {
        const other = rootOf(above[at]?.shape ?? 0);
        if (shape !== undefined && other !== shape) {
          parents[other] = shape;
          boxes[shape] = joinBoxes(boxes[shape], boxes[other]);
        } else shape = other;
      }
      const box: PixelBox = [from, y, to, y + 1];
      if (shape === undefined) {
        shape = parents.length;
        parents.push(shape);
      }
      boxes[shape] = joinBoxes(boxes[shape], box);
      return { from, to, shape };
    });
    above = strokes;
  }
  return boxes.filter((_, shape) => parents[shape] === shape);
}

const joinBoxes = (
  one: PixelBox | undefined,
  other: PixelBox | undefined,
): [number, number, number, number] => {
  const [a, b] = [one ?? other ?? [0, 0, 0, 0], other ?? one ?? [0, 0, 0, 0]];
  return [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.max(a[2], b[2]), Math.max(a[3], b[3])];
};

/** Where ink begins and ends in a row; the end is the first pixel without ink. */
function strokesOf({ width, perRow, words }: Ink, y: number): [number, number][] {
  const strokes: [number, number][] = [];
  let from = -1;
  for (let at = 0; at < perRow; at += 1) {
    const word = words[y * perRow + at] ?? 0;
    if ((word === 0 && from === -1) || (word === -1 && from !== -1)) continue;
    for (let bit = 0; bit < 32 && at * 32 + bit < width; bit += 1) {
      const isInk = ((word >>> (31 - bit)) & 1) === 1;
      if (isInk && from === -1) from = at * 32 + bit;
      if (!isInk && from !== -1) {
        strokes.push([from, at * 32 + bit]);
        from = -1;
      }
    }
  }
  if (from !== -1) strokes.push([from, width]);
  return strokes;
}
