/** The place where a value was written. Files have a line and a column, from 1. */
export type SourceLocation = {
  /** The file as shown to people, `environment NAME` or `flag --name`. */
  readonly origin: string;
  readonly line?: number;
  readonly column?: number;
};

/** A parsed value that remembers where each of its parts was written. */
export type ConfigTree =
  | Mapping
  | { readonly kind: "list"; readonly items: readonly ConfigTree[]; readonly place: SourceLocation }
  | { readonly kind: "scalar"; readonly value: unknown; readonly place: SourceLocation };

export type Mapping = {
  readonly kind: "mapping";
  readonly entries: ReadonlyMap<string, ConfigTree>;
  readonly place: SourceLocation;
};

/** `over` on top of `base`: mappings merge key by key, lists and scalars replace. */
export function overlay(base: Mapping, over: Mapping): Mapping {
  const entries = new Map(base.entries);
  for (const [key, value] of over.entries) {
    const below = entries.get(key);
    const merges = below?.kind === "mapping" && value.kind === "mapping";
    entries.set(key, merges ? overlay(below, value) : value);
  }
  return { kind: "mapping", entries, place: base.place };
}

/** A tree with one scalar at a path, to overlay on another tree. */
export function scalarAt(
  path: readonly [string, ...string[]],
  value: string,
  place: SourceLocation,
): Mapping {
  const [key, next, ...rest] = path;
  const child: ConfigTree =
    next === undefined ? { kind: "scalar", value, place } : scalarAt([next, ...rest], value, place);
  return { kind: "mapping", entries: new Map([[key, child]]), place };
}

/** The plain value. A key named `__proto__` becomes an ordinary property. */
export function plainValue(tree: ConfigTree): unknown {
  switch (tree.kind) {
    case "mapping":
      return Object.fromEntries([...tree.entries].map(([key, value]) => [key, plainValue(value)]));
    case "list":
      return tree.items.map(plainValue);
    case "scalar":
      return tree.value;
  }
}

/** The part at a path; undefined if there is none. */
export function treeAt(tree: ConfigTree, path: KeyPath): ConfigTree | undefined {
  let part: ConfigTree | undefined = tree;
  for (const step of path) {
    if (part?.kind === "mapping") part = part.entries.get(String(step));
    else part = part?.kind === "list" ? part.items[Number(step)] : undefined;
  }
  return part;
}

/** The place of the value at a path, or of the nearest part around it. */
export function placeOf(tree: ConfigTree, path: KeyPath): SourceLocation {
  const part = treeAt(tree, path);
  return part === undefined ? placeOf(tree, path.slice(0, -1)) : part.place;
}

/** The origin of every scalar, list and empty mapping, by dotted key. */
export function originsOf(tree: ConfigTree, path: KeyPath = []): Map<string, string> {
  if (tree.kind !== "mapping" || tree.entries.size === 0) {
    return new Map([[dottedKey(path), tree.place.origin]]);
  }
  return new Map(
    [...tree.entries].flatMap(([key, value]) => [...originsOf(value, [...path, key])]),
  );
}

/** The steps from the top of the configuration to a value: keys of mappings and indices of lists. */
export type KeyPath = readonly (string | number)[];

/** `index.sources.0.root`; a step that is no plain word is quoted: `model.aliases."llama3.1:8b"`. */
export const dottedKey = (path: KeyPath): string =>
  path
    .map(String)
    .map((step) => (/^[\w-]+$/.test(step) ? step : JSON.stringify(step)))
    .join(".");

/** Freezes a value of plain objects, lists and maps, and everything in it. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) closeMap(value);
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}

/** Object.freeze leaves a Map's entries open. */
function closeMap(map: Map<unknown, unknown>): void {
  const refuse = () => {
    throw new TypeError("The configuration is frozen.");
  };
  Object.assign(map, { set: refuse, delete: refuse, clear: refuse });
}
