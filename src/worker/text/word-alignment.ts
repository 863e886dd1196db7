import { editDistance } from "../../shared/text/close-names.ts";
import { stemWord } from "./content-words.ts";
import { byLanguage, formsByStem } from "./word-forms.ts";
import type { ListedLanguage } from "./word-forms.ts";

/** A word of the question, and whether it is a name. */
type AskedWords = {
  readonly terms: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  readonly language: ListedLanguage;
};

/**
 * Makes a function that maps words of a text to words of a question: "gestohlenen" to "gestohlen", "places" to "place",
 * "wrote" to "write". It also maps compounds that begin or end with such a word, and words that differ in one letter from a
 * word of the question that stands nowhere in the text. Linear in words.
 *
 * @param said stems of the text
 */
export function alignWith(said: Iterable<string>, asked: AskedWords): (stem: string) => string {
  const { terms } = asked;
  const forms = formsOfTerms(asked);
  const ofTerm = [...terms].filter((term) => term.length >= FEWEST_LETTERS);
  const formFor = (stem: string): string => forms.get(stem) ?? formOf(stem, terms, ofTerm);
  const known = new Map<string, string>();
  for (const stem of said) if (!known.has(stem)) known.set(stem, formFor(stem));
  const meant = findMisspelt(new Set(known.values()), asked);
  for (const [stem, found] of known) known.set(stem, meant.get(found) ?? found);
  return (stem) => {
    const found = known.get(stem) ?? formFor(stem);
    known.set(stem, found);
    return found;
  };
}

/** Maps irregular forms of the words of a question to these words: "wrote" to "write". */
function formsOfTerms({ language, terms }: AskedWords): ReadonlyMap<string, string> {
  const groups = formsIn(language);
  return new Map(
    [...terms].flatMap((term) =>
      (groups.get(term) ?? [])
        .filter((form) => !terms.has(form))
        .map((form) => [form, term] as const),
    ),
  );
}

/** By stem, the stems of all forms of its word. */
const formsIn = byLanguage((language) => formsByStem(language, stemWord));

/** Shorter words must be equal. */
const FEWEST_LETTERS = 5;
/** Most letters of each of two forms of a word behind their common beginning. */
const MOST_ENDING = 4;

/**
 * For each word of the question that stands nowhere in the evidence, finds words of the evidence with the same first letter
 * that differ in one letter. Names are excluded, because one letter makes another name.
 *
 * @returns for a word of the evidence that of the question
 */
function findMisspelt(
  held: ReadonlySet<string>,
  { terms, names }: AskedWords,
): ReadonlyMap<string, string> {
  const right = new Map<string, string>();
  for (const term of terms) {
    if (names.has(term) || held.has(term) || !MAY_BE_MISSPELT.test(term)) continue;
    for (const stem of held) {
      if (stem.charAt(0) !== term.charAt(0) || !MAY_BE_MISSPELT.test(stem) || terms.has(stem))
        continue;
      if (editDistance(term, stem, 1) === 1) right.set(stem, term);
    }
  }
  return right;
}

/** Shorter words that differ in a letter mean something else. */
const MAY_BE_MISSPELT = /^\p{Script=Latin}{6,}$/u;

function formOf(stem: string, terms: ReadonlySet<string>, ofTerm: readonly string[]): string {
  if (terms.has(stem) || stem.length < FEWEST_LETTERS - 1) return stem;
  return ofTerm.find((term) => isForm(stem, term)) ?? stem;
}

function isForm(stem: string, term: string): boolean {
  const shared = sharedBeginning(stem, term);
  const isInflected =
    shared >= FEWEST_LETTERS - 1 &&
    stem.length - shared <= MOST_ENDING &&
    term.length - shared <= MOST_ENDING &&
    shared * 2 > Math.max(stem.length, term.length) + 1;
  return isInflected || isJoined(stem, term);
}

function sharedBeginning(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one.charAt(at) === other.charAt(at)) at += 1;
  return at;
}

/** German joins words: "Chorfahrt" is a Fahrt, and "Werftstraße" of the Werft. */
const FEWEST_JOINED = 5;
const isJoined = (stem: string, term: string): boolean =>
  stem.length >= term.length + 3 &&
  term.length >= FEWEST_JOINED &&
  (stem.endsWith(term) || stem.startsWith(term));
