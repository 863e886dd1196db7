const MOST_NAMES = 3;

/** Names that begin with the given one, or differ from it in few characters, closest first. */
export function findCloseNames(wanted: string, names: readonly string[]): readonly string[] {
  const target = wanted.toLowerCase();
  const most = Math.max(1, Math.floor(target.length / 3));
  return names
    .map((name) => ({ name, distance: distanceOf(target, name.toLowerCase(), most) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_NAMES)
    .map(({ name }) => name);
}

/** `did you mean "a" or "b"?`; `otherwise` if no name is close. */
export function hintNames(wanted: string, names: readonly string[], otherwise: string): string {
  const close = findCloseNames(wanted, names).map((name) => JSON.stringify(name));
  return close.length === 0 ? otherwise : `did you mean ${close.join(" or ")}?`;
}

const distanceOf = (a: string, b: string, most: number): number => {
  if (a.length >= 3 && b.startsWith(a)) return 1;
  // For a name of two letters, one letter more or less makes another name.
  return Math.abs(a.length - b.length) > a.length / 3 ? Infinity : editDistance(a, b, most);
};

/**
 * How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one word into the other (optimal
 * string alignment); `most + 1` if it is more than `most`. The common start and end are skipped, and each row computes only a
 * band of 2·most + 1 cells (Ukkonen 1985).
 */
export function editDistance(left: string, right: string, most: number): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  if (Math.abs(a.length - b.length) > most) return most + 1;
  const start = sharedStart(a, b);
  const end = sharedEnd(a, b, start);
  return bandedDistance(a.slice(start, a.length - end), b.slice(start, b.length - end), most);
}

type Letters = readonly string[];

function sharedStart(a: Letters, b: Letters): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

function sharedEnd(a: Letters, b: Letters, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let length = 0;
  while (length < most && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}

function bandedDistance(a: Letters, b: Letters, most: number): number {
  const over = most + 1;
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: b.length + 1 }, (_, at) => Math.min(at, over));
  for (let row = 1; row <= a.length; row += 1) {
    const current = new Array<number>(b.length + 1).fill(over);
    current[0] = Math.min(row, over);
    let least = current[0];
    for (let at = Math.max(1, row - most); at <= Math.min(b.length, row + most); at += 1) {
      const exchanged = (last[at - 1] ?? over) + (a[row - 1] === b[at - 1] ? 0 : 1);
      const changed = Math.min(last[at] ?? over, current[at - 1] ?? over) + 1;
      const isSwapped = at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1];
      const swapped = isSwapped ? (beforeLast[at - 2] ?? over) + 1 : over;
      const cell = Math.min(exchanged, changed, swapped, over);
      current[at] = cell;
      least = Math.min(least, cell);
    }
    if (least > most) return over;
    [beforeLast, last] = [last, current];
  }
  return last[b.length] ?? over;
}
