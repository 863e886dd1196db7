import { editDistance } from "./edit-distance.ts";

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
