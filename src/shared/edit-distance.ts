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
