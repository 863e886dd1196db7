import type { TextSpan } from "../text/split-spans.ts";

/** A citation by name: what stands in its brackets, in every way that its end can be read, shortest first. */
export type NamedCitation = TextSpan & {
  readonly form: "source" | "wiki" | "path";
  readonly readings: readonly { readonly name: string; readonly end: number }[];
};

const OPENING =
  /\[(?:(?<wiki>\[)|\s{0,4}(?<source>(?:source|quelle)\s{0,4}:)|(?=(?<path>[^[\]\n]{1,400})[[\]]))/gi;
/** A name with an ending, alone or before a heading. */
const LOOKS_LIKE_FILE =
  /^[^\s:*?"<>|#](?:[^\n:*?"<>|#]{0,250}[^\s:*?"<>|#])?\.[\p{L}\p{N}]{1,8}\s{0,4}(?:#|$)/u;
/** Chunk keys have 32 hex digits. */
const KEY_LENGTH = /[0-9a-f]{32}/i;
const LONGEST = 600;
const MOST_READINGS = 8;

/**
 * `[notes/a.md#A heading]`, `[Source: notes/a.md#A heading]` and `[[a#A heading]]`, in order. A heading may hold `]`
 * itself, so each later bracket of its line is a reading of its end too. Links are none. Bounded work for each
 * bracket. Give it the text with code and citations by number blanked.
 *
 * @param isName whether a text before `#` or at the end of the brackets names a piece of the evidence
 */
export function findNamedCitations(
  text: string,
  isName: (name: string) => boolean,
): NamedCitation[] {
  const citations: NamedCitation[] = [];
  let after = 0;
  for (const match of text.matchAll(OPENING)) {
    if (match.index < after) continue;
    const form = formOf(match, isName);
    if (form === null) continue;
    const from = match.index + (form === "path" ? 1 : match[0].length);
    const readings = readingsFrom(text, from, form === "wiki" ? "]]" : "]");
    const [first] = readings;
    if (first === undefined || text.startsWith("(", first.end)) continue;
    citations.push({ start: match.index, end: first.end, form, readings });
    after = first.end;
  }
  return citations;
}

function formOf(
  { groups }: RegExpExecArray,
  isName: (name: string) => boolean,
): NamedCitation["form"] | null {
  if (groups?.["wiki"] !== undefined) return "wiki";
  if (groups?.["source"] !== undefined) return "source";
  const path = groups?.["path"] ?? "";
  // "[b]ikes" and "[x] done" cite no `b.md` and `x.md`.
  const isNamed =
    (/[./#]/.test(path) || KEY_LENGTH.test(path)) &&
    (isName(path) || LOOKS_LIKE_FILE.test(path.trim()));
  return isNamed ? "path" : null;
}

function readingsFrom(text: string, from: number, closer: string): NamedCitation["readings"] {
  const [line = ""] = text.slice(from, from + LONGEST).split("\n", 1);
  const readings: { name: string; end: number }[] = [];
  let at = line.indexOf(closer);
  while (at !== -1 && readings.length < MOST_READINGS) {
    readings.push({ name: line.slice(0, at).trim(), end: from + at + closer.length });
    at = line.indexOf(closer, at + 1);
  }
  return readings;
}
