/** The score interval of a share at 95 %: E. B. Wilson, "Probable inference", 1927. */
export function wilson(hits: number, of: number): { readonly low: number; readonly high: number } {
  const z = 1.959964;
  const share = hits / of;
  const middle = (share + (z * z) / (2 * of)) / (1 + (z * z) / of);
  const half =
    ((z / (1 + (z * z) / of)) * Math.sqrt(share * (1 - share) + (z * z) / (4 * of))) /
    Math.sqrt(of);
  return { low: middle - half, high: middle + half };
}
