import { countPieces } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { inSquareBrackets } from "../text/cited-numbers.ts";
import { applyEdits, withoutSpans } from "../text/clean-text.ts";
import type { TextSpan } from "../text/spans.ts";
import { findCitations, findNamedCitations } from "./citations.ts";
import type { NamedCitation } from "./citations.ts";
import { headedParts, partFinder, pathFinder } from "./evidence-names.ts";
import type { HeadedPart, HeadingRule } from "./evidence-names.ts";
import { append } from "../../shared/group-by.ts";

/** A citation of an answer, resolved or not. `spelled` is its spelling in the answer. */
export type FoundCitation = TextSpan & { readonly spelled: string } & (
    | { readonly kind: "resolved"; readonly part: HeadedPart }
    /**
     * A number of no piece; a name or chunk key of no piece; a heading that the named piece lacks; the key of a piece other
     * than the named one.
     */
    | { readonly kind: "unknown_number" | "unknown_name" | "unknown_heading" | "other_key" }
  );

/**
 * Finds the citations of an answer, in order, each with its piece. A wiki link that the evidence holds is a link of the
 * document, no citation.
 * @param text with code replaced by spaces
 */
export function resolveCitations(
  text: string,
  evidence: readonly CitableBlock[],
  rule: HeadingRule,
): FoundCitation[] {
  const parts = headedParts(evidence);
  const numbered = findCitations(text, countPieces(evidence));
  const keyOf = keyFinder(evidence);
  const named = findNames(withoutSpans(text, numbered), { parts, rule, keyOf });
  // The first part of a piece is the whole piece.
  const pieces = new Map([...parts].reverse().map((part) => [part.block.number, part]));
  const pathOf = pathFinder(evidence.map(({ path }) => path));
  const byNumber = numbered.flatMap(({ start, end, numbers, target }) => {
    const key = keyOf(text.slice(start, end));
    const linked = target === undefined ? undefined : pathOf(target);
    return numbers.map((number): FoundCitation => {
      const part = pieces.get(number);
      const cited = { start, end, spelled: `[${number}]` };
      if (part === undefined) return { ...cited, kind: "unknown_number" };
      if (linked !== undefined && linked !== part.block.path) {
        return { ...cited, kind: "unknown_name" };
      }
      if (key === null || key.blocks.includes(part.block)) {
        return { ...cited, kind: "resolved", part };
      }
      return { ...cited, kind: key.blocks.length === 0 ? "unknown_name" : "other_key" };
    });
  });
  return [...byNumber, ...named].sort((one, other) => one.start - other.start);
}

/** A chunk key in a citation, and the pieces that have it; none if the key is outside of the snapshot. */
type GivenKey = TextSpan & { readonly blocks: readonly CitableBlock[] };
type KeyFinder = (name: string) => GivenKey | null;

/** A separate key: at an end of the name, or beside a mark or a space. */
const KEY = /(?<=^|[\s|#:,;([【])[0-9a-f]{32}(?=$|[\s|#:,;)\]】])/i;

function keyFinder(evidence: readonly CitableBlock[]): KeyFinder {
  const owners = new Map<string, CitableBlock[]>();
  for (const block of evidence) {
    if (block.chunkKey !== null) append(owners, block.chunkKey.toLowerCase(), block);
  }
  return (name) => {
    const found = KEY.exec(name);
    if (found === null) return null;
    const [spelled] = found;
    const blocks = owners.get(spelled.toLowerCase()) ?? [];
    return { start: found.index, end: found.index + spelled.length, blocks };
  };
}

type NameRules = {
  readonly parts: readonly HeadedPart[];
  readonly rule: HeadingRule;
  readonly keyOf: KeyFinder;
};

function findNames(broken: string, { parts, rule, keyOf }: NameRules): FoundCitation[] {
  if (!broken.includes("[")) return [];
  const text = withWholeBrackets(broken);
  const pathOf = pathFinder(parts.map(({ block }) => block.path));
  const partOf = partFinder(parts, rule);
  const isName = (name: string): boolean =>
    keyOf(name) !== null || splitsOf(name).some(({ path }) => pathOf(path) !== null);
  let links: ReadonlySet<string> | null = null;
  return findNamedCitations(text, isName).flatMap((citation, at): FoundCitation[] => {
    // "[Source: [1]]" holds only a citation by number.
    if (/^[\s[]*$/.test(citation.readings[0]?.name ?? "")) return [];
    const found =
      at < MOST_NAMES ? resolveName(citation, { pathOf, partOf, keyOf }) : unknownName(citation);
    if (found.kind === "resolved" || citation.form !== "wiki") return [found];
    links ??= wikiLinksOf(parts);
    return links.has(citation.readings[0]?.name ?? "") ? [] : [found];
  });
}

/** No honest answer cites more often by name; further names are not looked up, and count as unknown. */
const MOST_NAMES = 1_000;

const unknownName = ({ start, end, readings }: NamedCitation): FoundCitation => ({
  start,
  end,
  spelled: readings[0]?.name ?? "",
  kind: "unknown_name",
});

type Finders = {
  readonly pathOf: ReturnType<typeof pathFinder>;
  readonly partOf: ReturnType<typeof partFinder>;
  readonly keyOf: KeyFinder;
};

function resolveName(citation: NamedCitation, finders: Finders): FoundCitation {
  const { pathOf, partOf, keyOf } = finders;
  const { start, readings } = citation;
  let isFile = false;
  for (const { name, end } of readings) {
    const key = keyOf(name);
    // The name of a file may have 32 hex digits.
    if (key !== null && pathOf(name) === null) {
      return { start, end, spelled: name, ...resolveKey(name, key, pathOf) };
    }
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

/** A path or number beside a key must belong to the key's piece. */
function resolveKey(
  name: string,
  { start, end, blocks }: GivenKey,
  pathOf: Finders["pathOf"],
):
  | { readonly kind: "resolved"; readonly part: HeadedPart }
  | { kind: "unknown_name" | "other_key" } {
  if (blocks.length === 0) return { kind: "unknown_name" };
  const beside = `${name.slice(0, start)} ${name.slice(end)}`.replace(/^[\s|#:,;(]+/, "");
  const rest = beside.slice(0, beside.search(/[\s|#:,;()]*$/));
  const block = blocks.find(
    ({ number, path }) =>
      rest === "" ||
      rest === String(number) ||
      splitsOf(rest).some((split) => pathOf(split.path) === path),
  );
  if (block === undefined) return { kind: "other_key" };
  const { headingPath, lineStart, lineEnd } = block;
  return { kind: "resolved", part: { block, headingPath, lineStart, lineEnd } };
}

/** Joins lines inside brackets, where the model broke them; every offset stays the same. */
function withWholeBrackets(text: string): string {
  const broken = inSquareBrackets(text).filter(
    ({ inside }) => inside.includes("\n") && !/\n[ \t>]*\n/.test(inside),
  );
  const edits = broken.map(({ start, end }) => ({
    start,
    end,
    text: text.slice(start, end).replaceAll("\n", " "),
  }));
  return applyEdits(text, edits);
}

/**
 * All ways to split a name into path and heading: at each `#`, with or without the text behind a `|`, and before line numbers.
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

/** The wiki links of the evidence, in full, without alias, and without heading, as answers shorten them. */
const wikiLinksOf = (parts: readonly HeadedPart[]): ReadonlySet<string> =>
  new Set(
    [...new Set(parts.map(({ block }) => block))].flatMap(({ text }) =>
      [...text.matchAll(/\[\[([^[\]\n]{1,300})\]\]/g)].flatMap(([, name = ""]) =>
        [name, name.replace(/\|.*/, ""), name.replace(/[|#].*/, "")].map((link) => link.trim()),
      ),
    ),
  );
