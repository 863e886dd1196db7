import { posix } from "node:path";
import { findIdentifiers, identifierParts, identifierWord } from "./identifiers.ts";

/** What is searched with a chunk besides its text: file name, title, headings, identifiers. */
export function searchableText(
  chunk: { readonly headingPath: string | null; readonly text: string },
  document: { readonly path: string; readonly title: string | null },
): string {
  const heading = documentHeading(chunk.headingPath, document.title);
  return [...nameWords(document.path), ...identifierWords(chunk.text), heading].join(" ");
}

/** A question in the same terms. */
export const searchableQuestion = (text: string): string =>
  `${identifierWords(text).join(" ")}\n${text}`;

/** The extension counts only in the whole name: every chunk would hold it as a word. */
function nameWords(path: string): string[] {
  const { base, name } = posix.parse(path);
  const identifiers = [...findIdentifiers(base), ...findIdentifiers(name)];
  return [...name.split(/[_.\s-]+/), ...identifiers.map(identifierWord)];
}

/** The parser keeps `src/main.ts` whole, so its parts are added; it splits `ERR_42`, so the whole is. */
const identifierWords = (text: string): string[] =>
  findIdentifiers(text).flatMap((identifier) => [
    ...identifierParts(identifier),
    identifierWord(identifier),
  ]);

/** The text that an embedder sees of a chunk. */
export function embeddableText(chunk: {
  readonly headingPath: string | null;
  readonly title: string | null;
  readonly text: string;
}): string {
  const heading = documentHeading(chunk.headingPath, chunk.title);
  return heading === "" ? chunk.text : `${heading}\n${chunk.text}`;
}

/** The headings, with the title in front unless they begin with it. */
function documentHeading(headingPath: string | null, title: string | null): string {
  const headings = headingPath ?? "";
  if (title === null || headings.startsWith(title)) return headings;
  return headings === "" ? title : `${title} > ${headings}`;
}
