import type { Ink } from "./tesseract.ts";

/**
 * Draws the ink as a PNM picture, without strokes along or across the lines that are longer than `longest` pixels.
 * @param lean angle of the lines, in degrees clockwise
 */
export function drawWithoutRules(ink: Ink, longest: number, lean: number): Buffer {
  const { width, height, perRow, words } = ink;
  const isInk = (x: number, y: number): boolean =>
    (((words[y * perRow + (x >> 5)] ?? 0) >>> (31 - (x & 31))) & 1) === 1;
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) if (isInk(x, y)) pixels[y * width + x] = 1;
  }
  // Vertical lines have the rules of horizontal ones; the tangent of their own angle has no bound.
  const slope = Math.tan(((lean - 90 * Math.round(lean / 90)) * Math.PI) / 180);
  const down = Array.from({ length: width }, (_, x) => Math.round(slope * x));
  const back = Array.from({ length: height }, (_, y) => Math.round(-slope * y));
  const isRule = new Uint8Array(pixels.length);
  const across = Math.ceil(Math.abs(slope) * width);
  for (let row = -across; row < height + across; row += 1) {
    markRuns(width, (x) => placeOf(x, row + (down[x] ?? 0)));
  }
  const along = Math.ceil(Math.abs(slope) * height);
  for (let column = -along; column < width + along; column += 1) {
    markRuns(height, (y) => placeOf(column + (back[y] ?? 0), y));
  }
  const head = Buffer.from(`P5\n${width} ${height}\n255\n`);
  const drawn = Buffer.alloc(head.length + pixels.length);
  head.copy(drawn);
  pixels.forEach((pixel, at) => {
    drawn[head.length + at] = pixel === 1 && isRule[at] === 0 ? 0 : 255;
  });
  return drawn;

  function placeOf(x: number, y: number): number {
    return x < 0 || x >= width || y < 0 || y >= height ? -1 : y * width + x;
  }

  /** @param placeAt the pixel of a step; -1 outside of the picture */
  function markRuns(count: number, placeAt: (step: number) => number): void {
    let from = 0;
    for (let at = 0; at <= count; at += 1) {
      if (at < count && pixels[placeAt(at)] === 1) continue;
      if (at - from > longest) {
        for (let run = from; run < at; run += 1) isRule[placeAt(run)] = 1;
      }
      from = at + 1;
    }
  }
}
