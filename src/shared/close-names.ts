const MOST_NAMES = 3;

/** Names that begin as the given one does, or differ from it in few characters; closest first. */
export function findCloseNames(wanted: string, names: readonly string[]): readonly string[] {
  const target = wanted.toLowerCase();
  return names
    .map((name) => ({ name, distance: distanceOf(target, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.max(1, Math.floor(target.length / 3)))
    .sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_NAMES)
    .map(({ name }) => name);
}

const distanceOf = (a: string, b: string): number => {
  if (a.length >= 3 && b.startsWith(a)) return 1;
  return Math.abs(a.length - b.length) > a.length / 3 ? Infinity : editDistance(a, b);
};

/** Levenshtein's distance: insertions, deletions and substitutions that turn one text into the other. */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const current = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substituted, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
