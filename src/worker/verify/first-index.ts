/** Index of the first item of a sorted list for which the test holds, as for all behind it; else its length. Logarithmic. */
export function firstIndex<T>(all: readonly T[], holds: (one: T) => boolean): number {
  let [low, high] = [0, all.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const one = all[middle];
    if (one === undefined || holds(one)) high = middle;
    else low = middle + 1;
  }
  return low;
}
