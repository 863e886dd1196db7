/** Words joined by `_`, `.` or `/`: ERR_42, foo_bar.ts, src/worker/main.ts. Starts only where a word starts. */
const IDENTIFIER = /(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[_./][A-Za-z0-9]+)+/g;
/** Most prose has none, and this is told much faster. */
const ANY_IDENTIFIER = /[A-Za-z0-9][_./][A-Za-z0-9]/;

/** The identifiers of a text, each once. Numbers with a point are none. */
export function findIdentifiers(text: string): string[] {
  if (!ANY_IDENTIFIER.test(text)) return [];
  return [...new Set(text.match(IDENTIFIER))].filter((word) => /[A-Za-z]/.test(word));
}

export const identifierParts = (identifier: string): string[] => identifier.split(/[_./]/);

/**
 * An identifier as one word of the text search parser, which splits `ERR_42`. With a letter in front and a digit
 * inside it is a word of that kind which no stemmer touches.
 */
export const identifierWord = (identifier: string): string =>
  `id7${identifierParts(identifier).join("x7x")}`;
