import { normaliseText } from "../../shared/text/normalise-text.ts";
import { placesIn } from "../evidence/number.ts";
import type { CitableBlock, PlaceInFile } from "../evidence/number.ts";
import { splitLines } from "../documents/lines.ts";
import { scanMarkdown } from "../documents/formats/markdown.ts";
import { cutSections } from "../documents/chunk-text.ts";
import { foldWords } from "../text/fold-words.ts";
import type { Word } from "../text/fold-words.ts";

/** A part of a piece with its own heading, and its lines in the file. */
export type HeadedPart = {
  readonly block: CitableBlock;
  readonly headingPath: string | null;
  readonly lineStart: number;
  readonly lineEnd: number;
};

/** The parts of each piece that a citation can name: a passage by the headings above it, a whole file by those in its text. */
export function headedParts(evidence: readonly CitableBlock[]): HeadedPart[] {
  return evidence.flatMap((block) => {
    const { headingPath, lineStart, lineEnd } = block;
    const whole = { block, headingPath, lineStart, lineEnd };
    const isFileItself = headingPath === null && block.summaryLevel === null;
    return isFileItself ? [whole, ...sectionsOf(block)] : [whole];
  });
}

function sectionsOf(block: CitableBlock): HeadedPart[] {
  const lines = splitLines(block.text);
  return cutSections(scanMarkdown(lines, 0))
    .filter(({ headingPath }) => headingPath !== null)
    .map(({ headingPath, blocks }) => ({
      block,
      headingPath,
      lineStart: block.lineStart + (blocks[0]?.firstLine ?? 0),
      lineEnd: block.lineStart + (blocks.at(-1)?.lastLine ?? 0),
    }));
}

/** Makes a function that finds the part for a cited path and heading. The best name wins, then the first part. */
export function partFinder(
  parts: readonly HeadedPart[],
  rule: HeadingRule,
): (path: string, heading: string) => HeadedPart | null {
  const named = parts.map((part) => ({ part, names: headingNames(part.headingPath, rule) }));
  const longest = named.reduce((most, { names }) => Math.max(most, names.length), 0);
  const byName = new Map<string, HeadedPart>();
  for (let rank = 0; rank < longest; rank += 1) {
    for (const { part, names } of named) {
      const name = names[rank];
      if (name === undefined) continue;
      const key = keyOf(part.block.path, name);
      if (!byName.has(key)) byName.set(key, part);
    }
  }
  return (path, heading) => {
    const keys = givenNames(heading, rule).map((name) => keyOf(path, name));
    const key = keys.find((candidate) => byName.has(candidate));
    return key === undefined ? null : (byName.get(key) ?? null);
  };
}

const keyOf = (path: string, name: string): string => `${path}\n${name}`;

/** Makes a function that finds the path for a name: the path itself, or the end of exactly one, with or without extension. */
export function pathFinder(paths: readonly string[]): (name: string) => string | null {
  const known = new Set(paths);
  const owners = new Map<string, Set<string>>();
  for (const path of known) {
    for (const name of [...endingsOf(path), ...endingsOf(withoutExtension(path))]) {
      owners.set(name, (owners.get(name) ?? new Set()).add(path));
    }
  }
  return (name) => {
    const spelled = normaliseText(name.trim().replace(/^\.\//, ""), "NFC");
    if (known.has(spelled)) return spelled;
    const [path, ...others] = owners.get(spelled) ?? [];
    return path === undefined || others.length > 0 ? null : path;
  };
}

/** `c.md`, `b/c.md`, `a/b/c.md` */
function endingsOf(path: string): string[] {
  const segments = path.normalize("NFC").split("/");
  return segments.map((_, index) => segments.slice(index).join("/"));
}

const withoutExtension = (path: string): string => path.replace(/\.[\p{L}\p{N}]{1,8}$/u, "");

export type HeadingRule = {
  readonly headingMatch: "exact" | "prefix" | "ignore";
  /** Headings are compared without double spaces and final punctuation. */
  readonly normalizeHeading: boolean;
};

/**
 * The names by which a citation may call a heading path (`Trip > Train`), the best first. exact: the whole path. prefix: also
 * its first headings, each heading by its own title, and the empty name, for the file. ignore: any name, which is empty here.
 */
function headingNames(headingPath: string | null, rule: HeadingRule): string[] {
  if (rule.headingMatch === "ignore") return [""];
  const titles = (headingPath ?? "").split(" > ").map((title) => comparableTitle(title, rule));
  const whole = titles.join(" > ");
  if (rule.headingMatch === "exact") return [whole];
  const prefixes = titles.map((_, index) => titles.slice(0, index + 1).join(" > "));
  return [whole, ...prefixes.reverse(), ...titles.reverse(), ""];
}

/** The names to look up for a cited heading; `#` and a bare `>` may also separate its titles. */
function givenNames(given: string, rule: HeadingRule): string[] {
  if (rule.headingMatch === "ignore" || /^\s*(?:root\s*)?$/i.test(given)) return [""];
  const parted = (mark: string | RegExp): string =>
    given
      .split(mark)
      .map((title) => comparableTitle(title, rule))
      .join(" > ");
  return [parted(" > "), parted(/[>#]/)];
}

function comparableTitle(title: string, { normalizeHeading }: HeadingRule): string {
  if (!normalizeHeading) return title.trim();
  const text = normaliseText(title).replace(/\s+/g, " ").trim();
  let end = text.length;
  while (end > 0 && ":;,.!? ".includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** A piece of evidence with its words as numbers, for fast comparison. */
export type IndexedPiece = {
  readonly block: CitableBlock;
  readonly words: readonly Word[];
  readonly ids: Int32Array;
  readonly placeOf: PlaceInFile;
};

export type IndexedEvidence = {
  readonly pieces: readonly IndexedPiece[];
  /** The number of a word; -1 for a word that is not in the evidence. */
  readonly idOf: (word: string) => number;
};

/** Folds each piece once, so that many quotes can be looked up in it. */
export function indexEvidence(evidence: readonly CitableBlock[]): IndexedEvidence {
  const numbers = new Map<string, number>();
  const numberOf = (word: string): number => {
    const number = numbers.get(word) ?? numbers.size;
    numbers.set(word, number);
    return number;
  };
  const pieces = evidence.map((block) => {
    const words = foldWords(block.text);
    const ids = Int32Array.from(words, ({ text }) => numberOf(text));
    return { block, words, ids, placeOf: placesIn(block) };
  });
  return { pieces, idOf: (word) => numbers.get(word) ?? -1 };
}
