/** Share of the shorter one's words that the other has too; 1 where it has none. */
export function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const [short, long] = one.size <= other.size ? [one, other] : [other, one];
  if (short.size === 0) return 1;
  let shared = 0;
  for (const word of short) if (long.has(word)) shared += 1;
  return shared / short.size;
}
