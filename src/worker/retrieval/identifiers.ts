/** Words joined by `_`, `.` or `/`: ERR_42, foo_bar.ts, src/worker/main.ts. Starts only where a word starts. */
const IDENTIFIER = /(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[_./][A-Za-z0-9]+)+/g;
/** Most prose has none, and this is told much faster. */
const ANY_IDENTIFIER = /[A-Za-z0-9][_./][A-Za-z0-9]/;

/**
 * What makes the identifiers of a text findable: their parts, and each as one word. The text search parser splits
 * `ERR_42` but keeps `src/main.ts` whole, so neither the one nor the part of the other would be found.
 */
export function identifierWords(text: string): string[] {
  if (!ANY_IDENTIFIER.test(text)) return [];
  const found = new Set(text.match(IDENTIFIER)?.filter((word) => /[A-Za-z]/.test(word)));
  return [...found].flatMap((identifier) => {
    const parts = identifier.split(/[_./]/);
    // A letter in front and a digit inside: the parser takes it as one word, and no stemmer touches it.
    return [...parts, `id7${parts.join("x7x")}`];
  });
}
