/** A hostile title of a megabyte would otherwise be stored, searched and embedded with every chunk below it. */
const TITLE_CHARS = 200;

/** A title or heading of at most 200 UTF-16 units, the last an ellipsis where it was longer. */
export function shortenTitle(title: string): string {
  if (title.length <= TITLE_CHARS) return title;
  // A surrogate pair that the cut went through is dropped whole.
  return `${title.slice(0, TITLE_CHARS - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
