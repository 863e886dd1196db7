import type { Candidate } from "./candidates.ts";

/** Shorter words are compared as they are. */
const FEWEST_LETTERS = 5;
/** Of two forms of a word, the beginning that they share: all but so many letters of each. */
const MOST_ENDING = 3;

/**
 * The candidates with the words that are forms of a word of the question replaced by it: "gestohlenen" is "gestohlen", "places"
 * is "place". Also compounds that begin or end with it, as German joins them. Linear in words.
 */
export function alignWords(
  candidates: readonly Candidate[],
  terms: ReadonlyMap<string, number>,
): Candidate[] {
  const known = new Map<string, string>();
  const ofTerm = [...terms.keys()].filter((term) => term.length >= FEWEST_LETTERS);
  const align = (stem: string): string => {
    const found = known.get(stem) ?? formOf(stem, terms, ofTerm);
    known.set(stem, found);
    return found;
  };
  const sets = new Map<ReadonlySet<string>, ReadonlySet<string>>();
  const alignSet = (stems: ReadonlySet<string>): ReadonlySet<string> => {
    const found = sets.get(stems) ?? new Set([...stems].map(align));
    sets.set(stems, found);
    return found;
  };
  return candidates.map((candidate) => ({
    ...candidate,
    stems: candidate.stems.map(align),
    shownStems: candidate.shownStems.map(align),
    contextStems: alignSet(candidate.contextStems),
  }));
}

function formOf(
  stem: string,
  terms: ReadonlyMap<string, number>,
  ofTerm: readonly string[],
): string {
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
