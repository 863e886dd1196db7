import { heightOf } from "./left-ink.ts";
import type { PixelBox, ReadWord } from "../../shared/pages/page-record.ts";
import type { EngineWord } from "./tesseract.ts";

export type JudgedWord = EngineWord & Pick<ReadWord, "figure" | "other" | "place">;

/** Confidence, 0 to 100: below it, 2 to 6 of 10 figures are wrong. */
const SURE = 80;

const holdsDigit = (text: string): boolean => /\p{Nd}/u.test(text);

/**
 * Grades each word that has a digit, and adds the figures that only the second reader found.
 * @param second words of the second reader; undefined if there is none
 */
export function judgeFigures(
  first: readonly EngineWord[],
  second: readonly EngineWord[] | undefined,
): JudgedWord[] {
  const judged = second === undefined ? first.map(gradeOne) : mergeReadings(first, second);
  const height = heightOf(first);
  const beside = besideOf(judged, height);
  return judged.map((word) =>
    word.figure !== undefined && isWeak(word, beside(word))
      ? { ...word, figure: "doubtful" }
      : word,
  );
}

const gradeOne = (word: EngineWord): JudgedWord =>
  holdsDigit(word.text) ? { ...word, figure: "one" } : word;

function mergeReadings(first: readonly EngineWord[], second: readonly EngineWord[]): JudgedWord[] {
  return groupByPlace(first, second).flatMap(({ own, others }): JudgedWord[] => {
    if (own.length === 0) return others.filter(({ text }) => holdsDigit(text)).map(gradeOne);
    if (others.length === 0) return own.map(gradeOne);
    const [read, other] = [textOf(own), textOf(others)];
    if (!holdsDigit(read) && !holdsDigit(other)) return own;
    if (figuresOf(read) === figuresOf(other)) {
      return own.map((word) => (holdsDigit(word.text) ? { ...word, figure: "two" } : word));
    }
    // If one reader read "§" and the other a figure, "§" is more likely right.
    if (!holdsDigit(read) && read.includes("§")) return [...own];
    const isLost = !holdsDigit(read);
    const place = own.length === 1 ? {} : { place: boxAround(own) };
    return own.map((word): JudgedWord => ({
      ...{ ...word, ...place },
      ...(isLost || holdsDigit(word.text) ? { figure: "doubtful", other } : {}),
    }));
  });
}

const boxAround = (words: readonly EngineWord[]): PixelBox => [
  Math.min(...words.map(({ box }) => box[0])),
  Math.min(...words.map(({ box }) => box[1])),
  Math.max(...words.map(({ box }) => box[2])),
  Math.max(...words.map(({ box }) => box[3])),
];

/** Whether two readings give the same figure, compared by `figuresOf`. */
export const isSameFigure = (one: string, other: string): boolean =>
  holdsDigit(one) && figuresOf(one) === figuresOf(other);

const textOf = (words: readonly EngineWord[]): string => words.map(({ text }) => text).join(" ");

/**
 * The significant characters of a figure: digits, letters and marks between them, its sign. Raised digits and fractions stay
 * as they are: NFKC would turn 7² into 72 and 1½ into 112.
 */
export const figuresOf = (text: string): string =>
  text
    .replaceAll(/\P{No}+/gu, (signs) => signs.normalize("NFKC"))
    .replaceAll(/[‐-―−]/gu, "-")
    .split(/\s+/)
    .filter((word) => /\p{N}/u.test(word))
    .join("")
    .replaceAll(/[^\p{L}\p{N}.,:%/()-]|(?<!\p{N})[.,:]|[.,:](?!\p{N})/gu, "")
    .replaceAll(/^\(([^()]*)$|^([^()]*)\)$/gu, "$1$2");

type Group = { readonly own: EngineWord[]; readonly others: EngineWord[] };

/** Groups the words of both readers by place: one reader may split a word that the other reads as one. */
function groupByPlace(first: readonly EngineWord[], second: readonly EngineWord[]): Group[] {
  const groups: Group[] = first.map((word) => ({ own: [word], others: [] }));
  for (const other of second) {
    const at = groups.filter(({ own, others }) =>
      [...own, ...others].some((word) => isOnePlace(word.box, other.box)),
    );
    const [into, ...rest] = at;
    if (into === undefined) {
      groups.push({ own: [], others: [other] });
      continue;
    }
    into.others.push(other);
    for (const group of rest) {
      into.own.push(...group.own);
      into.others.push(...group.others);
      groups.splice(groups.indexOf(group), 1);
    }
  }
  const byPlace = (one: EngineWord, two: EngineWord): number => one.box[0] - two.box[0];
  return groups.map(({ own, others }) => ({
    own: own.sort(byPlace),
    others: others.sort(byPlace),
  }));
}

/** The share of the smaller box. */
const OVERLAP = 0.4;

function isOnePlace(one: PixelBox, other: PixelBox): boolean {
  const wide = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
  const tall = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
  if (wide <= 0 || tall <= 0) return false;
  return wide * tall > OVERLAP * Math.min(areaOf(one), areaOf(other));
}

const areaOf = ([left, top, right, bottom]: PixelBox): number => (right - left) * (bottom - top);

type Beside = { readonly before: string | undefined; readonly after: string | undefined };

/** In heights of a word: a word further away belongs to another cell. */
const NEAR = 1.2;

/** Finds the neighbours of a word: in its line, and near it. */
function besideOf(words: readonly JudgedWord[], height: number): (word: JudgedWord) => Beside {
  return ({ box }) => {
    const inLine = words.filter(
      (other) => Math.min(other.box[3], box[3]) - Math.max(other.box[1], box[1]) > height * 0.3,
    );
    const before = inLine.find((other) => isNear(other.box[2], box[0]) && other.box[0] < box[0]);
    const after = inLine.find((other) => isNear(box[2], other.box[0]) && other.box[2] > box[2]);
    return { before: before?.text, after: after?.text };
  };
  function isNear(end: number, start: number): boolean {
    return start - end > -height * 0.3 && start - end < height * NEAR;
  }
}

/** The number of a section, as it follows "§"; the rest of an amount with spaced thousands is longer. */
const NUMBER_OF_PARAGRAPH = /^\d{1,4}\p{L}?[.,;:)]?$/u;

function isWeak({ text, confidence }: JudgedWord, { before, after }: Beside): boolean {
  // A figure that begins with its decimal mark has lost a digit.
  if (confidence < SURE || /^[.,]\p{Nd}/u.test(text)) return true;
  const lone = /^[^\p{L}\p{N}]*\p{Nd}[^\p{L}\p{N}%€$£]*$/u.test(text);
  if (!lone) return false;
  // Both readers may read "§" as 8 or 5.
  if (before?.includes("§") === true || NUMBER_OF_PARAGRAPH.test(after ?? "")) return true;
  const isUnit = (word: string | undefined): boolean =>
    word !== undefined && /[\p{L}%€$£°]/u.test(word);
  return !isUnit(after) && !isUnit(before);
}
