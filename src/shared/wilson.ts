const Z_95 = 1.959_964;

/**
 * The score interval of a share, from 0 to 1 (E. B. Wilson, "Probable inference", 1927); the whole range without samples.
 * @param z 1.96 for 95 per cent
 */
export function wilson(
  hits: number,
  of: number,
  z = Z_95,
): { readonly low: number; readonly high: number } {
  if (of === 0) return { low: 0, high: 1 };
  const share = hits / of;
  const square = z ** 2 / of;
  const centre = (share + square / 2) / (1 + square);
  const half = (z * Math.sqrt((share * (1 - share)) / of + square / (4 * of))) / (1 + square);
  return { low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}
