const VOWEL = /[aeiouy]/;

/** Suffixes that are taken off, longest first, with what takes their place. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ["izations", "ize"],
  ["ization", "ize"],
  ["isations", "ize"],
  ["isation", "ize"],
  ["fulness", "ful"],
  ["ations", "at"],
  ["ation", "at"],
  ["ments", "ment"],
  ["nesses", ""],
  ["ness", ""],
  ["ising", "ize"],
  ["ised", "ize"],
  ["ises", "ize"],
  ["ise", "ize"],
  ["ates", "at"],
  ["ated", "at"],
  ["ating", "at"],
  ["ate", "at"],
  ["ables", "abl"],
  ["able", "abl"],
  ["ings", ""],
  ["ing", ""],
  ["ies", "y"],
  ["ied", "y"],
  ["ers", "er"],
  ["ed", ""],
  ["ly", ""],
  ["es", ""],
  ["s", ""],
  ["e", ""],
];

/**
 * A light English stem, so that "rentals", "rented" and "renting" meet: one ending off, doubled consonants
 * halved, a final y made i. It is only ever compared with other stems.
 */
export function stemWord(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const stem = halveDouble(cutEnding(word));
  return stem.endsWith("y") ? `${stem.slice(0, -1)}i` : stem;
}

function cutEnding(word: string): string {
  if (word.endsWith("ss") || word.endsWith("us")) return word;
  for (const [ending, replacement] of ENDINGS) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    if (stem.length >= 3 && VOWEL.test(stem)) return stem + replacement;
  }
  return word;
}

function halveDouble(stem: string): string {
  const last = stem.at(-1) ?? "";
  const isDouble = stem.length > 3 && last === stem.at(-2) && !VOWEL.test(last);
  return isDouble ? stem.slice(0, -1) : stem;
}
