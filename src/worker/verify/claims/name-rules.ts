import { overlapsAny } from "../../text/figures/read-figures.ts";
import type { Finding, Pair } from "./pair.ts";
import type { TextSpan } from "../../text/spans.ts";
import { isInOtherVoice } from "./voice.ts";
import { foldSpaces, type ReadPiece } from "./pieces.ts";
import type { Name } from "./names.ts";

/** Finds a code, address or identifier that is not whole in any cited piece. */
export function compareCodes({ claim, cited, question }: Pair): Finding | null {
  const missing = claim.codes.find(
    ({ text }) =>
      !cited.some((piece) => piece.codes().has(text) || piece.folded().includes(text)) &&
      !question.codes.some((code) => code.text === text),
  );
  return missing === undefined
    ? null
    : { reason: "name", detail: `${missing.text} stands nowhere in what is cited` };
}

/** Finds a name that is not whole in the cited pieces: another surname behind a known first name is another person. */
export function compareNames(pair: Pair): Finding | null {
  const { claim, unit } = pair;
  for (const name of claim.names) {
    const missing = name.isWeak ? [] : missingWords(name, pair);
    if (missing.length === 0) continue;
    const isNamed = claim.language !== "german" || missing.includes(name.words.at(-1) ?? "");
    if (!isNamed || claim.language !== unit.language) return null;
    return { reason: "name", detail: `${name.text} stands nowhere in what is cited` };
  }
  const other = replacedName(pair);
  return other === null
    ? null
    : { reason: "name", detail: `${other} stands nowhere in what is cited` };
}

/** Finds "Rosalind prefers" where the sentence says "Marguerite prefers": the next word shows that the first is a name. */
function replacedName({ claim, unit, cited, met }: Pair): string | null {
  const [first, second] = claim.terms;
  if (first === undefined || second === undefined || claim.language === "german") return null;
  if (claim.language !== unit.language || !first.isContent) return null;
  // The article in "l'association" is a separate term of one letter.
  if (first.word.length < 2 || overlapsAny(first, claim.figures)) return null;
  if (cited.some((piece) => holdsWord(piece, first.word, false))) return null;
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
      !cited.some((piece) => holdsWord(piece, word, claim.language === "japanese")) &&
      !question.terms.some((term) => term.word === word),
  );
}

function holdsWord(piece: ReadPiece, word: string, isJapanese: boolean): boolean {
  if (piece.words.has(word)) return true;
  if (isJapanese)
    return piece.folded().replaceAll(" ", "").includes(foldSpaces(word).replaceAll(" ", ""));
  return word.endsWith("s") && piece.words.has(word.slice(0, -1));
}

type Anchor = TextSpan & { readonly text: string; readonly at: number };

/** The names and codes of the claim that the unit holds exactly once, in the order of the claim, with their places. */
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

/** The first two places of a whole word or name: "dx-20" is not in "dx-20p". */
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

/** Finds a name that claim and sentence have in another order. */
export function compareAnchors(pair: Pair): Finding | null {
  if (pair.unit.kind === "row" || isInOtherVoice(pair)) return null;
  const anchors = anchorsOf(pair);
  const inverted = anchors.find(({ at }, index) => at < (anchors[index - 1]?.at ?? 0));
  return inverted === undefined
    ? null
    : { reason: "anchor", detail: `${inverted.text} stands before, and not after` };
}
