import type { Citation, QuoteRecord } from "../../../shared/run-result.ts";

/** Where the quotes of fields stand, each place once, in the order of the fields. */
export function citeQuotes(quotes: readonly QuoteRecord[]): Citation[] {
  const cited = new Map<string, Citation>();
  for (const { quote, span } of quotes) {
    if (span === null) continue;
    const { path, lineStart, lineEnd, startChar, endChar } = span;
    const key = `${String(startChar)}-${String(endChar)}`;
    if (cited.has(key)) continue;
    cited.set(key, { path, heading: null, chunkKey: null, lineStart, lineEnd, quote });
  }
  return [...cited.values()];
}
