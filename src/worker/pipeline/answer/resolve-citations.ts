import { headedParts, partFinder, pathFinder } from "./evidence-names.ts";
import type { HeadedPart } from "./evidence-names.ts";
import { findCitations } from "./find-citations.ts";
import { findNamedCitations } from "./find-named-citations.ts";
import type { NamedCitation } from "./find-named-citations.ts";
import type { HeadingRule } from "./name-headings.ts";
import type { CitableBlock } from "../number-evidence.ts";
import type { TextSpan } from "../text/split-spans.ts";
import { blank } from "../text/without-code.ts";

/** What a citation of an answer stands for. `spelled` is how the answer writes it. */
export type FoundCitation = TextSpan & { readonly spelled: string } & (
    | { readonly kind: "resolved"; readonly part: HeadedPart }
    /** A number of no piece; a name of no piece; a heading that the named piece does not have. */
    | { readonly kind: "unknown_number" | "unknown_name" | "unknown_heading" }
  );

/**
 * The citations of an answer, in order, each with the piece that it stands for. A wiki link that stands in the evidence
 * is a link of the document and no citation. Give it the text with code blanked.
 */
export function resolveCitations(
  text: string,
  evidence: readonly CitableBlock[],
  rule: HeadingRule,
): FoundCitation[] {
  const parts = headedParts(evidence);
  const numbered = findCitations(text);
  const named = findNames(withoutSpans(text, numbered), parts, rule);
  // Of the parts of a piece the first, which is all of it.
  const pieces = new Map([...parts].reverse().map((part) => [part.block.number, part]));
  const byNumber = numbered.flatMap(({ start, end, numbers }) =>
    numbers.map((number): FoundCitation => {
      const part = pieces.get(number);
      const cited = { start, end, spelled: `[${number}]` };
      return part === undefined
        ? { ...cited, kind: "unknown_number" }
        : { ...cited, kind: "resolved", part };
    }),
  );
  return [...byNumber, ...named].sort((one, other) => one.start - other.start);
}

/** The text with these spans blanked. */
export function withoutSpans(text: string, spans: readonly TextSpan[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const { start, end } of spans) {
    if (start < at) continue;
    pieces.push(text.slice(at, start), blank(text.slice(start, end)));
    at = end;
  }
  return [...pieces, text.slice(at)].join("");
}

function findNames(text: string, parts: readonly HeadedPart[], rule: HeadingRule): FoundCitation[] {
  if (!text.includes("[")) return [];
  const pathOf = pathFinder(parts.map(({ block }) => block.path));
  const partOf = partFinder(parts, rule);
  const isName = (name: string): boolean =>
    splitsOf(name).some(({ path }) => pathOf(path) !== null);
  let links: ReadonlySet<string> | null = null;
  return findNamedCitations(text, isName).flatMap((citation, at): FoundCitation[] => {
    // "[Source: [1]]" holds nothing but a citation by number.
    if (/^[\s[]*$/.test(citation.readings[0]?.name ?? "")) return [];
    const found = at < MOST_NAMES ? resolveName(citation, pathOf, partOf) : unknownName(citation);
    if (found.kind !== "unknown_name" || citation.form !== "wiki") return [found];
    links ??= wikiLinksOf(parts);
    return links.has(citation.readings[0]?.name ?? "") ? [] : [found];
  });
}

/** No honest answer cites more often by name; beyond it nothing is looked up, and nothing found. */
const MOST_NAMES = 1_000;

const unknownName = ({ start, end, readings }: NamedCitation): FoundCitation => ({
  start,
  end,
  spelled: readings[0]?.name ?? "",
  kind: "unknown_name",
});

function resolveName(
  citation: NamedCitation,
  pathOf: ReturnType<typeof pathFinder>,
  partOf: ReturnType<typeof partFinder>,
): FoundCitation {
  const { start, readings } = citation;
  let isFile = false;
  for (const { name, end } of readings) {
    for (const { path, heading } of splitsOf(name)) {
      const named = pathOf(path);
      if (named === null) continue;
      isFile = true;
      const part = partOf(named, heading);
      if (part !== null) return { start, end, spelled: name, kind: "resolved", part };
    }
  }
  const unknown = unknownName(citation);
  return isFile ? { ...unknown, kind: "unknown_heading" } : unknown;
}

/**
 * Every way to part a name into path and heading: at each `#`, with or without what stands after a `|`, and before lines
 * of the file.
 */
function splitsOf(name: string): { path: string; heading: string }[] {
  const bar = name.lastIndexOf("|");
  return [name, ...(bar === -1 ? [] : [name.slice(0, bar)])].flatMap((spelled) => [
    ...[...spelled.matchAll(/#/g)].slice(0, MOST_SPLITS).map(({ index }) => ({
      path: spelled.slice(0, index),
      heading: spelled.slice(index + 1),
    })),
    { path: spelled, heading: "" },
    ...[...spelled.matchAll(LINES)].map(({ index }) => ({
      path: spelled.slice(0, index),
      heading: "",
    })),
  ]);
}

const MOST_SPLITS = 8;
/** `:25`, `:25-27`, `#L25`, `, lines 25-27` at the end of a name. */
const LINES = /(?:[:#]L?|,? \(?(?:lines?|l\.|Zeilen?) ?)\d{1,9}(?:\s?[-–]\s?L?\d{1,9})?\)?$/gi;

/** The wiki links of the evidence, as they stand and as an answer shortens them: without alias, without heading. */
const wikiLinksOf = (parts: readonly HeadedPart[]): ReadonlySet<string> =>
  new Set(
    [...new Set(parts.map(({ block }) => block))].flatMap(({ text }) =>
      [...text.matchAll(/\[\[([^[\]\n]{1,300})\]\]/g)].flatMap(([, name = ""]) =>
        [name, name.replace(/\|.*/, ""), name.replace(/[|#].*/, "")].map((link) => link.trim()),
      ),
    ),
  );
