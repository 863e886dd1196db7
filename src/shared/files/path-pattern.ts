/** A part of a name pattern: one code point, one of a set, or any number of any. */
type Step = number | CharSet | "*";

/** Pairs of the first and last code point of a range. */
type CharSet = { readonly kind: "in" | "not_in"; readonly ranges: readonly Range[] };
type Range = readonly [from: number, to: number];

/** A pattern for one name of a path, and the fewest characters that it matches. */
type NamePattern = { readonly steps: readonly Step[]; readonly fewest: number };

/** The patterns for the names of a path in order. `**` matches any number of names, at the end at least one. */
export type PathPattern = readonly (NamePattern | "**")[];

/** The indices of the parts that the next name may match, given the folders above it; ascending. */
export type Places = readonly number[];

const ANY: CharSet = { kind: "not_in", ranges: [] };

/**
 * Parses wildcards as git does (wildmatch): `*`, `?`, sets such as [a-z] and [![:digit:]], `**` for folders, and `\` to escape a
 * character. Linear. Undefined for a pattern that matches nothing: a set without its end, or a `\` at the end.
 */
export function parsePathPattern(pattern: string): PathPattern | undefined {
  const parts: (NamePattern | "**")[] = [];
  let steps: Step[] = [];
  for (let at = 0; at <= pattern.length;) {
    const piece = pieceAt(pattern, at, steps);
    if (piece === undefined) return undefined;
    at = piece.end;
    if (piece.step === "*" && steps.at(-1) === "*") continue;
    if (piece.step === "**") {
      if (parts.at(-1) !== "**") parts.push("**");
      steps = [];
    } else if (piece.step !== "/") {
      steps.push(piece.step);
    } else {
      parts.push({ steps, fewest: steps.filter((step) => step !== "*").length });
      steps = [];
    }
  }
  return parts;
}

type Piece = { readonly step: Step | "/" | "**"; readonly end: number };

/** The end of the pattern ends a name, as a slash does. */
function pieceAt(pattern: string, at: number, before: readonly Step[]): Piece | undefined {
  const char = pattern[at];
  if (char === undefined || char === "/") return { step: "/", end: at + 1 };
  if (char === "*") return starsAt(pattern, at, before);
  if (char === "?") return { step: ANY, end: at + 1 };
  if (char === "[") return parseSet(pattern, at);
  const literal = literalAt(pattern, at);
  if (literal === undefined) return undefined;
  const { code, end } = literal;
  return { step: code === SLASH ? "/" : code, end };
}

const SLASH = 47;

function starsAt(pattern: string, at: number, before: readonly Step[]): Piece {
  let end = at;
  while (pattern[end] === "*") end += 1;
  const rest = pattern.slice(end, end + 2);
  const next = rest.startsWith("/") ? 1 : rest === "\\/" ? 2 : 0;
  const isWhole = before.length === 0 && end - at > 1 && (rest === "" || next > 0);
  return isWhole ? { step: "**", end: end + Math.max(1, next) } : { step: "*", end };
}

type Literal = { readonly code: number; readonly end: number };

/** A literal character, after a `\` or without one. */
function literalAt(pattern: string, at: number): Literal | undefined {
  const place = pattern[at] === "\\" ? at + 1 : at;
  const code = pattern.codePointAt(place);
  return code === undefined ? undefined : { code, end: place + unitsOf(code) };
}

const unitsOf = (code: number): number => (code > 0xffff ? 2 : 1);

/** A set of characters; a `]` in first place is a member. */
function parseSet(pattern: string, start: number): Piece | undefined {
  const isNegated = pattern[start + 1] === "!" || pattern[start + 1] === "^";
  const ranges: Range[] = [];
  let at = start + (isNegated ? 2 : 1);
  do {
    const member = namedClassAt(pattern, at) ?? rangeAt(pattern, at);
    if (member?.ranges === undefined) return undefined;
    ranges.push(...member.ranges);
    at = member.end;
  } while (pattern[at] !== "]");
  return { step: { kind: isNegated ? "not_in" : "in", ranges }, end: at + 1 };
}

type Member = { readonly ranges: readonly Range[] | undefined; readonly end: number };

/** A reversed range matches only its first character, as in git. */
function rangeAt(pattern: string, at: number): Member | undefined {
  const first = literalAt(pattern, at);
  if (first === undefined) return undefined;
  const { code, end } = first;
  const hasEnd = pattern[end] === "-" && end + 1 < pattern.length && pattern[end + 1] !== "]";
  const last = hasEnd ? literalAt(pattern, end + 1) : undefined;
  if (hasEnd && last === undefined) return undefined;
  return { ranges: [[code, Math.max(code, last?.code ?? code)]], end: last?.end ?? end };
}

const LONGEST_CLASS = "[:xdigit:]".length;

/** A class such as [:alpha:]. Without ranges for an unknown name. */
function namedClassAt(pattern: string, at: number): Member | undefined {
  if (!pattern.startsWith("[:", at)) return undefined;
  const close = pattern.indexOf("]", at + 2);
  if (close < at + 3 || pattern[close - 1] !== ":") return undefined;
  const text = pattern.slice(at + 2, Math.min(close - 1, at + LONGEST_CLASS));
  return { ranges: CLASSES.get(text)?.map(toRange), end: close + 1 };
}

const toRange = (pair: string): Range => [pair.charCodeAt(0), pair.charCodeAt(1)];

/** ASCII only, as in git. */
const CLASSES: ReadonlyMap<string, readonly string[]> = new Map([
  ["alnum", ["09", "AZ", "az"]],
  ["alpha", ["AZ", "az"]],
  ["blank", ["  ", "\t\t"]],
  ["cntrl", ["\0\u001f", "\u007f\u007f"]],
  ["digit", ["09"]],
  ["graph", ["!~"]],
  ["lower", ["az"]],
  ["print", [" ~"]],
  ["punct", ["!/", ":@", "[`", "{~"]],
  ["space", ["  ", "\t\n", "\r\r"]],
  ["upper", ["AZ"]],
  ["xdigit", ["09", "AF", "af"]],
]);

/** The places at the start of a path. */
export const startOf = (pattern: PathPattern): Places => [...placesFrom(pattern, 0)];

/** The places inside a folder of that name. The time is at most the product of the lengths of pattern and name. */
export function enterFolder(pattern: PathPattern, places: Places, name: string): Places {
  const inside: number[] = [];
  for (const place of places) {
    const part = pattern[place];
    const next = part === "**" ? place : place + 1;
    if (part === undefined || next === pattern.length || !takesName(part, name)) continue;
    // Two places may lead to the same next place, but never to an earlier one.
    inside.push(...placesFrom(pattern, next).filter((each) => each > (inside.at(-1) ?? -1)));
  }
  return inside;
}

/** Whether the pattern ends with an entry of that name. The time is at most the product of both lengths. */
export function endsWith(pattern: PathPattern, places: Places, name: string): boolean {
  const last = pattern.length - 1;
  const part = pattern[last];
  return part !== undefined && places.at(-1) === last && takesName(part, name);
}

/** A `**` also matches no name, unless it is the last part. */
const placesFrom = (pattern: PathPattern, place: number): readonly number[] =>
  pattern[place] === "**" && place + 1 < pattern.length ? [place, place + 1] : [place];

function takesName(part: NamePattern | "**", name: string): boolean {
  return part === "**" || (part.fewest <= name.length && takesAll(part.steps, name));
}

/**
 * Backtracks to the last `*` only: whatever an earlier one leaves to a later one, the later one can match itself. So the time is
 * at most the product of both lengths, and not a power of it.
 */
function takesAll(steps: readonly Step[], name: string): boolean {
  let step = 0;
  let star = -1;
  let afterStar = 0;
  for (let at = 0; at < name.length;) {
    const wanted = steps[step];
    const code = name.codePointAt(at) ?? 0;
    if (wanted === "*") {
      star = step;
      step += 1;
      afterStar = at;
    } else if (wanted !== undefined && isTaken(wanted, code)) {
      step += 1;
      at += unitsOf(code);
    } else if (star === -1) {
      return false;
    } else {
      step = star + 1;
      afterStar += unitsOf(name.codePointAt(afterStar) ?? 0);
      at = afterStar;
    }
  }
  return steps.length - step <= (steps.at(-1) === "*" ? 1 : 0);
}

function isTaken(wanted: number | CharSet, code: number): boolean {
  if (typeof wanted === "number") return wanted === code;
  const isAmong = wanted.ranges.some(([from, to]) => from <= code && code <= to);
  return isAmong === (wanted.kind === "in");
}
