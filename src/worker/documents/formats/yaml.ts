import { CST, Parser } from "yaml";
import { findTooDeep } from "../../../shared/config/yaml-depth.ts";
import type { CutSettings } from "../cut-span.ts";
import { NO_FRONTMATTER } from "../frontmatter.ts";
import type { Lines } from "../lines.ts";
import type { Cut, Format } from "./format.ts";
import { PLAIN } from "./plain.ts";
import { containerIn, KEY_CHARS, OUTERMOST, packEntries, pointerIn } from "./pointed-entries.ts";
import type { Container, PointedEntry } from "./pointed-entries.ts";
import { UTF8 } from "./utf8.ts";

/**
 * YAML, cut at its keys. It reads only tokens and builds no values: an alias stays a word, so that none can expand, and a tag
 * has no effect. Invalid YAML, or one that is nested too deep, is cut as plain text.
 */
export const YAML: Format = {
  name: "yaml",
  extensions: [".yaml", ".yml"],
  extractor: UTF8,
  isOf: () => true,
  parseFrontmatter: () => NO_FRONTMATTER,
  cut: (lines, firstLine, settings) =>
    cutYaml(lines, firstLine, settings) ?? PLAIN.cut(lines, firstLine, settings),
};

/** The parser takes some hundred bytes per token; a longer text is data for programs, and is cut as plain text. */
const MOST_CHARS = 2_000_000;
const DEEPEST = 64;

function cutYaml(lines: Lines, firstLine: number, settings: CutSettings): Cut | undefined {
  const { text } = lines;
  if (text.length > MOST_CHARS) return undefined;
  const documents: CST.Document[] = [];
  for (const token of new Parser().parse(text)) {
    if (token.type === "error") return undefined;
    if (token.type === "document") documents.push(token);
  }
  if (documents.some(({ value }) => findTooDeep(value, DEEPEST) !== undefined)) return undefined;
  const scan: Scan = { text, settings, starts: [] };
  for (const [index, { value, offset }] of documents.entries()) {
    const start = index === 0 ? lines.start(firstLine) : offset;
    const end = documents[index + 1]?.offset ?? text.length;
    scanValue(scan, value, { start, end, ...documentPlace(documents.length, index) });
  }
  const entries = scan.starts.map((entry, index) => ({
    ...entry,
    end: scan.starts[index + 1]?.start ?? text.length,
  }));
  return entries.length === 0
    ? undefined
    : { kind: "pieces", pieces: packEntries(text, entries, settings) };
}

type Scan = {
  readonly text: string;
  readonly settings: CutSettings;
  /** Where entries begin; each ends where the next one does. */
  readonly starts: Omit<PointedEntry, "end">[];
};

/** Several documents in one file stay separate, each by its number from 0, like lines of JSON. */
function documentPlace(documents: number, index: number): Omit<Place, "start" | "end"> {
  if (documents === 1) return { pointer: null, outer: null, container: OUTERMOST };
  const container = containerIn(OUTERMOST, String(index));
  return { pointer: container.pointer, outer: container, container };
}

type Place = {
  readonly start: number;
  readonly end: number;
  /** Pointer of the value, if it is an entry. */
  readonly pointer: string | null;
  readonly outer: Container | null;
  /** Container of its entries, if it is cut into them. */
  readonly container: Container;
};

/** Adds a value that fits into a chunk as one entry, and the entries of a longer map or list. */
function scanValue(scan: Scan, value: CST.Token | undefined, place: Place): void {
  const { start, end, container } = place;
  const isCut = end - start >= scan.settings.maxChars && CST.isCollection(value);
  const items = isCut ? itemsOf(value) : [];
  if (items.length === 0) {
    scan.starts.push({ start, pointer: place.pointer, container: place.outer });
  }
  for (const [index, item] of items.entries()) {
    scanValue(scan, item.value, {
      // The text before the first entry, such as the key of the map, belongs to that entry.
      start: index === 0 ? start : item.start,
      end: items[index + 1]?.start ?? end,
      pointer: pointerIn(container, item.key),
      outer: container,
      container: containerIn(container, item.key),
    });
  }
}

type Item = { readonly start: number; readonly key: string; readonly value: CST.Token | undefined };

/** Entries with a key or a value; a comment without an entry behind it belongs to the last one. */
function itemsOf(
  collection: CST.BlockMap | CST.BlockSequence | CST.FlowCollection,
): readonly Item[] {
  const isList =
    collection.type === "block-seq" ||
    (collection.type === "flow-collection" && collection.start.source === "[");
  const all: readonly CST.CollectionItem[] = collection.items;
  const items: Item[] = [];
  for (const { start, key, sep, value } of all) {
    const first = start[0] ?? key ?? sep?.[0] ?? value;
    const isEntry =
      key != null || value !== undefined || start.some(({ type }) => type === "seq-item-ind");
    if (first == null || !isEntry) continue;
    items.push({ start: first.offset, key: isList ? String(items.length) : keyOf(key), value });
  }
  return items;
}

/** The value of a key if it is a scalar, else its source text. */
function keyOf(key: CST.Token | null | undefined): string {
  if (key == null) return "";
  // The listener ignores errors in a key; without one they would be thrown.
  const written = CST.isScalar(key)
    ? CST.resolveAsScalar(key, false, () => undefined).value
    : CST.stringify(key);
  return written.slice(0, KEY_CHARS).replaceAll(/\s+/g, " ").toWellFormed();
}
