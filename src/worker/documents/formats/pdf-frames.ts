import { groupBy } from "../../../shared/group-by.ts";
import type { Canvas } from "./pdf-canvas.ts";
import { BULLET } from "./pdf-glyphs.ts";
import type { Font, Glyph, Placed } from "./pdf-glyphs.ts";
import type { Ground, Grounds } from "./pdf-grounds.ts";
import { turnRules } from "./pdf-shapes.ts";
import type { Box, Rule } from "./pdf-shapes.ts";

/** The glyphs and rules of a page in one direction of reading. */
export type Frame = { readonly glyphs: readonly Glyph[]; readonly rules: readonly Rule[] };

export type Drawing = {
  /** One per direction, the one with the most glyphs first. */
  readonly frames: readonly Frame[];
  readonly pictures: number;
  /** How many runs of words are invisible. */
  readonly hidden: number;
  /** How many runs of words have fonts that name no letters; `letters` counts such letters and the others. */
  readonly unreadable: number;
  readonly letters: { readonly unreadable: number; readonly shown: number };
  /** The text layer over or below pictures: how many letters it has, and the share of the page that these pictures cover. */
  readonly layer: { readonly letters: number; readonly share: number };
};

/** Most letters of a ligature; a map with more for one glyph is broken, such as a whole sentence for a dot. */
const MOST_LETTERS = 20;

/** Splits the visible words of a page by their direction, and counts the invisible and unreadable ones. */
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

/** The share of the page that pictures cover, as if none overlaps another. */
const shareOf = (pictures: readonly Ground[], view: Box): number =>
  pictures.reduce((sum, { box }) => sum + areaOf(box), 0) / areaOf(view);

const areaOf = ([left, bottom, right, top]: Box): number => (right - left) * (top - bottom);

/** The picture behind an unpainted glyph: a scan below the words that a program recognised in it. */
const scanBehind = (glyph: Placed, grounds: Grounds): Ground | undefined =>
  glyph.run.look === "unpainted" ? grounds.pictureAt(glyph, 0) : undefined;

const isVisible = (glyph: Placed, grounds: Grounds): boolean =>
  glyph.run.look === "shown" && !glyph.isClipped && !grounds.hides(glyph.run, glyph);

/** Fewest glyphs of a direction; fewer are letters along a curve. */
const FEWEST_GLYPHS = 3;

function framesOf(glyphs: readonly Placed[], rules: readonly Rule[]): Frame[] {
  return [...groupBy(glyphs, ({ run }) => run.level.turn)]
    .toSorted(([, one], [, other]) => other.length - one.length)
    .filter(([, own], at) => at === 0 || own.length >= FEWEST_GLYPHS)
    .map(([turn, own]) => ({ glyphs: own, rules: turnRules(rules, turn) }));
}

const FIRST_LETTER = 32;
/** If more than one in so many letters of a font is a control character, its codes are numbers of glyphs. */
const FEW = 10;

/**
 * Finds fonts whose codes are numbers of glyphs, not letters: control characters are among them, or no blank.
 * @returns for each such font the text of its glyphs: a bullet if it has one or two, else ""
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
