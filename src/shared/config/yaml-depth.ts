/** The parts of a token of the YAML parser that are read here. */
type YamlToken = {
  readonly type: string;
  readonly offset: number;
  readonly items?: readonly YamlItem[];
};
type YamlItem = {
  readonly key?: YamlToken | null;
  readonly value?: YamlToken;
  /** Blanks, comments, marks, anchors and tags before the key, and between key and value. */
  readonly start?: readonly unknown[];
  readonly sep?: readonly unknown[];
};

/**
 * The first token of a parsed YAML document that is nested deeper than `limit` levels. Call it before the composer, which
 * recurses: deep nesting that exhausts the stack can end the process (V8 aborts when it compiles a regular expression at the
 * very end of the stack). The parser itself does not recurse.
 * @param root the value of the document token; the levels are counted from 1
 */
export function findTooDeep(root: YamlToken | undefined, limit: number): YamlToken | undefined {
  let level = root === undefined ? [] : [root];
  for (let depth = 1; level.length > 0 && depth <= limit; depth += 1) {
    level = level.flatMap(childrenOf);
  }
  return level[0];
}

const childrenOf = ({ items = [] }: YamlToken): YamlToken[] =>
  items.flatMap(({ key, value }) => [key, value].filter((part) => part != null));

/**
 * Whether a parsed YAML document has more than `limit` parts: entries, and the marks, blanks and anchors around them. Call it
 * before the composer, whose time can grow with their square.
 */
export function hasMoreParts(root: YamlToken | undefined, limit: number): boolean {
  const open = root === undefined ? [] : [root];
  let parts = 0;
  for (let token = open.pop(); token !== undefined; token = open.pop()) {
    for (const { key, value, start, sep } of token.items ?? []) {
      parts += 1 + (start?.length ?? 0) + (sep?.length ?? 0);
      if (parts > limit) return true;
      if (key != null) open.push(key);
      if (value !== undefined) open.push(value);
    }
  }
  return false;
}
