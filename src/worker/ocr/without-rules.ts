import type { Ink } from "./tesseract.ts";

/** A picture of the ink as PNM has it, without level and upright strokes of more than so many pixels. */
export function drawWithoutRules(ink: Ink, longest: number): Buffer {
  const { width, height, perRow, words } = ink;
  const isInk = (x: number, y: number): boolean =>
    (((words[y * perRow + (x >> 5)] ?? 0) >>> (31 - (x & 31))) & 1) === 1;
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) if (isInk(x, y)) pixels[y * width + x] = 1;
  }
  const isRule = new Uint8Array(pixels.length);
  for (let y = 0; y < height; y += 1) markRuns([y * width, 1, width]);
  for (let x = 0; x < width; x += 1) markRuns([x, width, height]);
  const head = Buffer.from(`P5\n${width} ${height}\n255\n`);
  const drawn = Buffer.alloc(head.length + pixels.length);
  head.copy(drawn);
  pixels.forEach((pixel, at) => {
    drawn[head.length + at] = pixel === 1 && isRule[at] === 0 ? 0 : 255;
  });
  return drawn;

  function markRuns([start, step, count]: readonly [number, number, number]): void {
    let from = 0;
    for (let at = 0; at <= count; at += 1) {
      if (at < count && pixels[start + at * step] === 1) continue;
      if (at - from > longest) {
        for (let run = from; run < at; run += 1) isRule[start + run * step] = 1;
      }
      from = at + 1;
    }
  }
}
