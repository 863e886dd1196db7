/** Values that are longer match no pattern: what is tried on one has an end. */
export const MOST_PATTERN_CHARS = 256;
/** Ways to read one value that a pattern may have, from one place on and from every place. */
const MOST_WAYS = 2 ** 24;
const LONGEST_PATTERN = 400;

/**
 * Why a pattern is not taken, as a clause, or undefined where it is: it is no regular expression, or trying it could
 * take long. The engine goes back for every choice that a pattern leaves open, so that the product of its choices
 * bounds the work: `x*` leaves as many as a value has characters, `x?` two, `(a|b)` two, and a repeated group those of
 * its content for every turn. A nested repeat such as `(a+)+` is far beyond every bound.
 */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > LONGEST_PATTERN) return `is longer than ${LONGEST_PATTERN} characters`;
  try {
    new RegExp(pattern, "u");
  } catch {
    return "is no regular expression";
  }
  if (/\\[1-9k]|\(\?<?[=!]/.test(pattern)) return "looks back or ahead, which is not taken";
  const ways = waysOf({ text: pattern, at: 0 });
  const most = pattern.startsWith("^") ? MOST_WAYS : MOST_WAYS / MOST_PATTERN_CHARS;
  return ways <= most
    ? undefined
    : "may take very long on some values: it repeats too much, or repeats a repeat. Write it with fewer *, + and ?";
}

type Cursor = { readonly text: string; at: number };

/** The choices of a pattern up to the end of its group. */
function waysOf(cursor: Cursor): number {
  let ways = 1;
  let branches = 1;
  while (cursor.at < cursor.text.length && cursor.text[cursor.at] !== ")") {
    if (cursor.text[cursor.at] === "|") {
      branches += 1;
      cursor.at += 1;
      continue;
    }
    const inner = takeAtom(cursor);
    ways *= repeated(inner, takeRepeat(cursor));
  }
  return ways * branches;
}

/** @returns the choices within it */
function takeAtom(cursor: Cursor): number {
  const { text } = cursor;
  const opening = text[cursor.at];
  cursor.at += opening === "\\" ? 2 : 1;
  if (opening === "[") {
    while (cursor.at < text.length && text[cursor.at] !== "]")
      cursor.at += text[cursor.at] === "\\" ? 2 : 1;
    cursor.at += 1;
  }
  if (opening !== "(") return 1;
  cursor.at += /^\?(?::|<[^>]*>)/.exec(text.slice(cursor.at))?.[0].length ?? 0;
  const ways = waysOf(cursor);
  cursor.at += 1;
  return ways;
}

type Repeat = { readonly fewest: number; readonly most: number };

const ONCE: Repeat = { fewest: 1, most: 1 };

function takeRepeat(cursor: Cursor): Repeat {
  const [found, mark = "", low, comma, high] =
    /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(cursor.text.slice(cursor.at)) ?? [];
  if (found === undefined) return ONCE;
  cursor.at += found.length;
  if (mark === "?") return { fewest: 0, most: 1 };
  if (mark !== "") return { fewest: mark === "+" ? 1 : 0, most: MOST_PATTERN_CHARS };
  const fewest = Number(low);
  if (comma !== ",") return { fewest, most: fewest };
  return { fewest, most: high === "" ? MOST_PATTERN_CHARS : Number(high) };
}

const repeated = (inner: number, { fewest, most }: Repeat): number =>
  Math.max(1, most - fewest + 1) * inner ** Math.min(most, MOST_PATTERN_CHARS);
