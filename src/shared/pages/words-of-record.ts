import type { Box, PlacedText } from "./find-words.ts";
import type { PageRecord } from "./page-record.ts";

type Size = { readonly width: number; readonly height: number };

/** A word with a blank in front of it. */
export const wordAt = (text: string, box: Box): readonly PlacedText[] =>
  [" ", text].map((part) => ({ text: part, box, isSideways: false }));

/** The words of a record in points of the page. @param wanted decides between a person's choice and the first reading */
export const textsIn = (
  { lines, picture }: PageRecord,
  size: Size,
  wanted: string,
): readonly PlacedText[] =>
  lines
    .flatMap(({ words }) => words)
    .flatMap(({ text, box, place, read }) => {
      if (read === undefined) return wordAt(text, scaleBox(box, picture, size));
      return wordAt(wanted.includes(text) ? text : read, scaleBox(place ?? box, picture, size));
    });

export function scaleBox([left, top, right, bottom]: Box, from: Size, to: Size): Box {
  const [across, down] = [to.width / from.width, to.height / from.height];
  return [left * across, top * down, right * across, bottom * down];
}

/** Converts a box to the file's orientation, before the picture was turned for OCR. */
export function unturnBox(
  [left, top, right, bottom]: Box,
  { turned, picture: { width, height } }: PageRecord,
): [number, number, number, number] {
  switch (turned) {
    case 0:
      return [left, top, right, bottom];
    case 90:
      return [top, width - right, bottom, width - left];
    case 180:
      return [width - right, height - bottom, width - left, height - top];
    case 270:
      return [height - bottom, left, height - top, right];
  }
}

/** The size of a page as shown: a PDF is drawn as OCR read it, a picture file is shown unturned. */
export function shownSize({ picture, turned }: PageRecord): Size {
  const { format, width, height } = picture;
  return format === "pdf" || turned % 180 === 0
    ? { width, height }
    : { width: height, height: width };
}
