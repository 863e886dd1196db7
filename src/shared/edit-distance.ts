/**
 * How many letters must be put in, left out, exchanged or swapped with their neighbour to make one word of the other
 * (optimal string alignment); `most + 1` when it is more than `most`.
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const exchanged = (last[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Infinity;
      const shifted = Math.min(last[column] ?? 0, current[column - 1] ?? 0) + 1;
      current.push(Math.min(exchanged, swapped, shifted));
    }
    [beforeLast, last] = [last, current];
  }
  return Math.min(last[b.length] ?? 0, most + 1);
}
