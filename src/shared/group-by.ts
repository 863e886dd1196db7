/** Groups items by key, keys in the order of first occurrence. */
export function groupBy<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) append(groups, keyOf(item), item);
  return groups;
}

/** Groups neighbours whose lengths together are within the room. An item that is longer alone is a group of its own. */
export function groupToFit<Item>(
  items: Iterable<Item>,
  room: number,
  lengthOf: (item: Item) => number,
): Item[][] {
  const groups: Item[][] = [];
  let length = 0;
  for (const item of items) {
    const added = lengthOf(item);
    const open = groups.at(-1);
    const fits = open !== undefined && length + added <= room;
    if (fits) open.push(item);
    else groups.push([item]);
    length = fits ? length + added : added;
  }
  return groups;
}

/** Appends a value to the list of its key. */
export function append<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const others = lists.get(key);
  if (others === undefined) lists.set(key, [value]);
  else others.push(value);
}
