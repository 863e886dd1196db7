import { append } from "../../../shared/group-by.ts";
import type { Box } from "./pdf-shapes.ts";

/** An area that is painted behind or over words. */
export type Ground = {
  readonly box: Box;
  /** Such as `#ffffff`; null for several colours. */
  readonly colour: string | null;
  readonly isOpaque: boolean;
  /** Position in the order of painting. */
  readonly order: number;
};

type Looked = {
  readonly colour: string | null;
  readonly order: number;
};

/** The middle of a glyph. */
type Middle = { readonly middleX: number; readonly middleY: number };

export type Grounds = {
  addFill(box: Box, fill: Omit<Ground, "box">): void;
  addPicture(box: Box, order: number): void;
  /** The picture at a place. @param since the first order that counts */
  pictureAt(place: Middle, since: number): Ground | undefined;
  /** Whether a glyph is invisible: it has the colour of its ground, or something covers it. All must be painted before. */
  hides(drawn: Looked, place: Middle): boolean;
};

const PAPER = "#ffffff";
/** Points; a thinner area is a line. */
const THINNEST = 3;
/** Height in points of the bands by which grounds are looked up. */
const BAND = 24;
/** Most grounds that are stored; a page with more is a drawing. */
const MOST = 20_000;

export function openGrounds(): Grounds {
  const bands = new Map<number, Ground[]>();
  const pictures: Ground[] = [];
  const picturesNear = bySquare(pictures);
  const colours = new Set([PAPER]);
  /** Cache: for a colour of words, whether a ground of the page has it. */
  const known = new Map<string, boolean>();
  const isGround = (colour: string): boolean => {
    const isKnown = known.get(colour) ?? [...colours].some((ground) => isAlike(ground, colour));
    known.set(colour, isKnown);
    return isKnown;
  };
  let count = 0;
  let lastOpaque = 0;
  const add = (ground: Ground): void => {
    const [left, bottom, right, top] = ground.box;
    if (!(right - left >= THINNEST && top - bottom >= THINNEST) || count > MOST) return;
    if (ground.colour !== null) colours.add(ground.colour);
    if (ground.isOpaque) lastOpaque = ground.order;
    for (
      let band = Math.floor(bottom / BAND);
      band <= Math.floor(top / BAND) && count <= MOST;
      band += 1
    ) {
      count += 1;
      append(bands, band, ground);
    }
  };
  return {
    addFill: (box, fill) => {
      add({ box, ...fill });
    },
    addPicture: (box, order) => {
      const picture: Ground = { box, colour: null, isOpaque: false, order };
      pictures.push(picture);
      add(picture);
    },
    pictureAt: (place, since) =>
      (pictures.at(-1)?.order ?? -1) < since
        ? undefined
        : picturesNear(place).find(({ box, order }) => order >= since && holds(box, place)),
    hides: ({ colour, order }, place) => {
      if (order > lastOpaque && (colour === null || !isGround(colour))) return false;
      const around = bands.get(Math.floor(place.middleY / BAND)) ?? [];
      const isCovered = around.some(
        (ground) =>
          ground.order > order &&
          ground.isOpaque &&
          ground.colour !== null &&
          holds(ground.box, place),
      );
      if (isCovered || colour === null) return isCovered;
      if (!isGround(colour)) return false;
      const behind = around.findLast(
        (ground) =>
          ground.order < order &&
          holds(ground.box, place) &&
          // A ground that is no rectangle may leave the glyph out; with the colour of the glyph it proves nothing.
          (ground.isOpaque || ground.colour === null || !isAlike(ground.colour, colour)),
      );
      return behind === undefined
        ? isAlike(PAPER, colour)
        : behind.isOpaque && behind.colour !== null && isAlike(behind.colour, colour);
    },
  };
}

/** Looks grounds up by squares, each of which is filled at its first use. All must be painted before. */
function bySquare(grounds: readonly Ground[]): (place: Middle) => readonly Ground[] {
  const squares = new Map<string, readonly Ground[]>();
  return ({ middleX, middleY }) => {
    const [x, y] = [middleX, middleY].map((at) => Math.floor(at / BAND) * BAND) as [number, number];
    const key = `${x} ${y}`;
    const found =
      squares.get(key) ??
      grounds.filter(
        ({ box: [left, bottom, right, top] }) =>
          left < x + BAND && right > x && bottom < y + BAND && top > y,
      );
    squares.set(key, found);
    return found;
  };
}

const holds = ([left, bottom, right, top]: Box, { middleX: x, middleY: y }: Middle): boolean =>
  x > left && x < right && y > bottom && y < top;

/** Sum of the differences of three channels (at most 765); words that differ less from their ground are not readable. */
const ALIKE = 24;

function isAlike(one: string, other: string): boolean {
  if (one === other) return true;
  const [first, second] = [channelsOf(one), channelsOf(other)];
  const apart = first.reduce((sum, channel, at) => sum + Math.abs(channel - (second[at] ?? 0)), 0);
  return apart < ALIKE;
}

const channelsOf = (colour: string): readonly number[] =>
  [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
