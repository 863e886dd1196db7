import { groupBy } from "../../../shared/group-by.ts";
import type { Canvas } from "./pdf-canvas.ts";
import { BULLET } from "./pdf-glyphs.ts";
import type { Font, Glyph, Placed } from "./pdf-glyphs.ts";
import type { Ground, Grounds } from "./pdf-grounds.ts";
import { turnRules } from "./pdf-shapes.ts";
import type { Box, Rule } from "./pdf-shapes.ts";

/** What a page shows in one direction of reading. */
export type Frame = { readonly glyphs: readonly Glyph[]; readonly rules: readonly Rule[] };

export type Drawing = {
  /** The direction of most glyphs first. */
  readonly frames: readonly Frame[];
  readonly pictures: number;
  /** Runs of words that nobody sees. */
  readonly hidden: number;
  /** Runs of words in fonts that name no letters, and how many letters they have beside the others. */
  readonly unreadable: number;
  readonly letters: { readonly unreadable: number; readonly shown: number };
  /** Letters that nobody sees but in the pictures that they lie on or below, and the share of the page that these cover. */
  readonly layer: { readonly letters: number; readonly share: number };
};

/** Of a ligature; a map that has more for a glyph is broken, as where it has a whole sentence for a dot. */
const MOST_LETTERS = 20;

/** Parts what a page shows by its directions, and counts the rest. */
export function readFrames({ placed, rules, grounds, pictures, page }: Canvas): Drawing {
  const unreadable = unreadableFonts(placed);
  const scans = new Set<Ground>();
  const layer = { letters: 0, pictures: new Set<Ground>() };
  const shown: Placed[] = [];
  const runs = { hidden: 0, unreadable: 0, shown: 0 };
  let letters = 0;
  let before: keyof typeof runs = "shown";
  for (const glyph of placed) {
    const isNamed = glyph.text.length <= MOST_LETTERS;
    const text = isNamed ? (unreadable.get(glyph.run.text.font) ?? glyph.text) : "";
    const scan = scanBehind(glyph, grounds);
    if (scan !== undefined) scans.add(scan);
    const isHidden = scan === undefined && !isVisible(glyph, grounds);
    if (isHidden && glyph.text.trim() === "") continue;
    const look = isHidden ? "hidden" : text === "" && glyph.text !== "" ? "unreadable" : "shown";
    if (look !== before) runs[look] += 1;
    before = look;
    if (look === "unreadable") letters += 1;
    if (look !== "shown" || text === "") continue;
    shown.push(text === glyph.text ? glyph : { ...glyph, text });
    const seen = scan ?? grounds.pictureAt(glyph, glyph.run.order);
    if (seen === undefined || text.trim() === "") continue;
    layer.letters += 1;
    layer.pictures.add(seen);
  }
  return {
    frames: framesOf(shown, rules),
    pictures: pictures - scans.size,
    hidden: runs.hidden,
    unreadable: runs.unreadable,
    letters: { unreadable: letters, shown: shown.length },
    layer: { letters: layer.letters, share: shareOf([...layer.pictures], page.view) },
  };
}

/** Of the page, by pictures that lie beside each other. */
const shareOf = (pictures: readonly Ground[], view: Box): number =>
  pictures.reduce((sum, { box }) => sum + areaOf(box), 0) / areaOf(view);

const areaOf = ([left, bottom, right, top]: Box): number => (right - left) * (top - bottom);

/** The picture of words that are there once more, unpainted, as a program recognised them. */
const scanBehind = (glyph: Placed, grounds: Grounds): Ground | undefined =>
  glyph.run.look === "unpainted" ? grounds.pictureAt(glyph, 0) : undefined;

const isVisible = (glyph: Placed, grounds: Grounds): boolean =>
  glyph.run.look === "shown" && !glyph.isClipped && !grounds.hides(glyph.run, glyph);

/** Of a direction; fewer are letters along a curve. */
const FEWEST_GLYPHS = 3;

function framesOf(glyphs: readonly Placed[], rules: readonly Rule[]): Frame[] {
  return [...groupBy(glyphs, ({ run }) => run.level.turn)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .filter(([, own], at) => at === 0 || own.length >= FEWEST_GLYPHS)
    .map(([turn, own]) => ({ glyphs: own, rules: turnRules(rules, turn) }));
}

const FIRST_LETTER = 32;
/** One of so many letters of a font is a control character where its codes are numbers of glyphs. */
const FEW = 10;

/**
 * Fonts whose codes are numbers of glyphs, no letters: control characters are among them, or no blank.
 * @returns the text of each of their glyphs: a bullet where the font has one or two, or nothing
 */
function unreadableFonts(placed: readonly Placed[]): ReadonlyMap<Font, string> {
  const fonts = new Map<Font, { readonly used: Set<number>; all: number; controls: number }>();
  for (const { run, code, text } of placed) {
    const { font } = run.text;
    const facts = fonts.get(font) ?? { used: new Set(), all: 0, controls: 0 };
    if (facts.all === 0) fonts.set(font, facts);
    facts.all += 1;
    if (text === "" && code < FIRST_LETTER) facts.controls += 1;
    if (font.isUnmapped) facts.used.add(code);
  }
  return new Map(
    [...fonts]
      .filter(([, { used, all, controls }]) =>
        used.size === 0
          ? controls * FEW > all && controls > 1
          : !used.has(FIRST_LETTER) || controls > 0,
      )
      .map(([font, { used }]) => [font, used.size === 1 || used.size === 2 ? BULLET : ""] as const),
  );
}
