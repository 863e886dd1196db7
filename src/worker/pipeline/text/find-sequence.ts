/**
 * Where a sequence of numbers stands in another, in order, at most `limit` times, overlapping ones too. Knuth, Morris
 * and Pratt: linear, whatever repeats itself.
 */
export function findSequence(
  wanted: readonly number[],
  sequence: Int32Array,
  limit: number,
): number[] {
  const found: number[] = [];
  const fallback = fallbacks(wanted);
  let matched = 0;
  for (let at = 0; at < sequence.length && found.length < limit; at += 1) {
    matched = advance(wanted, fallback, matched, sequence[at] ?? -1);
    if (matched < wanted.length) continue;
    found.push(at - matched + 1);
    matched = fallback[matched - 1] ?? 0;
  }
  return wanted.length === 0 ? [] : found;
}

/** For each prefix, the length of the longest shorter prefix that it ends with. */
function fallbacks(wanted: readonly number[]): number[] {
  const fallback = [0];
  for (let at = 1; at < wanted.length; at += 1) {
    fallback.push(advance(wanted, fallback, fallback[at - 1] ?? 0, wanted[at] ?? -1));
  }
  return fallback;
}

function advance(
  wanted: readonly number[],
  fallback: readonly number[],
  matched: number,
  next: number,
): number {
  let length = matched;
  while (length > 0 && wanted[length] !== next) length = fallback[length - 1] ?? 0;
  return wanted[length] === next ? length + 1 : length;
}
