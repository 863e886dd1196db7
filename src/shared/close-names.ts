const MOST_NAMES = 3;

/** Names that begin as the given one does, or differ from it in few characters; closest first. */
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

const distanceOf = (a: string, b: string, most: number): number => {
  if (a.length >= 3 && b.startsWith(a)) return 1;
  // A letter more or less makes another name of one that has but two.
  return Math.abs(a.length - b.length) > a.length / 3 ? Infinity : editDistance(a, b, most);
};

/**
 * How many letters must be put in, left out, exchanged or swapped with their neighbour to make one word of the other
 * (optimal string alignment); `most + 1` when it is more than `most`.
 */
export function editDistance(left: string, right: string, most: number): number {
  const [a, b] = [Array.from(left), Array.from(right)];
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let at = 1; at <= b.length; at += 1) {
      const exchange = (last[at - 1] ?? 0) + (a[row - 1] === b[at - 1] ? 0 : 1);
      const edits = [exchange, (last[at] ?? 0) + 1, (current[at - 1] ?? 0) + 1];
      const isSwapped = at > 1 && a[row - 1] === b[at - 2] && a[row - 2] === b[at - 1];
      if (isSwapped) edits.push((beforeLast[at - 2] ?? 0) + 1);
      current.push(Math.min(...edits));
    }
    if (Math.min(...current) > most) return most + 1;
    [beforeLast, last] = [last, current];
  }
  return Math.min(last[b.length] ?? 0, most + 1);
}
