import { labelsOf } from "../../evidence/number.ts";
import { findCodes } from "./codes.ts";
import { findFigure } from "./figure-rules.ts";
import { overlapsAny } from "./figures.ts";
import type { ClaimFigure } from "./figures.ts";
import { wordsIn } from "./pair.ts";
import type { Finding, Pair } from "./pair.ts";
import { cutSegments, segmentAt } from "./segments.ts";
import type { TextSpan } from "../../text/spans.ts";
import type { Term } from "./terms.ts";
import { compareVoices } from "./voice.ts";
import { foldSpaces, type ReadPiece } from "./pieces.ts";
import type { Name } from "./names.ts";

/** Codes, addresses and identifiers stand whole in the cited pieces. */
export function compareCodes({ claim, cited, question }: Pair): Finding | null {
  const missing = claim.codes.find(
    ({ text }) =>
      !cited.some((piece) => piece.codes().has(text) || piece.folded().includes(text)) &&
      !question.codes.some((code) => code.text === text),
  );
  return missing === undefined
    ? null
    : {
        grade: "unsupported",
        reason: "name",
        detail: `${missing.text} stands nowhere in what is cited`,
      };
}

/** Names stand in the cited pieces, whole: another surname behind a known first name is another person. */
export function compareNames(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  for (const name of claim.names) {
    const missing = name.isWeak ? [] : missingWords(name, pair);
    if (missing.length === 0) continue;
    const isNamed = claim.language !== "german" || missing.includes(name.words.at(-1) ?? "");
    const isHard = isNamed && claim.language === unit.language;
    const detail = `${name.text} stands nowhere in what is cited`;
    return { grade: isHard ? "unsupported" : "partly", reason: "name", detail };
  }
  const other = replacedName(pair);
  return other === null
    ? null
    : { grade: "unsupported", reason: "name", detail: `${other} stands nowhere in what is cited` };
}

/** "Rosalind prefers", where the sentence says that Marguerite prefers: a first word says by its neighbour that it is a name. */
function replacedName({ claim, unit, cited, met }: Pair): string | null {
  const [first, second] = claim.terms;
  if (first === undefined || second === undefined || claim.language === "german") return null;
  if (claim.language !== unit.language || !first.isContent) return null;
  // Of "l'association" the article is a word of its own.
  if (first.word.length < 2 || overlapsAny(first, claim.figures)) return null;
  if (cited.some((piece) => holds(piece, first.word, false))) return null;
  const places = met.find(({ term }) => term === second)?.places ?? [];
  const isReplaced = places.some((place) => {
    const before = unit.terms[place - 1];
    if (before === undefined || !before.isContent) return false;
    const isCapital = /^\p{Lu}/u.test(unit.text.slice(before.start, before.end));
    return isCapital && !claim.terms.some(({ word }) => word === before.word);
  });
  return isReplaced ? claim.text.slice(first.start, first.end) : null;
}

function missingWords({ words }: Name, { claim, cited, question }: Pair): string[] {
  return words.filter(
    (word) =>
      !cited.some((piece) => holds(piece, word, claim.language === "japanese")) &&
      !question.terms.some((term) => term.word === word),
  );
}

function holds(piece: ReadPiece, word: string, isJapanese: boolean): boolean {
  if (piece.words.has(word)) return true;
  if (isJapanese)
    return piece.folded().replaceAll(" ", "").includes(foldSpaces(word).replaceAll(" ", ""));
  return word.endsWith("s") && piece.words.has(word.slice(0, -1));
}

/** Names and codes stand in the unit, or in the labels of its piece where the unit has none of their kind. */
export function compareNamePlace(pair: Pair): Finding | null {
  const { claim, unit, piece } = pair;
  const whole = { start: 0, end: unit.text.length };
  const mayBeLabel = { name: !otherNames(whole, pair), code: !otherCodes(whole, pair) };
  const isIn = (word: string): boolean =>
    unit.terms.some((term) => term.word === word) || (mayBeLabel.name && piece.labels.has(word));
  const name = claim.names.find(
    ({ words, isWeak }) =>
      !isWeak && words.some((word) => !isIn(word) && pair.cited.some((one) => one.words.has(word))),
  );
  const folded = foldSpaces(unit.text);
  const code = claim.codes.find(
    ({ text }) => !folded.includes(text) && !(mayBeLabel.code && isInLabels(text, pair)),
  );
  const apart = name ?? code ?? openingApart(pair) ?? labelInPlace(pair);
  return apart === null
    ? null
    : { grade: "partly", reason: "place", detail: `${apart.text} stands in another sentence` };
}

/** "Nach Berlin" of a title, where the sentence says "nach Hamburg": German nouns are told from names by what stands before them. */
function labelInPlace({ claim, unit, met }: Pair): { readonly text: string } | null {
  if (claim.language !== "german") return null;
  const isNew = (term: Term | undefined): boolean =>
    term !== undefined &&
    /^\p{Lu}/u.test(unit.text.slice(term.start, term.end)) &&
    !claim.terms.some(({ word }) => word === term.word);
  const label = met.find(({ term, isLabel }) => {
    const before = claim.terms[claim.terms.indexOf(term) - 1]?.word;
    return (
      isLabel && unit.terms.some(({ word }, at) => word === before && isNew(unit.terms[at + 1]))
    );
  });
  return label === undefined ? null : { text: claim.text.slice(label.term.start, label.term.end) };
}

/** A sentence begins with a word that the piece writes with a capital alone, and the unit does not hold. */
function openingApart({ claim, unit, piece }: Pair): { readonly text: string } | null {
  const [first] = claim.terms;
  if (first === undefined || !first.isContent || claim.language === "german") return null;
  const text = claim.text.slice(first.start, first.end);
  const isName =
    /^\p{Lu}\p{Ll}/u.test(text) &&
    piece.block.text.includes(text) &&
    !piece.block.text.includes(text.toLowerCase());
  const isThere =
    unit.terms.some(({ word }) => word === first.word) || piece.labels.has(first.stem);
  return isName && !isThere ? { text } : null;
}

const isInLabels = (code: string, { piece: { block } }: Pair): boolean =>
  foldSpaces(labelsOf(block).join(" ")).includes(code);

type Anchor = TextSpan & { readonly text: string; readonly at: number };

/** Where each name and code of the claim stands in the unit, in the order of the claim; those that stand there once. */
function anchorsOf({ claim, unit }: Pair): Anchor[] {
  const folded = unit.text.toLowerCase();
  const names = claim.names.filter(({ isWeak }) => !isWeak);
  const [first] = claim.terms;
  const isName =
    first?.isContent === true &&
    claim.language !== "german" &&
    !overlapsAny(first, names) &&
    unit.text.includes(claim.text.slice(first.start, first.end));
  const opening = isName ? [{ ...first, text: claim.text.slice(first.start, first.end) }] : [];
  return [...opening, ...names, ...claim.codes]
    .sort((one, other) => one.start - other.start)
    .flatMap(({ text, start, end }) => {
      const [at, second] = placesOfWord(text.toLowerCase(), folded);
      return at === undefined || second !== undefined ? [] : [{ text, start, end, at }];
    });
}

/** Where a name stands as a whole, the first two places: "dx-20" is not in "dx-20p". */
function placesOfWord(word: string, text: string): number[] {
  const places: number[] = [];
  for (
    let at = text.indexOf(word);
    at !== -1 && places.length < 2;
    at = text.indexOf(word, at + Math.max(1, word.length))
  ) {
    const isWhole =
      !/[\p{L}\p{N}]$/u.test(text.slice(Math.max(0, at - 1), at)) &&
      !/^[\p{L}\p{N}]/u.test(text.slice(at + word.length, at + word.length + 1));
    if (isWhole) places.push(at);
  }
  return places;
}

/** Names stand in the order of the sentence. */
export function compareAnchors(pair: Pair): Finding | null {
  if (pair.unit.kind === "row" || compareVoices(pair) === "same") return null;
  const anchors = anchorsOf(pair);
  const inverted = anchors.find(({ at }, index) => at < (anchors[index - 1]?.at ?? 0));
  return inverted === undefined
    ? null
    : { grade: "partly", reason: "order", detail: `${inverted.text} stands before, and not after` };
}

/** Names in a part of the unit that the claim does not name; of German only two capitals in a row are known as one. */
function otherNames(part: TextSpan, { claim, unit }: Pair): boolean {
  const capitals = unit.terms.filter(
    ({ start, end, isContent }) =>
      isContent &&
      start >= part.start &&
      end <= part.end &&
      !overlapsAny({ start, end }, unit.figures()) &&
      /^\p{Lu}/u.test(unit.text.slice(start, end)),
  );
  const isNew = ({ word }: Term): boolean => !claim.terms.some((term) => term.word === word);
  if (unit.language !== "german") return capitals.some(isNew);
  return capitals.some((term, at) => isNew(term) && capitals[at - 1]?.end === term.start - 1);
}

/** "Chair: Lanzas; treasurer, Doltra; huts, Abellaneda": with several semicolons these part what belongs together. */
function listItems(text: string): TextSpan[] | null {
  const items: TextSpan[] = [];
  let start = 0;
  for (const { index } of text.matchAll(/;/g)) {
    items.push({ start, end: index });
    start = index + 1;
  }
  return items.length < 2 ? null : [...items, { start, end: text.length }];
}

/** No other name stands nearer to the words of the claim than its own. */
export function compareNameRival(pair: Pair): Finding | null {
  const { unit } = pair;
  if (unit.kind === "row") return null;
  const segments = listItems(unit.text) ?? unit.segments();
  const anchors = anchorsOf(pair);
  const isOfName = ({ start, end }: Term): boolean =>
    anchors.some((anchor) => anchor.start <= start && end <= anchor.end);
  for (const { text, at } of anchors) {
    const own = segments[segmentAt(segments, at)];
    const held = new Set([...wordsIn(own, pair)].filter((term) => !isOfName(term)));
    const rival = segments.find((segment) => {
      if (segment === own) return false;
      const near = [...wordsIn(segment, pair)].filter((term) => !isOfName(term));
      if (near.length <= held.size || ![...held].every((term) => near.includes(term))) return false;
      return otherNames(segment, pair);
    });
    if (rival !== undefined)
      return {
        grade: "partly",
        reason: "rival",
        detail: `another name stands nearer than ${text}`,
      };
  }
  return null;
}

/** A figure and the name, code or ordinal of the claim stand in one part of the unit, or no other one stands in the figure's. */
export function compareBinding(pair: Pair): Finding | null {
  const { unit } = pair;
  if (unit.kind === "row") return null;
  const anchors = [...anchorsOf(pair), ...ordinalsOf(pair)];
  if (anchors.length === 0) return null;
  return bindingIn(cutParts(unit.text), anchors, pair) ?? bindingIn(unit.segments(), anchors, pair);
}

function bindingIn(
  parts: readonly TextSpan[],
  anchors: readonly Pick<Anchor, "text" | "at">[],
  pair: Pair,
): Finding | null {
  const { unit, claim } = pair;
  if (parts.length < 2) return null;
  for (const figure of claim.figures) {
    const found = figure.isSoft ? null : findFigure(figure, pair);
    if (found?.where !== "unit" || found.as === null) continue;
    const own = parts[segmentAt(parts, found.as.start)];
    if (own === undefined || !unit.figures().includes(found.as)) continue;
    const isInOwn = ({ at }: { readonly at: number }): boolean => own.start <= at && at < own.end;
    const apart = anchors.find((anchor) => !isInOwn(anchor));
    if (apart === undefined || anchors.some(isInOwn)) continue;
    const beside = parts[segmentAt(parts, apart.at)];
    const isOther =
      otherNames(own, pair) ||
      otherOrdinals(own, pair) ||
      otherCodes(own, pair) ||
      (beside !== undefined && otherAmounts(beside, found.as, pair));
    if (isOther)
      return {
        grade: "partly",
        reason: "rival",
        detail: `${found.as.text.trim()} stands beside another than ${apart.text}`,
      };
  }
  return null;
}

/** Parts of a unit by commas, semicolons, brackets and conjunctions. */
const cutParts = (text: string): TextSpan[] => cutSegments(text.replace(/[()[\]]/g, ";"));

/** "The first", and years: what other figures are told apart by. */
const isOrdinal = ({ isSoft, measure, counted, kind, base }: ClaimFigure): boolean =>
  measure === null && (isSoft || (kind === "number" && counted === null && isYear(base)));

const isYear = (value: number): boolean =>
  Number.isInteger(value) && value >= 1_900 && value < 2_100;

const ordinalsOf = ({ claim, unit }: Pair): { readonly text: string; readonly at: number }[] =>
  claim.figures.filter(isOrdinal).flatMap(({ base, text }) => {
    const held = unit.figures().filter((one) => isOrdinal(one) && one.base === base);
    return held.length === 1 ? held.map(({ start }) => ({ text, at: start })) : [];
  });

const otherOrdinals = (part: TextSpan, { claim, unit }: Pair): boolean =>
  unit
    .figures()
    .some(
      (one) =>
        isOrdinal(one) &&
        part.start <= one.start &&
        one.start < part.end &&
        !claim.figures.some(({ base }) => base === one.base),
    );

/** "(Brightwell: two years)" beside five years: the part of a name has an amount of its own. */
const otherAmounts = (part: TextSpan, figure: ClaimFigure, { claim, unit }: Pair): boolean =>
  figure.measure !== null &&
  unit
    .figures()
    .some(
      ({ start, end, base, measure }) =>
        start >= part.start &&
        end <= part.end &&
        base !== figure.base &&
        measure?.dimension === figure.measure?.dimension &&
        !claim.figures.some((one) => one.base === base),
    );

const otherCodes = (part: TextSpan, { claim, unit }: Pair): boolean =>
  findCodes(unit.text.slice(part.start, part.end)).some(
    ({ text }) => !claim.codes.some((code) => code.text === text),
  );
