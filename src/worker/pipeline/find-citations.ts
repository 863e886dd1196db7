/** `[1]`, `[1, 2]`, `[1-3]`: at most 16 numbers of at most 4 digits, so that no text makes it slow. */
const CITATION = /\[(\d{1,4}(?: ?[,;–-] ?\d{1,4}){0,15})\]/g;
const LONGEST_RANGE = 50;

/** The evidence numbers that a text cites, each once, in order. Give it the text without code. */
export function findCitations(text: string): number[] {
  const numbers = [...text.matchAll(CITATION)].flatMap(([, list]) =>
    (list ?? "").split(/[,;]/).flatMap(expandRange),
  );
  return [...new Set(numbers)];
}

function expandRange(part: string): number[] {
  const [first = 0, last = first] = part.split(/[–-]/).map(Number);
  if (last < first || last - first > LONGEST_RANGE) return [first, last];
  return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
}
