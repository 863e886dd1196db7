import { posix } from "node:path";
import { foldSharpS } from "../../shared/text/normalise-text.ts";

export type SearchableDocument = {
  readonly path: string;
  readonly title: string | null;
  /** Aliases and tags. */
  readonly labels: string;
};

/**
 * How often a word of a field counts, once being a word of the text. A heading stands in the text of the first chunk
 * below it as well. Part of every document's chunk settings.
 */
export const FIELD_WEIGHTS = { fileName: 1, title: 2, labels: 2, headings: 1 } as const;

type SearchableChunk = { readonly headingPath: string | null; readonly text: string };

/**
 * What is searched with a chunk of the document besides its text: file name, title, aliases, tags, headings, identifiers,
 * pairs.
 */
export function searchableTextOf({
  path,
  title,
  labels,
}: SearchableDocument): (chunk: SearchableChunk) => string {
  const ofDocument = [
    ...repeat(nameWords(path).join(" "), FIELD_WEIGHTS.fileName),
    ...repeat(title ?? "", FIELD_WEIGHTS.title),
    ...repeat(labels, FIELD_WEIGHTS.labels),
  ];
  const pairsOfDocument = ofDocument.flatMap(characterPairs);
  return ({ headingPath, text }) => {
    const headings = repeat(headingWords(headingPath, title), FIELD_WEIGHTS.headings);
    const pairs = [...pairsOfDocument, ...[...headings, text].flatMap(characterPairs)];
    return [...ofDocument, ...headings, ...identifierWords(text), ...pairs].join(" ");
  };
}

const repeat = (text: string, times: number): string[] => Array<string>(times).fill(text);

/** A question in the same terms, compounds as their parts. */
export const searchableQuestion = (text: string): string =>
  foldSharpS(
    `${[...identifierWords(text), ...characterPairs(text)].join(" ")}\n${splitCompounds(text)}`,
  );

/** Letters joined by hyphens, between marks that begin no path: `(time-sharing)`, and not `my-host.org`. */
const COMPOUND = /(?<=^|\s)["'“„«([*_¿¡]*\p{L}+(?:-\p{L}+)+["'”“»)\]*_.,;:?!]*(?=\s|$)/gu;

/** The parser gives `time-sharing` as the whole and as its parts, so that it would count as three words of a question. */
const splitCompounds = (text: string): string =>
  text.replace(COMPOUND, (compound) => compound.replaceAll("-", " "));

/** Without the title, which a document often begins with; the parts of a JSON pointer one by one. */
function headingWords(headingPath: string | null, title: string | null): string {
  if (headingPath === null) return "";
  if (headingPath.startsWith("/")) return headingPath.replaceAll("/", " ");
  if (title === null || !headingPath.startsWith(title)) return headingPath;
  const rest = headingPath.slice(title.length);
  return /^[\p{L}\p{N}]/u.test(rest) ? headingPath : rest;
}

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

/**
 * A run of letters and marks of a script that is written without blanks: Han, the two Japanese syllabaries, Hangul, Thai, Lao,
 * Khmer, Burmese.
 */
const RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]{2,}/gu;

/** Where their letters are, halves of pairs among them. Most texts have none, which is told ten times as fast. */
const ANY_OF_RUN = /[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\uffff]/;

/** A text without the runs that are searched in pairs. */
export const withoutPairs = (text: string): string => text.replace(RUN, " ");

/**
 * Every two letters of a text that follow each other in such a script, as often as they do. The text search parser takes
 * a whole run for one word, so that no word inside of it would be found; two letters at a time are Lucene's answer too
 * (CJKBigramFilter).
 */
export const characterPairs = (text: string): string[] =>
  (ANY_OF_RUN.test(text) ? (text.match(RUN) ?? []) : []).flatMap((run) => {
    const letters = Array.from(run);
    return letters.slice(1).map((letter, at) => `${letters[at] ?? ""}${letter}`);
  });

/** Words joined by `_`, `.` or `/`: ERR_42, foo_bar.ts, src/worker/main.ts. Starts only where a word starts. */
const IDENTIFIER = /(?<![A-Za-z0-9])[A-Za-z0-9]+(?:[_./][A-Za-z0-9]+)+/g;
/** Most prose has none, and this is told much faster. */
const ANY_IDENTIFIER = /[A-Za-z0-9][_./][A-Za-z0-9]/;

/** The identifiers of a text, each once. Numbers with a point are none. */
export function findIdentifiers(text: string): string[] {
  if (!ANY_IDENTIFIER.test(text)) return [];
  return [...new Set(text.match(IDENTIFIER))].filter((word) => /[A-Za-z]/.test(word));
}

const identifierParts = (identifier: string): string[] => identifier.split(/[_./]/);

/**
 * An identifier as one word of the text search parser, which splits `ERR_42`. With a letter in front and a digit
 * inside it is a word of that kind which no stemmer touches.
 */
export const identifierWord = (identifier: string): string =>
  `id7${identifierParts(identifier).join("x7x")}`;
