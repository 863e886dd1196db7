import type { Glyph } from "./pdf-glyphs.ts";
import type { Rule } from "./pdf-shapes.ts";

/** Words that stand together on a line: between two is a wider gap, or a rule. */
export type Piece = {
  /** Letters and blanks from left to right, as they are seen. */
  readonly units: readonly string[];
  readonly x: number;
  readonly end: number;
};

export type Line = {
  readonly y: number;
  readonly size: number;
  readonly pieces: readonly Piece[];
  /** Where rules stand upright in it. */
  readonly bars: readonly number[];
};

/** Sizes; a wider gap parts words. */
const WORD_GAP = 0.15;
/** Before what is placed for itself, as words are. */
const WORD_GAP_PLACED = 0.09;
/** Of letters of scripts without blanks. */
const WORD_GAP_WIDE = 0.5;
/** A wider one parts pieces, and may part cells. */
const PIECE_GAP = 0.45;

/** The lines of a frame, from top to bottom. */
export function linesOf(glyphs: readonly Glyph[], rules: readonly Rule[]): Line[] {
  const upright = rules.filter(({ x, toX }) => x === toX);
  return gatherLines(glyphs).flatMap(({ y, size, glyphs: own }): Line[] => {
    const middle = y + size * 0.3;
    const bars = upright.filter((rule) => rule.y < middle && rule.toY > middle).map(({ x }) => x);
    const inLine = own.toSorted((one, other) => one.x - other.x);
    const pieces = piecesOf(withoutSecond(inLine), { y, size, bars });
    return pieces.length === 0 ? [] : [{ y, size, pieces, bars }];
  });
}

type Gathered = { y: number; size: number; glyphs: Glyph[] };

function gatherLines(glyphs: readonly Glyph[]): Gathered[] {
  const levels: Gathered[] = [];
  for (const glyph of glyphs.toSorted((one, other) => other.y - one.y)) {
    const last = levels.at(-1);
    const isBlank = glyph.text === " ";
    if (last !== undefined && last.y - glyph.y <= Math.min(last.size, glyph.size) * 0.2) {
      last.glyphs.push(glyph);
      if (!isBlank) last.size = Math.max(last.size, glyph.size);
    } else levels.push({ y: glyph.y, size: glyph.size, glyphs: [glyph] });
  }
  const lines: Gathered[] = [];
  for (const level of levels) {
    const last = lines.at(-1);
    if (last === undefined || !isOneLine(last, level)) lines.push(level);
    else {
      if (weightOf(level) > weightOf(last)) last.y = level.y;
      last.size = Math.max(last.size, level.size);
      last.glyphs.push(...level.glyphs);
    }
  }
  return lines;
}

/** Of the letters around them; "smaller" of a style sheet is 8 to 9. */
const RAISED_SIZE = 0.9;

const weightOf = ({ size, glyphs }: Gathered): number => size * glyphs.length;

/** Levels a little apart, or a small one beside letters of the other, as figures of notes are. */
function isOneLine(upper: Gathered, lower: Gathered): boolean {
  const apart = upper.y - lower.y;
  const [small, large] = upper.size < lower.size ? [upper, lower] : [lower, upper];
  if (apart <= small.size * 0.4) return true;
  if (small.size > large.size * RAISED_SIZE || apart > large.size * 0.5) return false;
  const near = large.size * PIECE_GAP;
  return small.glyphs.some((one) =>
    large.glyphs.some((other) => one.x - other.end < near && other.x - one.end < near),
  );
}

/** A letter that is drawn twice at almost one place, to look bold or to throw a shadow, is there once. */
function withoutSecond(glyphs: readonly Glyph[]): readonly Glyph[] {
  const kept: Glyph[] = [];
  for (const glyph of glyphs) {
    let isSecond = false;
    for (let back = 1; back <= 4 && !isSecond && glyph.text !== " "; back += 1) {
      const other = kept[kept.length - back];
      isSecond =
        other?.text === glyph.text &&
        glyph.x - other.x < (glyph.end - glyph.x) * 0.4 &&
        Math.abs(glyph.y - other.y) < other.size * 0.25;
    }
    if (!isSecond) kept.push(glyph);
  }
  return kept;
}

type Place = { readonly y: number; readonly size: number; readonly bars: readonly number[] };

/** What stands between a letter and the one before it. */
type Between = "nothing" | "blank" | "gap";

function piecesOf(glyphs: readonly Glyph[], place: Place): Piece[] {
  const inked = glyphs.filter(({ text }) => text !== " ");
  const between = gapsOf(glyphs, place);
  loosenSpaced(inked, between);
  const pieces: { units: string[]; x: number; end: number }[] = [];
  let carried = "";
  inked.forEach((glyph, at) => {
    const last = pieces[pieces.length - 1];
    const text = carried === "" ? glyph.text : `${glyph.text}${carried}`;
    carried = "";
    if (last !== undefined && glyph.end - glyph.x < glyph.size && isMark(glyph)) {
      // One of no width stands where the letter below it ends, or a hair behind it.
      const behind = RIGHT_TO_LEFT.test(last.units.at(-1) ?? "") ? 0 : glyph.size * 0.01;
      const isBehind = STANDS_BEHIND.test(glyph.text);
      if (isBehind || (glyph.x + glyph.end) / 2 < last.end + behind)
        last.units.push(`${last.units.pop() ?? ""}${text}`);
      else carried = text;
      if (isBehind) last.end = Math.max(last.end, glyph.end);
    } else if (last === undefined || between[at] === "gap") {
      pieces.push({ units: [text], x: glyph.x, end: glyph.end });
    } else {
      if (between[at] === "blank" || isNote(last.units, inked.slice(at - 1, at + 1), place))
        last.units.push(" ");
      last.units.push(text);
      last.end = Math.max(last.end, glyph.end);
    }
  });
  const last = pieces[pieces.length - 1];
  if (last !== undefined && carried !== "") last.units.push(carried);
  return pieces;
}

/** A spacing mark, but for vowels that are drawn left of the letter that they are read after. */
const STANDS_BEHIND =
  /^(?![\u093f\u094e\u09bf\u09c7\u09c8\u0a3f\u0abf\u0b47\u0b48\u0bc6-\u0bc8\u0d46-\u0d48\u0dd9-\u0ddb\u1031\u1084\u17c1-\u17c3])\p{Mc}/u;

const isMark = ({ text }: Glyph): boolean => text > "\u02ff" && /^\p{M}+$/u.test(text);

/** A small raised figure behind a word or a figure is no part of it; "m2" is a unit. */
function isNote(units: readonly string[], pair: readonly Glyph[], { y, size }: Place): boolean {
  const isRaised = (glyph: Glyph): boolean =>
    glyph.size <= size * RAISED_SIZE && glyph.y >= y + size * 0.15;
  const [before, glyph] = pair;
  if (before === undefined || glyph === undefined || isRaised(before) || !isRaised(glyph))
    return false;
  return /^[\d*]/u.test(glyph.text) && /\p{N}$|\p{L}{3}$/u.test(units.slice(-3).join(""));
}

function gapsOf(glyphs: readonly Glyph[], { bars }: Place): Between[] {
  const between: Between[] = [];
  let last: Glyph | undefined;
  let end = 0;
  let [blanks, width] = [0, 0];
  for (const glyph of glyphs) {
    if (glyph.text === " ") {
      blanks += 1;
      width = glyph.end - glyph.x;
      continue;
    }
    const gap = glyph.x - end;
    if (last === undefined) between.push("nothing");
    else if (isPieceGap()) between.push("gap");
    else between.push(blanks > 0 || gap > wordGap() ? "blank" : "nothing");
    end = between[between.length - 1] === "blank" || gap > 0 ? glyph.end : Math.max(end, glyph.end);
    if (last === undefined) end = glyph.end;
    last = glyph;
    blanks = 0;

    function wordGap(): number {
      const size = Math.max(last?.size ?? 0, glyph.size);
      if (last !== undefined && isWide(last) && isWide(glyph)) return size * WORD_GAP_WIDE;
      return size * (glyph.opens ? WORD_GAP_PLACED : WORD_GAP);
    }
    function isPieceGap(): boolean {
      if (bars.length > 0 && bars.some((x) => x > end - 1 && x < glyph.x + 1)) return true;
      const size = Math.max(last?.size ?? 0, glyph.size);
      if (gap <= size * PIECE_GAP || gap < wordGap()) return false;
      // Of letters of one width a blank is as wide.
      return blanks !== 1 || gap >= width * 1.3;
    }
  }
  return between;
}

const isWide = ({ text }: Glyph): boolean =>
  text > "\u2fff" &&
  /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303f\uff00-\uffef]/u.test(text);

/** Letters; fewer that stand apart are no word. */
const FEWEST_SPACED = 6;
/** Sizes between letters of a word that is set wide. */
const SPACED = [0.1, 0.9] as const;

/** L e t t e r s that stand equally far apart are words: only wider gaps part them. */
function loosenSpaced(inked: readonly Glyph[], between: Between[]): void {
  const gapBefore = (at: number): number => {
    const [last, glyph] = [inked[at - 1], inked[at]];
    if (last === undefined || glyph === undefined) return 0;
    return (glyph.x - last.end) / Math.max(last.size, glyph.size);
  };
  const [narrow, wide] = SPACED;
  let from = 0;
  for (let at = 1; at <= inked.length; at += 1) {
    const gap = at < inked.length ? gapBefore(at) : 0;
    if (gap > narrow && gap < wide * 3) continue;
    loosenRun(from, at);
    from = at;
  }
  function loosenRun(first: number, end: number): void {
    if (end - first < FEWEST_SPACED) return;
    const places = Array.from({ length: end - first - 1 }, (_, at) => first + 1 + at);
    const gaps = places.map(gapBefore).sort((one, other) => one - other);
    const usual = gaps[Math.floor(gaps.length / 3)] ?? 0;
    const isEven = (gap: number): boolean => Math.abs(gap - usual) < Math.max(0.06, usual * 0.15);
    const letters = inked.slice(first, end).filter(({ text }) => /^\p{L}$/u.test(text)).length;
    const isSpaced = usual < wide && gaps.filter(isEven).length * 2 > gaps.length;
    if (!isSpaced || letters < FEWEST_SPACED - 1) return;
    for (const place of places) {
      const gap = gapBefore(place);
      between[place] =
        isEven(gap) || gap < usual ? "nothing" : gap > usual * 2 + 1.2 ? "gap" : "blank";
    }
  }
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const LEFT_TO_RIGHT = /(?![\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])\p{L}/u;

/** Whether a line has more letters of scripts from right to left than others. */
export function isTurned(pieces: readonly Piece[]): boolean {
  const text = pieces.map(({ units }) => units.join("")).join("");
  if (!RIGHT_TO_LEFT.test(text)) return false;
  const letters = text.match(/\p{L}/gu) ?? [];
  return letters.filter((letter) => RIGHT_TO_LEFT.test(letter)).length * 2 > letters.length;
}

type Kind = "right" | "left" | "figure" | "other";

function kindOf(unit: string): Kind {
  if (unit === " ") return "other";
  if (/\p{N}/u.test(unit)) return "figure";
  return RIGHT_TO_LEFT.test(unit) ? "right" : LEFT_TO_RIGHT.test(unit) ? "left" : "other";
}

/** Letters in the order in which they are read, of a cell whose line goes from right to left or not. */
export function readUnits(units: readonly string[], isRightToLeft: boolean): string {
  const text = units.join("");
  if (!RIGHT_TO_LEFT.test(text)) return text;
  const kinds = units.map(kindOf);
  const first = kinds.indexOf("right");
  if (first === -1) return text;
  if (isRightToLeft) return readTurned(units, kinds);
  const next = kinds.indexOf("left", first);
  const end = kinds.lastIndexOf("right", next === -1 ? kinds.length : next) + 1;
  const before = units.slice(0, first).join("");
  return `${before}${readTurned(units.slice(first, end), kinds.slice(first, end))}${readUnits(units.slice(end), false)}`;
}

/** From right to left, but for figures, with what stands within them, and words of the other direction. */
function readTurned(units: readonly string[], kinds: readonly Kind[]): string {
  const runs: string[] = [];
  for (let at = 0; at < units.length;) {
    const end = endOfRun(kinds, units, at);
    runs.push(units.slice(at, end).join(""));
    at = end;
  }
  const text = runs.reverse().join("");
  const [opening, closing] = [text.search(/[([]/u), text.search(/[)\]]/u)];
  const isMirrored = closing !== -1 && (opening === -1 || closing < opening);
  return isMirrored
    ? text.replaceAll(/[()[\]]/gu, (bracket) => MIRRORED[bracket] ?? bracket)
    : text;
}

const MIRRORED: Readonly<Record<string, string>> = { "(": ")", ")": "(", "[": "]", "]": "[" };

function endOfRun(kinds: readonly Kind[], units: readonly string[], from: number): number {
  let end = from + 1;
  let hasWord = kinds[from] === "left";
  if (!hasWord && kinds[from] !== "figure") return end;
  for (let at = end; at < kinds.length && kinds[at] !== "right"; at += 1) {
    if (kinds[at] === "left") hasWord = true;
    // A blank parts figures, not words.
    if (units[at] === " " && !hasWord && kinds[at + 1] !== "left") break;
    if (kinds[at] !== "other") end = at + 1;
  }
  return end;
}
