import { shortenTitle } from "./shorten-title.ts";

/** An array or object that is cut into its entries. */
export type JsonContainer = {
  readonly kind: "array" | "object";
  /** Null for the outermost. */
  readonly outer: JsonContainer | null;
  /** JSON pointer (RFC 6901) of the whole, without the keys below the sixteenth; "" for the outermost. */
  readonly pointer: string;
  readonly depth: number;
  /** Of the entry that is being read. */
  key: string;
};

/** Deeper keys would tell nothing more, and cost more for each chunk the deeper a file is nested. */
const MOST_KEYS = 16;

export const openContainer = (bracket: string, outer: JsonContainer | null): JsonContainer => ({
  kind: bracket === "[" ? "array" : "object",
  outer,
  pointer: outer === null ? "" : entryPointer(outer),
  depth: outer === null ? 1 : outer.depth + 1,
  key: bracket === "[" ? "0" : "",
});

/** The JSON pointer of the entry that is being read. */
export function entryPointer({ pointer, depth, key }: JsonContainer): string {
  if (depth > MOST_KEYS) return pointer;
  return shortenTitle(`${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
}
