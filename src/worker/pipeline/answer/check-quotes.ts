import type { QuoteRecord } from "../../../shared/run-result.ts";
import { firstEndingAfter } from "./answer-sentences.ts";
import { findQuotes } from "./find-quotes.ts";
import type { CitableBlock } from "../number-evidence.ts";
import { withoutSpans } from "./resolve-citations.ts";
import type { TextSpan } from "../text/split-spans.ts";
import { verifyQuotes } from "./verify-quotes.ts";

/**
 * The quotes of an answer, looked up. One that is not found whole and holds citations is looked up in the parts between
 * them: sentences of several places, each cited, whose quote marks happen to pair.
 *
 * @param prose the answer with code blanked
 * @param citations where it cites, in order
 * @param citedBetween numbers of the pieces that the sentences between two offsets cite
 */
export function checkQuotes(
  prose: string,
  citations: readonly TextSpan[],
  citedBetween: (start: number, end: number) => readonly number[],
  evidence: readonly CitableBlock[],
): QuoteRecord[] {
  const text = withoutSpans(prose, citations);
  const wholes = findQuotes(text);
  const lookUp = (spans: readonly TextSpan[]): QuoteRecord[] =>
    verifyQuotes(
      spans.map(({ start, end }) => ({
        quote: text.slice(start, end),
        cited: citedBetween(start, end + 1),
      })),
      evidence,
    );
  const records = lookUp(wholes);
  const parted = wholes.map((whole, at) =>
    isWhole(records[at]) ? [] : partsBetween(whole, citations, text),
  );
  const found = lookUp(parted.flat());
  let at = 0;
  return records.flatMap((record, index) => {
    const count = parted[index]?.length ?? 0;
    at += count;
    return count === 0 ? [record] : found.slice(at - count, at);
  });
}

const isWhole = (record: QuoteRecord | undefined): boolean =>
  record?.class !== "not_found" && record?.class !== "stitched";

/** What stands between the citations inside of a quote; nothing where it holds none. */
function partsBetween(
  { start, end }: TextSpan,
  citations: readonly TextSpan[],
  text: string,
): TextSpan[] {
  const inside: TextSpan[] = [];
  for (let at = firstEndingAfter(citations, start); at < citations.length; at += 1) {
    const citation = citations[at];
    if (citation === undefined || citation.end >= end) break;
    inside.push(citation);
  }
  const ends = [...inside.map((citation) => citation.start), end];
  const starts = [start, ...inside.map((citation) => citation.end)];
  const parts = starts
    .map((from, at) => ({ start: from, end: ends[at] ?? end }))
    .filter((part) => /[\p{L}\p{N}]/u.test(text.slice(part.start, part.end)));
  return parts.length > 1 ? parts : [];
}
