import { posix } from "node:path";
import { withoutAttachmentNumbers } from "./attachment-path.ts";
import { findWrittenDate } from "../text/date-period.ts";
import { foldWord } from "../text/normalise-text.ts";
import { wordLists } from "../text/word-lists.ts";
import { append } from "../group-by.ts";

/** A file name, parsed as the name of a version of a document. */
type VersionedName = {
  /** Folder and words without the marks of a version: equal within a family. */
  readonly key: string;
  /** Of two names in a family, the greater rank is newer if the years differ, or if both have the same kinds of marks. */
  readonly rank: string;
  readonly year: string;
  readonly kinds: string;
};

/** Matches "v2", "v2.1", "version B", "rev. 3". A number that may be a year is left to YEAR. */
const COUNTED =
  /(?<![\p{L}\d])(?:(?<version>v\.?|ver(?:sion)?[-. ]{0,2})|rev(?:ision)?[-. ]{0,2})(?:(?!(?:19|20)\d\d(?!\d))(?<number>\d{1,4}(?:\.\d{1,4}){0,3})|(?<=[-. ])(?<letter>[a-z]))(?![\p{L}\d])/iu;

/** A year that is a word of its own, and no part of a date or a span of years. Letters without case may touch it. */
const YEAR =
  /(?<![\p{Lu}\p{Ll}\p{N}]|\d[-./, ]{1,2})(?:19|20)\d\d(?![\p{Lu}\p{Ll}\p{N}]|[-./, ]{1,2}\d)/u;

const MOST_NAME_CHARS = 400;

/** Parses the name in a path; null if it has no words. */
function readName(path: string): VersionedName | null {
  const { dir, base } = posix.parse(withoutAttachmentNumbers(path));
  const stem = base.replace(/\.\p{L}[\p{L}\d]{0,7}$/u, "");
  let rest = stem.slice(0, MOST_NAME_CHARS).normalize("NFC").replaceAll("_", " ");
  const take = (found: RegExpExecArray) => {
    rest = `${rest.slice(0, found.index)} ${rest.slice(found.index + found[0].length)}`;
  };
  let [version, revision] = ["", ""];
  for (let found = COUNTED.exec(rest); found !== null; found = COUNTED.exec(rest)) {
    const { number, letter = "" } = found.groups ?? {};
    const mark = number === undefined ? letter.toUpperCase() : sortKeyOf(number);
    if (found.groups?.["version"] === undefined) revision = mark;
    else version = mark;
    take(found);
  }
  const found = findYear(rest);
  const year = found === null || isOfSeries(wordsOf(rest), dir) ? null : found;
  if (year !== null) take(year);
  const all = wordsOf(rest);
  const stages = all.map(stageOf);
  const words = all.filter((_, at) => stages[at] === 0);
  if (words.length === 0) return null;
  const marks = { year: year?.[0] ?? "", kinds: kindOf(version) + kindOf(revision) };
  return {
    ...marks,
    key: `${dir}/${words.join(" ")}${year === null ? "" : ", of a year"}`,
    rank: [
      marks.year,
      marks.kinds,
      version,
      revision,
      2 + (stages.find((one) => one !== 0) ?? 0),
    ].join(" "),
  };
}

const wordsOf = (text: string): readonly string[] =>
  (text.match(/[\p{L}\p{M}]+|\d+/gu) ?? []).map(foldWord);

/** `2.1` as `0002.0001.0000.0000`. */
const sortKeyOf = (number: string): string =>
  Array.from({ length: 4 }, (_, at) => (number.split(".")[at] ?? "").padStart(4, "0")).join(".");

const kindOf = (mark: string): string => (mark === "" ? "-" : /\d/.test(mark) ? "1" : "A");

/** Skips a year within "March 2025", "Q1 2025" or "2025-03-14", which say more. */
function findYear(text: string): RegExpExecArray | null {
  const found = YEAR.exec(text);
  return found !== null && findWrittenDate(text)?.date === found[0] ? found : null;
}

function stageOf(word: string): number {
  const { old, draft, final } = wordLists();
  return old.has(word) ? -2 : draft.has(word) ? -1 : final.has(word) ? 1 : 0;
}

/** Whether a name or its folder belongs to a series that is written anew each year: the next one replaces none. */
function isOfSeries(words: readonly string[], folder: string): boolean {
  const { series } = wordLists();
  return [...words, ...wordsOf(posix.basename(folder))].some(
    (word) =>
      series.has(word) ||
      Array.from(word, (_, at) => `-${word.slice(at)}`).some((end) => series.has(end)),
  );
}

const MOST_KEY_CHARS = 500;

/** The key that finds other versions of a file; null without words. It is cut, so different families can share it. */
export const familyKey = (path: string): string | null =>
  readName(path)?.key.slice(-MOST_KEY_CHARS).toWellFormed() ?? null;

/** The paths that front matter supersedes, as paths from the work root: each as written, and relative to its own folder. */
export function supersededPaths(path: string, written: readonly string[]): readonly string[] {
  const found = written
    .flatMap((other) => [other, posix.join(posix.dirname(path), other)])
    .map((other) => posix.normalize(other));
  return [...new Set(found)].filter((other) => other !== path);
}

/** A document for finding newer versions. */
export type FamilyDocument = {
  readonly path: string;
  /** The result of `supersededPaths`. */
  readonly supersedes: readonly string[];
};

type Member = VersionedName & { readonly path: string };

/** Returns a function that finds the newer versions of a document, the newest first. It parses each name once. */
export function newerVersionFinder(
  documents: readonly FamilyDocument[],
): (path: string) => readonly string[] {
  const families = new Map<string, Member[]>();
  const superseding = new Map<string, string[]>();
  for (const { path, supersedes } of documents) {
    const name = readName(path);
    if (name !== null) append(families, name.key, { ...name, path });
    for (const older of supersedes) append(superseding, older, path);
  }
  const places = new Map<string, Place>();
  for (const family of families.values()) placeNewestFirst(places, family);
  const newerByName = (path: string): readonly string[] => {
    const place = places.get(path);
    if (place === undefined) return [];
    const { paths, year, kinds, rank } = place;
    return [...paths.slice(0, year), ...paths.slice(kinds, rank)];
  };
  if (superseding.size === 0) return newerByName;
  return (path) => {
    const seen = new Set([path]);
    const newer: string[] = [];
    const visit = (one: string): void => {
      const named = newerByName(one);
      for (const next of [...named, one].flatMap((older) => superseding.get(older) ?? [])) {
        if (seen.has(next)) continue;
        seen.add(next);
        visit(next);
        newer.push(next);
      }
      for (const next of named) {
        if (!seen.has(next)) newer.push(next);
        seen.add(next);
      }
    };
    visit(path);
    return newer;
  };
}

/**
 * The place of a document in the paths of its family, the newest first: where its year begins, within that where its kinds of
 * marks begin, and within these its rank. So its newer versions are two spans, and no document is compared with all others.
 */
type Place = {
  readonly paths: readonly string[];
  readonly year: number;
  readonly kinds: number;
  readonly rank: number;
};

function placeNewestFirst(places: Map<string, Place>, family: Member[]): void {
  family.sort(newestFirst);
  const paths = family.map(({ path }) => path);
  let [year, kinds, rank] = [0, 0, 0];
  for (const [at, one] of family.entries()) {
    const before = family[at - 1];
    if (before?.year !== one.year) year = at;
    if (year === at || before?.kinds !== one.kinds) kinds = at;
    if (kinds === at || before?.rank !== one.rank) rank = at;
    places.set(one.path, { paths, year, kinds, rank });
  }
}

function newestFirst(one: Member, other: Member): number {
  if (one.rank !== other.rank) return one.rank > other.rank ? -1 : 1;
  return one.path < other.path ? -1 : 1;
}

const OF_EARLIER =
  /(?<!\p{L})(?:previous|former|earlier|older?|original|draft|frühere[nrsm]?|vorherige[nrsm]?|alte[nrsm]?|ursprüngliche[nrsm]?|entwurf|ancien(?:ne)?s?|précédente?s?|brouillon|anterior(?:es)?|antigu[oa]s?|borrador|versions?|version(?:en)?|versión|fassung(?:en)?|editions?|auflagen?|éditions?|edición)(?!\p{L})/iu;

/** Whether a question names an edition, a version or a year, or asks for versions. */
export const namesVersion = (question: string): boolean =>
  /(?<!\d)(?:19|20)\d\d(?!\d)/.test(question) ||
  COUNTED.test(question) ||
  OF_EARLIER.test(question);

const OF_NEWEST =
  /(?<!\p{L})(?:newest|latest|most recent|up[- ]to[- ]date|current(?:ly)?(?= (?:version|edition|issue|price|rate|list|tariff|contract|policy|rule|plan|fee|rent))|neueste[nrsm]?|jüngste[nrsm]?|aktuell(?:e[nrsm]?|ste[nrsm]?)?|plus récent(?:e|s|es)?|dernière (?:version|édition)|actuel(?:le|s|les)?|más recientes?|última (?:versión|edición)|vigentes?|最新)(?!\p{L})/iu;

/** Whether a question asks for the newest version of its subject. */
export const asksNewest = (question: string): boolean => OF_NEWEST.test(question);
