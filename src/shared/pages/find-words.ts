import type { PixelBox } from "./page-record.ts";

/** Left, top, right, bottom from the upper left corner of the shown page. All boxes have the same unit. */
export type Box = PixelBox;

/** A letter of a PDF, or a word that OCR read in a picture. */
export type PlacedText = {
  readonly text: string;
  readonly box: Box;
  /** Its line runs up or down the page. */
  readonly isSideways: boolean;
};

export type WantedWords = {
  readonly words: string;
  /** The text before and after them, which selects one of several places; may be empty. */
  readonly before: string;
  readonly after: string;
};

export type FoundWords = {
  /** One box per line, in the order of the page. */
  readonly boxes: readonly Box[];
  /** The share of letters that were found, 0 to 1. */
  readonly share: number;
  /** How often the words occur, if the context selects no single place; all are marked. */
  readonly times: number;
};

const NOWHERE: FoundWords = { boxes: [], share: 0, times: 0 };
/** Below this share the text counts as different words. */
const LEAST_SHARE = 0.6;

/**
 * Finds words on a page. Only letters and digits count, whatever blanks, hyphens, ligatures and table cells lie between them.
 * Words in another order, as in columns, are found piece by piece.
 */
export function findWords(page: readonly PlacedText[], wanted: WantedWords): FoundWords {
  const text = fold(page.map((one) => one.text));
  const words = foldText(wanted.words);
  if (words.text === "") return NOWHERE;
  const places = bestPlaces(text, words.text, wanted);
  const spans =
    places.length > 0
      ? places.map((start) => ({ start, end: start + words.text.length }))
      : spansOfPieces(page, text, wordsOf(words));
  const letters = spans.reduce((sum, { start, end }) => sum + end - start, 0);
  const share = Math.min(1, letters / words.text.length);
  if (share < LEAST_SHARE) return NOWHERE;
  const marked = new Set(spans.flatMap(({ start, end }) => text.from.slice(start, end)));
  return {
    boxes: linesOf([...marked].sort((one, other) => one - other).map((at) => page[at])),
    share,
    times: Math.max(1, places.length),
  };
}

type Folded = {
  readonly text: string;
  /** The index of the piece of each letter. */
  readonly from: readonly number[];
  /** Whether something other than a letter precedes each letter. */
  readonly begins: readonly boolean[];
};

const foldText = (text: string): Folded => fold(Array.from(text));

/** Folds to lower-case letters and digits without accents. A dot or a comma between two digits belongs to their number. */
function fold(pieces: readonly string[]): Folded {
  const from: number[] = [];
  const begins: boolean[] = [];
  let text = "";
  let isOpen = false;
  let dot: { readonly sign: string; readonly from: number } | undefined;
  const add = (letter: string, at: number): void => {
    // Letters beyond the basic plane have two units, and each unit gets an entry.
    for (let unit = 0; unit < letter.length; unit += 1) {
      from.push(at);
      begins.push(!isOpen);
      isOpen = true;
    }
    text += letter;
  };
  for (const [at, piece] of pieces.entries()) {
    for (const sign of piece.normalize("NFKD").toLowerCase()) {
      if (LETTER.test(sign)) {
        if (dot !== undefined && DIGIT.test(sign)) {
          isOpen = true;
          add(dot.sign, dot.from);
        }
        add(sign, at);
        dot = undefined;
      } else if (!UNSEEN.test(sign)) {
        dot =
          isOpen && DOT.test(sign) && DIGIT.test(text.slice(-1)) ? { sign, from: at } : undefined;
        isOpen = false;
      }
    }
  }
  return { text, from, begins };
}

const LETTER = /^[\p{L}\p{N}]$/u;
const DIGIT = /^\p{N}$/u;
const DOT = /^[.,]$/;
/** Combining accents, soft hyphens, marks without width. */
const UNSEEN = /^[\p{M}\p{Cf}\u0002]$/u;

function wordsOf({ text, begins }: Folded): readonly string[] {
  const starts = begins.flatMap((isFirst, at) => (isFirst ? [at] : []));
  return starts.map((start, at) => text.slice(start, starts[at + 1]));
}

const MOST_PLACES = 200;
/** Words that may occur inside another word: in scripts without blanks, or too long to do so by chance. */
const STANDS_ANYWHERE = /[^\p{ASCII}]|^.{8}/u;

/** Where the words occur: as whole words if they do so anywhere. */
function placesOf({ text, begins }: Folded, words: string): readonly number[] {
  const places: number[] = [];
  for (
    let at = text.indexOf(words);
    at >= 0 && places.length < MOST_PLACES;
    at = text.indexOf(words, at + 1)
  ) {
    places.push(at);
  }
  const isOwn = (at: number): boolean => begins[at] === true && (begins[at + words.length] ?? true);
  const own = places.filter(isOwn);
  return own.length > 0 || !STANDS_ANYWHERE.test(words) ? own : places;
}

/** The places whose context matches the most letters of the wanted context. */
function bestPlaces(
  page: Folded,
  words: string,
  { before, after }: WantedWords,
): readonly number[] {
  const places = placesOf(page, words);
  if (places.length < 2) return places;
  const [lead, rest] = [foldText(before).text, foldText(after).text];
  const scores = places.map(
    (at) =>
      countEqual(lead.length, (n) => page.text[at - n] === lead.at(-n)) +
      countEqual(rest.length, (n) => page.text[at + words.length + n - 1] === rest[n - 1]),
  );
  const best = Math.max(...scores);
  return places.filter((_, at) => scores[at] === best);
}

function countEqual(most: number, isSame: (nth: number) => boolean): number {
  let same = 0;
  while (same < most && isSame(same + 1)) same += 1;
  return same;
}

type Span = { readonly start: number; readonly end: number };

const MOST_WORDS = 2_000;
/** Shorter pieces occur by chance: they count only near another piece. */
const LONG_PIECE = 12;
const NEAR_LINES = 6;

/** The longest runs of words that occur together, each at the place nearest to a longer one. */
function spansOfPieces(
  page: readonly PlacedText[],
  text: Folded,
  words: readonly string[],
): readonly Span[] {
  const pieces = piecesOf(text, words).sort((one, other) => other.length - one.length);
  const spans: Span[] = [];
  const boxOf = ({ start, end }: Span): Box =>
    boxAround(
      text.from.slice(start, end).flatMap((at) => (page[at] === undefined ? [] : [page[at].box])),
    );
  for (const piece of pieces) {
    const places = placesOf(text, piece)
      .map((start) => ({ start, end: start + piece.length }))
      .filter((span) => spans.every((one) => span.end <= one.start || span.start >= one.end));
    const ranked = places
      .map((span) => {
        const box = boxOf(span);
        const far = Math.min(...spans.map((one) => distance(box, boxOf(one))));
        return { span, far: far / Math.max(1e-6, Math.min(width(box), height(box))) };
      })
      .sort((one, other) => one.far - other.far);
    const [nearest] = ranked;
    if (nearest === undefined) continue;
    if (piece.length >= LONG_PIECE || spans.length === 0 || nearest.far <= NEAR_LINES) {
      spans.push(nearest.span);
    }
  }
  return spans;
}

function piecesOf(text: Folded, words: readonly string[]): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < Math.min(words.length, MOST_WORDS);) {
    let piece = "";
    let next = at;
    while (next < words.length && placesOf(text, piece + (words[next] ?? "")).length > 0) {
      piece += words[next] ?? "";
      next += 1;
    }
    if (piece !== "") pieces.push(piece);
    at = Math.max(next, at + 1);
  }
  return pieces;
}

const width = ([left, , right]: Box): number => right - left;
const height = ([, top, , bottom]: Box): number => bottom - top;

const boxAround = (boxes: readonly Box[]): Box => [
  Math.min(...boxes.map(([left]) => left)),
  Math.min(...boxes.map(([, top]) => top)),
  Math.max(...boxes.map(([, , right]) => right)),
  Math.max(...boxes.map(([, , , bottom]) => bottom)),
];

/** The gap between two spans of an axis; negative if they overlap. */
const gap = (from: number, to: number, otherFrom: number, otherTo: number): number =>
  Math.max(from, otherFrom) - Math.min(to, otherTo);

const distance = (one: Box, other: Box): number =>
  Math.max(0, gap(one[0], one[2], other[0], other[2])) +
  Math.max(0, gap(one[1], one[3], other[1], other[3]));

/** A wider gap separates cells of a table, in line heights. */
const WIDEST_GAP = 2.5;
/** The margin of a mark around its letters, as a share of the line height. */
const MARGIN = 0.14;

/** Merges the boxes of consecutive letters, one box per line. */
function linesOf(letters: readonly (PlacedText | undefined)[]): readonly Box[] {
  const lines: { box: Box; readonly isSideways: boolean }[] = [];
  for (const letter of letters) {
    if (letter === undefined) continue;
    const last = lines.at(-1);
    if (last?.isSideways === letter.isSideways && continuesLine(last.box, letter)) {
      last.box = boxAround([last.box, letter.box]);
    } else {
      lines.push({ box: letter.box, isSideways: letter.isSideways });
    }
  }
  return lines.map(({ box, isSideways }) => {
    const margin = MARGIN * (isSideways ? width(box) : height(box));
    return [box[0] - margin, box[1] - margin, box[2] + margin, box[3] + margin];
  });
}

function continuesLine(line: Box, { box, isSideways }: PlacedText): boolean {
  const [l, b] = isSideways ? [swapAxes(line), swapAxes(box)] : [line, box];
  const shared = -gap(l[1], l[3], b[1], b[3]);
  return (
    shared >= 0.3 * Math.min(height(l), height(b)) &&
    gap(l[0], l[2], b[0], b[2]) <= WIDEST_GAP * Math.max(height(l), height(b))
  );
}

const swapAxes = ([left, top, right, bottom]: Box): Box => [top, left, bottom, right];
