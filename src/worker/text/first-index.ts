import type { TextSpan } from "./spans.ts";

/** Index of the first item that passes a test, in a list where all behind it pass as well; else its length. Logarithmic. */
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

/** Index of the first of spans in order that begins at or behind a place. */
export const firstFrom = (spans: readonly Pick<TextSpan, "start">[], place: number): number =>
  firstIndex(spans, ({ start }) => start >= place);

/** Index of the last of ascending numbers that is not above a limit; 0 where none is. */
export const lastNotAbove = (numbers: readonly number[], limit: number): number =>
  Math.max(0, firstIndex(numbers, (number) => number > limit) - 1);
