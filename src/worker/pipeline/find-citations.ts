/** `[1]`, `[ 1, 2 ]`, `[1-3]` and the same in 【】; no link. Bounded, so that no text makes it slow. */
const CITATION = /[[【]([\d\s,;–—-]{1,400})[\]】](?!\()/g;
const LONGEST_RANGE = 50;

/** The evidence numbers that a text cites, each once, in order. Give it the text without code. */
export function findCitations(text: string): number[] {
  const numbers = [...text.normalize("NFKC").matchAll(CITATION)].flatMap(([, list]) =>
    (list ?? "")
      .replace(/\s*[–—-]\s*/g, "-")
      .split(/[,;\s]+/)
      .filter((part) => /\d/.test(part))
      .flatMap(expandRange),
  );
  return [...new Set(numbers)];
}

function expandRange(part: string): number[] {
  const [first = 0, last = first] = part.split("-").map(Number);
  if (last < first || last - first > LONGEST_RANGE) return [first, last];
  return Array.from({ length: last - first + 1 }, (_, offset) => first + offset);
}

/** The text without its citations. */
export const withoutCitations = (text: string): string =>
  text.normalize("NFKC").replace(CITATION, "");
