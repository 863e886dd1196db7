import { turnOf } from "./pdf-shapes.ts";
import type { Box, Matrix } from "./pdf-shapes.ts";

/** One or more letters that one glyph draws, in coordinates of a page that is turned until the line is level. */
export type Glyph = {
  readonly text: string;
  readonly x: number;
  readonly end: number;
  readonly y: number;
  readonly size: number;
  /** Whether it begins a run of letters that follows another run. */
  readonly opens: boolean;
};

/** A glyph as it stands on the page. */
export type Placed = Glyph & {
  readonly run: Run;
  readonly middleX: number;
  readonly middleY: number;
  readonly isClipped: boolean;
  readonly code: number;
};

/** Glyphs that one operation draws: their look, and the direction of their line. */
export type Run = {
  readonly level: Level;
  readonly text: TextState;
  readonly clip: Box;
  /** Such as `#ffffff`; null for several colours. */
  readonly colour: string | null;
  /** Position in the order of drawing. */
  readonly order: number;
  readonly look: "shown" | "unpainted" | "hidden";
  /** Whether its first glyph begins a run that follows another run. */
  readonly opens: boolean;
};

/** How pdf.js describes a glyph. */
export type DrawnGlyph = {
  readonly unicode: string;
  readonly width: number;
  readonly vmetric?: readonly number[] | null;
  readonly isSpace: boolean;
  readonly originalCharCode: number;
};

/** How pdf.js describes a font. */
export type DrawnFont = {
  readonly fontMatrix?: readonly number[] | null;
  readonly vertical?: boolean;
  readonly isType3Font?: boolean;
  readonly bbox?: readonly number[] | null;
  readonly composite?: boolean;
  /** A map with `firstChar` is invented by pdf.js: it takes codes for letters. */
  readonly toUnicode?: { readonly firstChar?: number } | null;
};

export type Font = {
  /** Font sizes per unit of its glyphs. */
  readonly unit: number;
  /** Height of its letters in font sizes; glyphs of Type 3 fonts are drawings with any unit. */
  readonly height: number;
  readonly isUpright: boolean;
  /** Whether two-byte codes are taken for letters because no map says which letters they draw. */
  readonly isUnmapped: boolean;
};

/** The facts that the reader needs of a font, copied because pdf.js looks each one up anew. */
export function factsOf(font: DrawnFont | undefined): Font {
  const { fontMatrix, bbox } = font ?? {};
  const [unit = 0.001, , , up = 0.001] = fontMatrix ?? [];
  const tall = font?.isType3Font === true ? ((bbox?.[3] ?? 0) - (bbox?.[1] ?? 0)) * up : 0;
  return {
    unit,
    height: tall === 0 ? 1 : Math.abs(tall),
    isUpright: font?.vertical === true,
    isUnmapped: font?.composite === true && font.toUnicode?.firstChar !== undefined,
  };
}

/** The part of the graphics state that places letters. */
export type TextState = {
  readonly font: Font;
  readonly fontSize: number;
  readonly charSpacing: number;
  readonly wordSpacing: number;
  /** Horizontal scale: 1 is the width of the font. */
  readonly scale: number;
  readonly leading: number;
  readonly rise: number;
};

export const FIRST_TEXT: TextState = {
  font: factsOf(undefined),
  fontSize: 0,
  charSpacing: 0,
  wordSpacing: 0,
  scale: 1,
  leading: 0,
  rise: 0,
};

/** The place of the next glyph and the start of its line, before the matrix is applied. */
export type Pen = { matrix: Matrix; x: number; y: number; lineX: number; lineY: number };

export const penAt = (matrix: Matrix): Pen => ({ matrix, x: 0, y: 0, lineX: 0, lineY: 0 });

/** Moves the pen along its line, which runs downwards in vertical writing. */
function advancePen(pen: Pen, text: TextState, along: number, spacing: number): void {
  if (text.font.isUpright) pen.y -= along - spacing;
  else pen.x += (along + spacing) * text.scale;
}

/** The direction and the size of a line on the page. */
type Level = {
  readonly matrix: Matrix;
  /** Degrees. */
  readonly turn: number;
  readonly cos: number;
  readonly sin: number;
  /** Points along the line of a unit of the text. */
  readonly stretch: number;
  readonly size: number;
};

/** @param matrix from the space of text to the page */
export function levelOf({ font, fontSize, scale }: TextState, matrix: Matrix): Level {
  const [a, b, c, d] = matrix;
  const { isUpright } = font;
  const stretch = isUpright ? -Math.hypot(c, d) : scale * Math.hypot(a, b);
  const isBackwards = !isUpright && font.unit * fontSize * stretch < 0;
  const angle = (isUpright ? Math.atan2(-d, -c) : Math.atan2(b, a)) + (isBackwards ? Math.PI : 0);
  const turn = Math.round((angle * 180) / Math.PI + 720) % 360;
  const [cos, sin] = turnOf(turn);
  const size = Math.abs(fontSize) * font.height * Math.hypot(c, d);
  return { matrix, turn, cos, sin, stretch, size };
}

/**
 * Places glyphs from the pen on, and leaves the pen behind them.
 * @param glyphs of pdf.js; a number between two is a gap, in thousandths of the size
 */
export function placeRun(
  glyphs: readonly (DrawnGlyph | number | null)[],
  run: Run,
  pen: Pen,
): Placed[] {
  const placed: Placed[] = [];
  for (const glyph of glyphs) {
    if (typeof glyph === "number") {
      advancePen(pen, run.text, 0, (-glyph * run.text.fontSize) / 1_000);
    } else if (glyph !== null) placed.push(placeGlyph(glyph, placed.length, run, pen));
  }
  return placed;
}

function placeGlyph(glyph: DrawnGlyph, at: number, run: Run, pen: Pen): Placed {
  const { text, level } = run;
  const { cos, sin, size } = level;
  const { font, fontSize, rise, charSpacing, wordSpacing } = text;
  const [a, b, c, d, e, f] = level.matrix;
  const [left, bottom] = [a * pen.x + c * (pen.y + rise) + e, b * pen.x + d * (pen.y + rise) + f];
  const width = font.isUpright && glyph.vmetric ? -(glyph.vmetric[0] ?? 0) : glyph.width;
  const along = width * (font.unit * fontSize);
  const length = Math.abs(along * level.stretch);
  const x = left * cos + bottom * sin;
  const middleX = left + (cos * length) / 2 - sin * size * 0.3;
  const middleY = bottom + (sin * length) / 2 + cos * size * 0.3;
  advancePen(pen, text, along, charSpacing + (glyph.isSpace ? wordSpacing : 0));
  return {
    text: lettersOf(glyph.unicode),
    x,
    end: x + length,
    y: bottom * cos - left * sin,
    size,
    opens: run.opens && at === 0,
    run,
    middleX,
    middleY,
    isClipped: !isWithin(run.clip, middleX, middleY),
    code: glyph.originalCharCode,
  };
}

const isWithin = ([left, bottom, right, top]: Box, x: number, y: number): boolean =>
  x >= left - 1 && x <= right + 1 && y >= bottom - 1 && y <= top + 1;

/** Letters that one glyph draws together, and other shapes of letters that have one of their own. */
const COMPOSED =
  /[\u2e80-\u2fdf\ufb00-\ufdff\ufe70-\ufefc\uff05\uff0b\uff0d\uff0e\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff65-\uff9f]/u;
/** Bullets of symbol fonts, in the private range. */
const SYMBOL_BULLETS = /[\uf0a7\uf0b7]/gu;
export const BULLET = "•";
const NO_LETTERS = /[\0-\x1f\x7f\u200b\ufeff\ufffd]/gu;
/** Alef before lam in one glyph: its map has the letters of the ligature lam-alef in the wrong order, left to right. */
const TURNED_LIGATURE = /^([\u0622\u0623\u0625\u0627])(\u0644)$/u;

/** Cache of cleaned letters, because most glyphs repeat. */
const letters = new Map<string, string>();
const MOST_KEPT = 20_000;

function lettersOf(unicode: string): string {
  const kept = letters.get(unicode);
  if (kept !== undefined) return kept;
  const found = cleanLetters(unicode);
  if (letters.size < MOST_KEPT) letters.set(unicode, found);
  return found;
}

function cleanLetters(unicode: string): string {
  const text = unicode.replaceAll(NO_LETTERS, "").replaceAll(/\s/gu, " ");
  const plain = COMPOSED.test(text) ? text.normalize("NFKC") : text;
  return plain
    .replace(TURNED_LIGATURE, "$2$1")
    .replaceAll("\u00ad", "-")
    .replaceAll(SYMBOL_BULLETS, BULLET);
}
