import { doubtfulFigures } from "../../shared/pages/figures-of-page.ts";
import type { PageRecord, PixelBox } from "../../shared/pages/page-record.ts";
import type { CutOut } from "./page-outcome.ts";
import { greyPng } from "./place/png.ts";
import type { Ink } from "./tesseract.ts";

/** A page with more doubtful figures does not become usable by checking each of them. */
const MOST_CUT_OUTS = 100;
/** In pixels: vision models reject smaller pictures. */
const SMALLEST_SIDE = 64;

/** Pictures of the doubtful figures of a page with a margin, black on white. */
export const cutOutsOf = (record: PageRecord, ink: Ink): readonly CutOut[] =>
  doubtfulFigures(record)
    .filter(({ certainty }) => certainty === "doubtful")
    .slice(0, MOST_CUT_OUTS)
    .map(({ box }) => ({ box, png: cutOut(ink, box).toString("base64") }));

function cutOut(ink: Ink, [left, top, right, bottom]: PixelBox): Buffer {
  const margin = bottom - top;
  const width = Math.ceil(Math.max(right - left + 2 * margin, SMALLEST_SIDE));
  const height = Math.ceil(Math.max(2 * margin, SMALLEST_SIDE));
  const [fromX, fromY] = [
    Math.round((left + right - width) / 2),
    Math.round((top + bottom - height) / 2),
  ];
  const pixels = Uint8Array.from({ length: width * height }, (_, at) =>
    isInk(ink, fromX + (at % width), fromY + Math.floor(at / width)) ? 0 : 255,
  );
  return greyPng({ width, height, pixels });
}

const isInk = ({ width, height, perRow, words }: Ink, x: number, y: number): boolean =>
  x >= 0 &&
  y >= 0 &&
  x < width &&
  y < height &&
  (((words[y * perRow + (x >> 5)] ?? 0) >>> (31 - (x & 31))) & 1) === 1;
