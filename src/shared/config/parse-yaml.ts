import { Composer, isAlias, isMap, isScalar, isSeq, LineCounter, Parser } from "yaml";
import type { CST, Document, Node, Pair, ParsedNode } from "yaml";
import type { ConfigTree, SourceLocation } from "./config-tree.ts";
import { configFailure } from "./problem.ts";
import type { Problem } from "./problem.ts";
import { findTooDeep, hasMoreParts } from "./yaml-depth.ts";

const MAX_DEPTH = 32;
const MAX_NODES = 20_000;
/** Ten times the parts of a long configuration. */
const MAX_PARTS = 10_000;
const MAX_ALIASES = 100;

type YamlSource = { readonly origin: string; readonly lines: LineCounter };

/**
 * Parses one YAML 1.2 document of plain values: text keys, no repeated key, only the standard tags of scalars, at most 32 levels
 * and 100 aliases. An empty document is an empty scalar.
 * @param origin the file as messages name it
 * @throws Failure CONFIG_ERROR with line and column of every problem
 */
export function parseYaml(text: string, origin: string): ConfigTree {
  const where = { origin, lines: new LineCounter() };
  const tokens = [...new Parser(where.lines.addNewLine).parse(text)];
  checkTokens(tokens, where);
  const documents = [...new Composer(OPTIONS).compose(tokens, true, text.length)];
  const [document] = documents;
  if (document === undefined) throw new Error("The YAML composer gave no document.");
  if (documents.length > 1)
    throw configFailure([problemAt(documents[1]?.range[0], where, ONE_DOCUMENT)]);
  const problems = [
    ...repeatedKeysOf(document.contents).map((offset) =>
      problemAt(offset, where, "Map keys must be unique"),
    ),
    ...[...document.errors, ...document.warnings].map(({ pos, message }) =>
      problemAt(pos[0], where, firstLine(message)),
    ),
  ];
  if (problems.length > 0) throw configFailure(problems);
  return new TreeBuilder(document, where).build();
}

const OPTIONS = {
  logLevel: "silent",
  merge: false,
  prettyErrors: false,
  resolveKnownTags: false,
  stringKeys: true,
  // The library's search is quadratic; repeatedKeysOf replaces it.
  uniqueKeys: false,
} as const;

const TOO_MANY_PARTS = `has more than ${MAX_PARTS} keys, values and marks`;
const ONE_DOCUMENT = "a second document begins here; expected one";

/**
 * Checks tokens before the composer gets them. The composer recurses, and deep nesting that exhausts the stack can end the
 * process (V8 aborts when it compiles a regular expression at the very end of the stack).
 */
function checkTokens(tokens: readonly CST.Token[], where: YamlSource): void {
  let documents = 0;
  for (const token of tokens) {
    if (token.type === "directive") {
      throw configFailure([problemAt(token.offset, where, "YAML directives are not accepted")]);
    }
    if (token.type !== "document") continue;
    documents += 1;
    if (documents > 1) throw configFailure([problemAt(token.offset, where, ONE_DOCUMENT)]);
    checkDepth(token.value, where);
    if (hasMoreParts(token.value, MAX_PARTS))
      throw configFailure([problemAt(token.offset, where, TOO_MANY_PARTS)]);
  }
  if (tokens.length > MAX_PARTS) throw configFailure([problemAt(0, where, TOO_MANY_PARTS)]);
}

function checkDepth(root: CST.Token | undefined, where: YamlSource): void {
  const deep = findTooDeep(root, MAX_DEPTH);
  if (deep === undefined) return;
  throw configFailure([problemAt(deep.offset, where, `is nested deeper than ${MAX_DEPTH} levels`)]);
}

/** Offsets of repeated keys. checkDepth bounds the recursion. */
function repeatedKeysOf(node: Node | null): number[] {
  if (isSeq<ParsedNode>(node)) return node.items.flatMap(repeatedKeysOf);
  if (!isMap<ParsedNode, ParsedNode | null>(node)) return [];
  const seen = new Set<string>();
  return node.items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? String(key.value) : "";
    const below = repeatedKeysOf(value);
    if (seen.has(name)) return [key.range[0], ...below];
    seen.add(name);
    return below;
  });
}

class TreeBuilder {
  readonly #document: Document.Parsed;
  readonly #where: YamlSource;
  #nodes = 0;
  #aliases = 0;

  constructor(document: Document.Parsed, where: YamlSource) {
    this.#document = document;
    this.#where = where;
  }

  build(): ConfigTree {
    return this.#node(this.#document.contents, this.#place(0), 0);
  }

  /** @param place of the key, which is more useful than that of the value */
  #node(node: Node | null, place: SourceLocation, depth: number): ConfigTree {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES || depth > MAX_DEPTH || this.#aliases > MAX_ALIASES) {
      throw configFailure([{ place, text: "grows too large through its aliases" }]);
    }
    if (isMap<ParsedNode, ParsedNode | null>(node)) {
      return { kind: "mapping", entries: this.#entries(node.items, depth), place };
    }
    if (isSeq<ParsedNode>(node)) {
      const items = node.items.map((item) =>
        this.#node(item, this.#place(item.range[0]), depth + 1),
      );
      return { kind: "list", items, place };
    }
    if (isAlias(node)) {
      this.#aliases += 1;
      const target = node.resolve(this.#document);
      if (target === undefined)
        throw configFailure([{ place, text: "an alias has no anchor before it" }]);
      return this.#node(target, place, depth + 1);
    }
    return { kind: "scalar", value: isScalar(node) ? node.value : null, place };
  }

  #entries(
    pairs: readonly Pair<ParsedNode, ParsedNode | null>[],
    depth: number,
  ): Map<string, ConfigTree> {
    const entries = new Map<string, ConfigTree>();
    for (const { key, value } of pairs) {
      const name = isScalar(key) ? String(key.value) : "";
      const place = this.#place(key.range[0]);
      entries.set(name, this.#node(value, place, depth + 1));
    }
    return entries;
  }

  #place(offset: number): SourceLocation {
    return placeAt(offset, this.#where);
  }
}

function placeAt(offset: number, { origin, lines }: YamlSource): SourceLocation {
  const { line, col } = lines.linePos(offset);
  return { origin, line: Math.max(1, line), column: Math.max(1, col) };
}

const problemAt = (offset: number | undefined, where: YamlSource, text: string): Problem => ({
  place: placeAt(offset ?? 0, where),
  text,
});

/** A message can contain tags and similar of any length. */
const firstLine = (message: string): string => message.split("\n", 1)[0]?.slice(0, 120) ?? "";
