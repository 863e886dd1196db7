import { DOUBT_MARK } from "../text/doubt-mark.ts";
import type { PageRecord, ReadLine, ReadWord } from "./page-record.ts";

/** Heights of a line; a wider gap sets cells apart. */
const CELL_GAP = 2;
/** Heights of a line; more white above it begins a paragraph. */
const PARAGRAPH = 1;

/**
 * The lines of a page as text: cells are set apart, and a mark stands behind each figure that two models did not read alike.
 */
export function pageLines({ lines }: PageRecord): string[] {
  const texts: string[] = [];
  let above: Extent | undefined;
  for (const line of lines.filter(({ words }) => words.length > 0)) {
    const extent = extentOf(line);
    const white = above === undefined ? 0 : extent.top - above.bottom;
    // What begins higher up is another column.
    if (above !== undefined && (white > PARAGRAPH * extent.height || white < -extent.height))
      texts.push("");
    texts.push(lineText(line));
    above = extent;
  }
  return texts;
}

function lineText({ words }: ReadLine): string {
  const height = extentOf({ words }).height;
  return words.reduce((text, word, at) => {
    const before = words[at - 1];
    if (before === undefined) return wordText(word);
    const gap = word.box[0] - before.box[2];
    return `${text}${gap > CELL_GAP * height ? " | " : " "}${wordText(word)}`;
  }, "");
}

const wordText = ({ text, figure }: ReadWord): string =>
  figure === undefined || figure === "two" ? text : text + DOUBT_MARK;

type Extent = { readonly top: number; readonly bottom: number; readonly height: number };

function extentOf({ words }: ReadLine): Extent {
  const top = median(words.map(({ box }) => box[1]));
  const bottom = median(words.map(({ box }) => box[3]));
  return { top, bottom, height: Math.max(1, bottom - top) };
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
