import type { ReadUnit } from "./pieces.ts";

const FEWEST_LETTERS = 4;
/** Second parts that only name the kind of value: "Bleigehalt" matches "Blei: 3,2 µg/l". */
const GENERIC =
  /^(?:s|n|en|es|e)?(?:gehalt|wert|zahl|anzahl|menge|preis|kosten|betrag|zeit|zeitraum|dauer|datum|termin|tag|ort|raum|bereich|stelle|art|arten|teil|stuck|version|nummer|programm|gerat)$/u;
const JOINT = /^(?:s|n|en|es|e)?/u;

/**
 * Places of a German word that the unit writes as part of a longer word ("alte Geräte", "Altgeräte"), or as two words
 * ("Antennenengpass", "Engpass bei den Antennen"). Linear in the words of the unit.
 */
export function compoundPlaces(stem: string, { stems }: ReadUnit): readonly number[] {
  if (stem.length < 3) return [];
  const parts: { readonly other: string; readonly places: readonly number[] }[] = [];
  for (const [other, places] of stems) {
    if (isPartOf(stem, other)) return places;
    if (isPartOf(other, stem)) parts.push({ other, places });
  }
  const first = parts.find(({ other }) => stem.startsWith(other));
  if (first === undefined) return [];
  const rest = stem.slice(first.other.length);
  const second = parts.find(
    ({ other }) => rest.replace(JOINT, "").startsWith(other) || rest.endsWith(other),
  );
  return GENERIC.test(rest) || second !== undefined
    ? [...first.places, ...(second?.places ?? [])]
    : [];
}

/** Whether a word begins or ends a longer word, with enough letters left for another part. */
const isPartOf = (part: string, whole: string): boolean =>
  part.length >= (whole.startsWith(part) ? 3 : FEWEST_LETTERS) &&
  whole.length >= part.length + FEWEST_LETTERS &&
  (whole.startsWith(part) || whole.endsWith(part));
