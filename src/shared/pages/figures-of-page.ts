import type { OcrChoice } from "../store/index/ocr-choices.ts";
import type { PageRecord, PixelBox, ReadWord } from "./page-record.ts";

type Choice = Pick<OcrChoice, "box" | "chosen">;

/**
 * Replaces words of a record by the readings that people chose; such a figure counts as read by both models. A new reading of a
 * page has slightly different boxes, so the middle of a word decides which choice applies.
 */
export function applyChoices(record: PageRecord, choices: readonly Choice[]): PageRecord {
  if (choices.length === 0) return record;
  const placed = new Set<Choice>();
  const replaced = (word: ReadWord): ReadWord => {
    const choice = choices.findLast(({ box }) => containsMiddle(box, word.box));
    if (choice === undefined) return word;
    const { box, confidence } = word;
    // The choice replaces all words of its place. The others stay, empty, so that cells keep their numbers.
    if (placed.has(choice)) return { text: "", box, confidence };
    placed.add(choice);
    return { ...word, text: choice.chosen, figure: "two", read: readAt(record, choice.box) };
  };
  const lines = record.lines.map((line) => ({ ...line, words: line.words.map(replaced) }));
  return { ...record, lines };
}

const readAt = ({ lines }: PageRecord, place: PixelBox): string =>
  lines
    .flatMap(({ words }) => words.filter(({ box }) => containsMiddle(place, box)))
    .map(({ text }) => text)
    .join(" ");

/** Whether the middle of the other box lies in this one. */
export const containsMiddle = (
  [left, top, right, bottom]: PixelBox,
  [x, y, otherX, otherY]: PixelBox,
): boolean => {
  const [across, down] = [(x + otherX) / 2, (y + otherY) / 2];
  return across >= left && across <= right && down >= top && down <= bottom;
};

/** A figure that was read with doubt, or that a person has corrected. */
export type DoubtfulFigure = {
  readonly box: PixelBox;
  readonly first: string;
  /** Null if the second model read the same. */
  readonly second: string | null;
  readonly confidence: number;
  /** Null for a figure that a person chose. */
  readonly certainty: "by_one" | "doubtful" | null;
  readonly chosen: string | null;
};

/** The doubtful figures of a page, in its order. */
export function doubtfulFigures(record: PageRecord): readonly DoubtfulFigure[] {
  const figures = new Map<string, DoubtfulFigure>();
  for (const word of record.lines.flatMap(({ words }) => words)) {
    const { text, figure = "two", confidence, other = null, read, place: box = word.box } = word;
    if (read === undefined && figure === "two") continue;
    const key = box.join();
    if (figures.has(key)) continue;
    const first = read ?? (word.place === undefined ? text : readAt(record, box));
    figures.set(key, {
      box,
      first,
      second: other,
      confidence,
      certainty: read !== undefined ? null : figure === "one" ? "by_one" : "doubtful",
      chosen: read === undefined ? null : text,
    });
  }
  return [...figures.values()];
}

/** A word with a digit, and how it was read. */
export type ReadFigure = {
  readonly text: string;
  readonly certainty: "by_two" | "by_one" | "doubtful";
  /** The reading of the second model, if it differs. */
  readonly second: string | null;
  /** The vision model that read the same from the cropped picture. */
  readonly confirmedBy: string | null;
  /** The engine's confidence, 0 to 100. */
  readonly confidence: number;
  readonly box: PixelBox;
};

const CERTAINTIES = { two: "by_two", one: "by_one", doubtful: "doubtful" } as const;

/** The figures whose middle lies in one of the boxes, in the order of the page. */
export const figuresWithin = (
  { lines }: PageRecord,
  boxes: readonly PixelBox[],
): readonly ReadFigure[] =>
  lines
    .flatMap(({ words }) => words)
    .filter((word) => word.text !== "" && boxes.some((box) => containsMiddle(box, word.box)))
    .flatMap(({ text, figure, other = null, confirmed = null, confidence, box }) =>
      figure === undefined
        ? []
        : [
            {
              ...{ text, certainty: CERTAINTIES[figure], second: other, confirmedBy: confirmed },
              ...{ confidence, box },
            },
          ],
    );
