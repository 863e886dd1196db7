import { ELLIPSIS, findSequence, foldWords } from "../text/fold-words.ts";
import type { IndexedPiece } from "./evidence-names.ts";

/** The edit between two parts of a quote: words are left out (`inserted` is null), or words in brackets are inserted. */
type Gap = { readonly inserted: readonly string[] | null };

/** A quote as parts, each with the gap before it; `last` is the gap behind the last part. */
export type ElidedQuote = {
  readonly parts: readonly Part[];
  readonly last: Gap | null;
};

const INSERTION = "\uE001";
const IN_BRACKETS = /\[([^[\]]{1,200})\]/gu;
const AT_ENDS = /^[.,;:!?-]$/;
const MARK = /^[.,;:!?。、-]$/;
const MOST_PARTS = 8;

/**
 * Reads an ellipsis and words in square brackets as an editor's marks; null for a quote without any.
 *
 * @param quote as `joinLetters` returns it
 */
export function parseElided(quote: string): ElidedQuote | null {
  const insertions: (readonly string[])[] = [];
  const marked = quote
    .replaceAll(INSERTION, " ")
    .replaceAll(IN_BRACKETS, (whole, inside: string) => {
      const words = foldWords(inside).map(({ text }) => text);
      if (words.every((word) => word === ELLIPSIS)) return whole;
      insertions.push(words);
      return ` ${INSERTION} `;
    });
  const parts: { words: string[]; gap: Gap | null }[] = [{ words: [], gap: null }];
  for (const { text } of foldWords(marked)) {
    if (text === INSERTION) parts.push({ words: [], gap: { inserted: insertions.shift() ?? [] } });
    else if (text === ELLIPSIS) parts.push({ words: [], gap: { inserted: null } });
    else parts.at(-1)?.words.push(text);
  }
  const trimmed = parts.map(({ words, gap }) => ({ words: withoutEnds(words), gap }));
  return parts.length === 1 || parts.length > MOST_PARTS ? null : closeGaps(trimmed);
}

/** Editors quote "Bikes" as `[b]ikes`, and "keep" as `keep[s]`. */
export const joinLetters = (quote: string): string =>
  quote
    .replace(/^\((\p{L})\)(?=\p{L})/u, "$1")
    .replace(/\[(\p{L}{1,3})\](?=\p{L})|(?<=\p{L})\[(\p{L}{1,3})\]/gu, "$1$2");

export function withoutEnds(words: readonly string[]): string[] {
  const isMark = (word: string | undefined): boolean =>
    word !== undefined && (word === ELLIPSIS || AT_ENDS.test(word));
  let end = words.length;
  while (end > 0 && isMark(words[end - 1])) end -= 1;
  let start = 0;
  while (start < end && isMark(words[start])) start += 1;
  return words.slice(start, end);
}

type Part = { readonly words: readonly string[]; readonly gap: Gap | null };

/** Joins gaps without words between them; insertions have precedence. A gap at the front or end counts only as an insertion. */
function closeGaps(parts: readonly Part[]): ElidedQuote | null {
  const closed: Part[] = [];
  let pending: Gap | null = null;
  for (const { words, gap } of parts) {
    const open: Gap | null = joinGaps(pending, gap);
    pending = words.length === 0 ? open : null;
    if (words.length > 0)
      closed.push({ words, gap: closed.length === 0 ? insertionOf(open) : open });
  }
  return closed.length === 0 ? null : { parts: closed, last: insertionOf(pending) };
}

/** Of two insertions side by side the words of both count, but for an editor's remark. */
function joinGaps(first: Gap | null, second: Gap | null): Gap | null {
  const [one, two] = [first?.inserted ?? null, second?.inserted ?? null];
  if (one === null) return second ?? first;
  if (two === null || isRemark(two)) return first;
  return isRemark(one) ? second : { inserted: [...one, ...two] };
}

const insertionOf = (gap: Gap | null): Gap | null =>
  (gap?.inserted ?? null) === null ? null : gap;

const MOST_PLACES = 3;

/** Finds an elided quote in a piece, as indexes of words: all parts in order, with words between them that may be left out. */
export function findElided(
  { parts, last }: ElidedQuote,
  piece: IndexedPiece,
  idOf: (word: string) => number,
): { readonly first: number; readonly end: number } | null {
  const wanted = parts.map(({ words }) => words.map(idOf));
  if (wanted.some((ids) => ids.includes(-1))) return null;
  const [head = []] = wanted;
  for (const first of findSequence(head, piece.ids, MOST_PLACES)) {
    if (!mayStandBefore(parts[0]?.gap ?? null, first, piece, idOf)) continue;
    const end = parts.slice(1).reduce<number | null>((from, { gap }, at) => {
      const part = { ids: wanted[at + 1] ?? [], before: wanted[at] ?? [], gap };
      return from === null ? null : nextPart(part, from, piece, idOf);
    }, first + head.length);
    if (end !== null && mayStandBehind(last, end, piece, idOf)) return { first, end };
  }
  return null;
}

type WantedPart = {
  readonly ids: readonly number[];
  readonly before: readonly number[];
  readonly gap: Gap | null;
};

/** A part of fewer words could match by chance: it must be near the part before it, in the same sentence. */
const FEWEST_WORDS = 3;
const NEAR_WORDS = 40;
const MOST_REPLACED = 4;

/** Whether a word ends a sentence; in "30. April" the stop makes an ordinal. */
const endsSentence = (word: string, at: number, all: readonly string[]): boolean =>
  /^[;!?。]$/.test(word) || (word === "." && !/^\p{N}+$/u.test(all[at - 1] ?? ""));

/** The end of the next part, as an index of words; null where it is not found. */
function nextPart(
  { ids, before, gap }: WantedPart,
  from: number,
  piece: IndexedPiece,
  idOf: (word: string) => number,
): number | null {
  const inserted = gap?.inserted ?? null;
  const isNear = Math.min(ids.length, before.length) < FEWEST_WORDS;
  const reach = inserted !== null ? MOST_REPLACED : isNear ? NEAR_WORDS : piece.ids.length;
  const rest = piece.ids.subarray(from, from + reach + ids.length);
  const found = findSequence(ids, rest, MOST_PLACES).find((distance) => {
    const left = piece.words.slice(from, from + distance).map(({ text }) => text);
    if (isNear && left.some(endsSentence)) return false;
    return inserted === null
      ? !turnsRound(left)
      : isHarmless(inserted, idOf) && left.every((word) => SMALL.has(word) || MARK.test(word));
  });
  return found === undefined ? null : from + found + ids.length;
}

/** Whether the omitted words deny a quoted clause: those up to the next mark on each side count. */
function turnsRound(left: readonly string[]): boolean {
  const isMark = (word: string): boolean => MARK.test(word);
  const first = left.findIndex(isMark);
  const last = left.findLastIndex(isMark);
  const clauses = first === -1 ? left : [...left.slice(0, first), ...left.slice(last + 1)];
  return clauses.some(isDenial);
}

/** Whether an insertion may replace the words before a part: there are none, or only words that say little. */
function mayStandBefore(
  gap: Gap | null,
  first: number,
  { words, block }: IndexedPiece,
  idOf: (word: string) => number,
): boolean {
  if (gap === null || gap.inserted === null) return true;
  const before = words[first - 1];
  if (!isHarmless(gap.inserted, idOf)) return false;
  if (gap.inserted.every((word) => SMALL.has(word))) return true;
  if (before === undefined || SMALL.has(before.text) || /^[.;:!?。]$/.test(before.text))
    return true;
  return /\n\s*\n/.test(block.text.slice(before.end, words[first]?.start ?? 0));
}

function mayStandBehind(
  gap: Gap | null,
  end: number,
  { words }: IndexedPiece,
  idOf: (word: string) => number,
): boolean {
  if (gap === null || gap.inserted === null) return true;
  const next = words[end]?.text ?? ".";
  return isHarmless(gap.inserted, idOf) && (MARK.test(next) || SMALL.has(next));
}

const REMARK =
  /^(?:sic(?!\p{L})|emphasis|italics|hervor|kursiv|souligné|italique|énfasis|cursiva|subrayado)/u;

const isRemark = (inserted: readonly string[]): boolean =>
  REMARK.test(inserted[0] ?? "") && !inserted.some(isDenial);

/** Whether an insertion only explains: an editor's remark, or words of the evidence that do not change the meaning. */
const isHarmless = (inserted: readonly string[], idOf: (word: string) => number): boolean =>
  isRemark(inserted) ||
  inserted.every(
    (word) =>
      !isDenial(word) &&
      !CHANGING.has(word) &&
      (SMALL.has(word) || !/[\p{L}\p{N}]/u.test(word) || idOf(word) !== -1),
  );

const wordsOf = (...lines: readonly string[]): ReadonlySet<string> =>
  new Set(lines.join(" ").split(" "));

/** Whether a folded word denies, in English, German, French or Spanish. */
export const isDenial = (word: string): boolean =>
  DENIALS.has(word) || /n['’]t$/.test(word) || /^n['’]/.test(word);

const DENIALS = wordsOf(
  "not no never none nobody nothing neither nor without cannot",
  "nicht kein keine keinen keiner keinem keines nie niemals niemand nichts ohne weder",
  "ne pas jamais aucun aucune rien sans ni nunca jamás jamas ningún ningun ninguna ninguno nada nadie sin tampoco",
);
const CHANGING = wordsOf(
  "may might can could must shall should will would only all every each always any some most",
  "darf dürfen kann können muss müssen soll sollen wird werden nur alle jeder jede jedes immer",
  "peut peuvent doit doivent seulement tous toutes toujours chaque",
  "puede pueden debe deben solo sólo todos todas siempre cada",
);
/** Pronouns, articles, forms of "be" and "have", which an editor may replace. */
const SMALL = wordsOf(
  "he she it they we you i him her them us his its their our your my this that these those the a an who which and but",
  "is was are were be been has had have",
  "er sie es wir ihr ich ihn ihm ihnen uns sein seine ihre unser dies diese dieser dieses der die das den dem des ein eine",
  "einen einem und aber ist war sind waren hat hatte haben",
  "il elle ils elles on nous vous je lui leur son sa ses ce cette ces le la les un une et mais est était sont étaient avait",
  "él ella ellos ellas usted yo su sus este esta estos estas ese esa el los las una y pero son era eran fue ha había",
);
