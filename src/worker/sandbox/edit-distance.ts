/**
 * Levenshtein distance of two texts in UTF-16 units, or `limit + 1` as soon as it must be over `limit`. What both
 * start and end with is left out, and only the band of 2·limit + 1 cells a row is computed (Ukkonen 1985).
 */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  const start = sharedStart(a, b);
  const end = sharedEnd(a, b, start);
  return bandedDistance(a.slice(start, a.length - end), b.slice(start, b.length - end), limit);
}

function sharedStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a.charCodeAt(length) === b.charCodeAt(length)) length += 1;
  return length;
}

function sharedEnd(a: string, b: string, start: number): number {
  const most = Math.min(a.length, b.length) - start;
  let length = 0;
  while (length < most && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}

function bandedDistance(a: string, b: string, limit: number): number {
  const over = limit + 1;
  let row = Array.from({ length: b.length + 1 }, (_, column) => Math.min(column, over));
  for (let i = 1; i <= a.length; i += 1) {
    const next = new Array<number>(b.length + 1).fill(over);
    next[0] = Math.min(i, over);
    let least = next[0];
    for (let j = Math.max(1, i - limit); j <= Math.min(b.length, i + limit); j += 1) {
      const replaced = (row[j - 1] ?? over) + (a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1);
      const changed = Math.min(row[j] ?? over, next[j - 1] ?? over) + 1;
      const cell = Math.min(replaced, changed, over);
      next[j] = cell;
      least = Math.min(least, cell);
    }
    if (least > limit) return over;
    row = next;
  }
  return row[b.length] ?? over;
}
