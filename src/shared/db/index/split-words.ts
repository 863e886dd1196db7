/** Marks around a word that the text search parser takes for blanks; `.` and `:` begin a host or a URL inside one. */
const BEFORE = charSet("([{\"'*");
const AFTER = charSet(".,;:!?)]}\"'*");

/** A tag of HTML or XML on its own: the parser leaves it out, which it could not tell of the halves of one. */
const TAG = /<[A-Za-z/!?][^<>]{0,300}>/g;

/**
 * The pieces of a text between white space, in order. The text search parser finds in them, one by one, the words
 * that it finds in the whole, because none of its tokens but tags holds white space.
 */
export function splitWords(text: string, visit: (word: string) => void): void {
  if (!text.includes("<")) {
    splitAtBlanks(text, 0, text.length, visit);
    return;
  }
  let from = 0;
  for (const match of text.matchAll(TAG)) {
    splitAtBlanks(text, from, match.index, visit);
    from = match.index + match[0].length;
  }
  splitAtBlanks(text, from, text.length, visit);
}

function splitAtBlanks(
  text: string,
  from: number,
  end: number,
  visit: (word: string) => void,
): void {
  let start = from;
  for (let at = from; at <= end; at += 1) {
    if (at < end && !isBlank(text.charCodeAt(at))) continue;
    if (at > start) visit(bareWord(text, start, at));
    start = at + 1;
  }
}

/** White space of ASCII: any other is looked at by the parser, which may take it for a part of a word. */
const isBlank = (unit: number): boolean => unit === 32 || (unit >= 9 && unit <= 13);

/** The letters alone where a piece is nothing but ASCII letters between marks, so that `word.` is `word`. */
function bareWord(text: string, start: number, end: number): string {
  let first = start;
  let last = end;
  while (first < last && BEFORE[text.charCodeAt(first)] === 1) first += 1;
  while (last > first && AFTER[text.charCodeAt(last - 1)] === 1) last -= 1;
  for (let at = first; at < last; at += 1) {
    if (!isLetter(text.charCodeAt(at))) return text.slice(start, end);
  }
  return text.slice(first, last);
}

const isLetter = (unit: number): boolean => (unit | 32) >= 97 && (unit | 32) <= 122;

function charSet(characters: string): Uint8Array {
  const set = new Uint8Array(65_536);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}
