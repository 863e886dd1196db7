import type { FigureReading, PageRecord, PixelBox } from "../../src/shared/pages/page-record.ts";
import type { Figure, PageTruth } from "./truth.ts";

export type JudgedPage = {
  readonly figures: number;
  readonly found: number;
  readonly read: Readonly<Record<FigureReading, { readonly read: number; readonly wrong: number }>>;
  /** What was read, and what stands there. */
  readonly wrongs: readonly { readonly text: string; readonly held: string; readonly as: string }[];
  /** Edits of characters between what was read and the page's text, blanks counting as one. */
  readonly edits: number;
  readonly characters: number;
};

/**
 * Holds the words that were read to the figures at their places. Wrong is a word whose figure is another than the page has
 * there, or that stands where the page has none; split and joined figures are wrong, unless they are parts of one.
 */
export function judgePage(record: PageRecord, truth: PageTruth): JudgedPage {
  const placed = truth.figures.map((figure) => ({
    ...figure,
    box: placeIn(record, truth, figure.box),
  }));
  // The 2 of m² is part of a unit: it is none that has to be found, and read in its place it is not wrong.
  const wanted = placed.filter(({ text }) => /[0-9]/.test(text));
  const read = { two: count(), one: count(), doubtful: count() };
  const found = new Set<Figure>();
  const wrongs: JudgedPage["wrongs"][number][] = [];
  for (const { text, box, figure } of record.lines.flatMap(({ words }) => words)) {
    if (figure === undefined && !/[0-9]/.test(text)) continue;
    const as = figure ?? "one";
    read[as].read += 1;
    const here = placed.filter((one) => holdsCentre(box, one.box) || holdsCentre(one.box, box));
    const met = here.filter((one) => isSame([one], text));
    const joined = here.slice(1).every(({ glued }) => glued) ? here : [];
    const right = met.length > 0 ? met : isSame(joined, text) ? joined : [];
    for (const one of right) found.add(one);
    if (right.length > 0) continue;
    read[as].wrong += 1;
    wrongs.push({ text, held: here.map((one) => one.text).join(" "), as });
  }
  const [was, is] = [flatten(textOf(record)), flatten(truth.text)];
  return {
    ...{
      figures: wanted.length,
      found: wanted.filter((one) => found.has(one)).length,
      read,
      wrongs,
    },
    ...{ edits: editsBetween(was, is), characters: is.length },
  };
}

const count = () => ({ read: 0, wrong: 0 });

function isSame(parts: readonly Figure[], text: string): boolean {
  const held = figureIn(parts.map((part) => part.text).join(""));
  // A sign of per cent may stand apart on the page.
  return held !== "" && [held, `${held}%`].includes(figureIn(text));
}

/** From the first digit, with its sign, to the last one: `1,250.00` of `(£1,250.00),`, `1960-07245` of `RE-1960-07245`. */
function figureIn(text: string): string {
  const plain = text
    .normalize("NFKC")
    .replace(/\p{Pd}|−/gu, "-")
    .replace(/[’‘`´]/g, "'");
  return /(?:(?<=^\P{L}*)[+-])?\d(?:.*\d)?%?/u.exec(plain)?.[0] ?? "";
}

function holdsCentre([left, top, right, bottom]: PixelBox, other: PixelBox): boolean {
  const [x, y] = [(other[0] + other[2]) / 2, (other[1] + other[3]) / 2];
  return x >= left && x <= right && y >= top && y <= bottom;
}

/** The place in the picture that was read, which has a size of its own and was perhaps turned another way. */
function placeIn({ picture, turned }: PageRecord, truth: PageTruth, box: PixelBox): PixelBox {
  const [a, b, c, d] = box.map(
    (at, side) => at / (side % 2 === 0 ? truth.width : truth.height),
  ) as unknown as PixelBox;
  const boxes = {
    0: [a, b, c, d],
    90: [1 - d, a, 1 - b, c],
    180: [1 - c, 1 - d, 1 - a, 1 - b],
    270: [b, 1 - c, d, 1 - a],
  } as const;
  const over = boxes[((turned - truth.turn + 360) % 360) as keyof typeof boxes];
  return over.map(
    (at, side) => at * (side % 2 === 0 ? picture.width : picture.height),
  ) as unknown as PixelBox;
}

const textOf = ({ lines }: PageRecord): string =>
  lines.map(({ words }) => words.map(({ text }) => text).join(" ")).join("\n");

const flatten = (text: string): string => text.normalize("NFKC").replace(/\s+/g, " ").trim();

function editsBetween(one: string, other: string): number {
  let above = Uint32Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row += 1) {
    const line = new Uint32Array(other.length + 1);
    line[0] = row;
    for (let at = 1; at <= other.length; at += 1) {
      const same = one.charCodeAt(row - 1) === other.charCodeAt(at - 1) ? 0 : 1;
      const [before = 0, over = 0, left = 0] = [above[at - 1], above[at], line[at - 1]];
      line[at] = Math.min(before + same, over + 1, left + 1);
    }
    above = line;
  }
  return above[other.length] ?? 0;
}
