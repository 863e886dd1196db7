import { posix } from "node:path";
import { identifierWords } from "./identifiers.ts";

/** What is searched with a chunk besides its text: file name, title, headings, identifiers. */
export function searchableText(
  chunk: { readonly headingPath: string | null; readonly text: string },
  document: { readonly path: string; readonly title: string | null },
): string {
  const name = posix.basename(document.path);
  const words = posix.parse(name).name.split(/[_.\s-]+/);
  return [
    ...words,
    ...identifierWords(`${name}\n${chunk.text}`),
    documentHeading(chunk.headingPath, document.title),
  ].join(" ");
}

/** A question in the same terms. */
export const searchableQuestion = (text: string): string =>
  `${identifierWords(text).join(" ")}\n${text}`;

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
