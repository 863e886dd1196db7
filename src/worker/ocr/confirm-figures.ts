import { doubtfulFigures } from "../../shared/pages/figures-of-page.ts";
import type { PageRecord, PixelBox, ReadWord } from "../../shared/pages/page-record.ts";
import type { CutOut } from "./page-outcome.ts";
import { isSameFigure } from "./two-readers.ts";

/** A model that reads the picture of a figure without knowing the earlier readings. */
export type Witness = {
  readonly name: string;
  /** @param png as base64. @returns its reply; null if it gave none */
  read(png: string): Promise<string | null>;
};

/**
 * Shows a model each doubtful figure of a page. A reply that equals one of the two readings settles the figure;
 * any other reply leaves it doubtful.
 */
export async function confirmFigures(
  record: PageRecord,
  cutOuts: readonly CutOut[],
  witness: Witness,
): Promise<PageRecord> {
  const figures = new Map(doubtfulFigures(record).map((figure) => [figure.box.join(), figure]));
  let settled = record;
  for (const { box, png } of cutOuts) {
    const figure = figures.get(box.join());
    const words = figure === undefined ? null : await witness.read(png);
    if (figure === undefined || words === null || !isFigureAlone(words)) continue;
    const { first, second } = figure;
    const settling = { place: box, by: witness.name };
    if (isSameFigure(first, words)) settled = mapWords(settled, confirmAt(settling));
    else if (second !== null && isSameFigure(second, words))
      settled = mapWords(settled, replaceAt({ ...settling, text: second, first }));
  }
  return settled;
}

/** A figure from its first digit to its last, with the letters and signs that may stand between digits. */
const FIGURE = /\p{N}(?:[\p{L}\p{N}\s.,:%/()'’‐-―−-]*\p{N})?/u;

/** A minus sign as a word of its own: the comparison would drop it, because it compares only words with digits. */
const LONE_SIGN = /(?:^|\s)[-‐-―−](?:\s|$)/u;

/**
 * Whether a reply is one figure on one line, with at most one word beside it, such as its currency. A sentence may doubt or
 * deny the figure that it names, and two figures ("7 or 8") would be joined to a third one.
 */
function isFigureAlone(reply: string): boolean {
  const line = reply.trim();
  const figure = FIGURE.exec(line)?.[0];
  if (figure === undefined || /[\r\n?？؟]/u.test(line) || LONE_SIGN.test(line)) return false;
  const beside = line.replace(figure, " ");
  const hasOther =
    /\p{N}/u.test(beside) || figure.split(/\s+/).some((word) => !/\p{N}/u.test(word));
  return !hasOther && wordsIn(beside) <= 1;
}

const wordsIn = (text: string): number => text.match(/[\p{L}\p{M}'’]+/gu)?.length ?? 0;

type Settling = { readonly place: PixelBox; readonly by: string };

const isAt = ({ box, place = box }: ReadWord, wanted: PixelBox): boolean =>
  place.join() === wanted.join();

const confirmAt =
  ({ place, by }: Settling) =>
  (word: ReadWord): ReadWord =>
    word.figure !== undefined && isAt(word, place)
      ? { ...word, figure: "two", confirmed: by }
      : word;

/** Puts the second reading into the first word at the place; the others stay, without text, so that the cells' word numbers stay valid. */
function replaceAt({
  place,
  by,
  text,
  first,
}: Settling & { readonly text: string; readonly first: string }): (word: ReadWord) => ReadWord {
  let isPlaced = false;
  return (word) => {
    if (!isAt(word, place)) return word;
    const { box, confidence } = word;
    if (isPlaced) return { text: "", box, confidence };
    isPlaced = true;
    return { text, box: place, confidence, figure: "two", other: first, confirmed: by };
  };
}

const mapWords = (record: PageRecord, change: (word: ReadWord) => ReadWord): PageRecord => ({
  ...record,
  lines: record.lines.map((line) => ({ ...line, words: line.words.map(change) })),
});
