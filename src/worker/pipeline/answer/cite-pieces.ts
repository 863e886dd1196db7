import type { Citation } from "../../../shared/run-result.ts";
import type { PassedAnswer } from "../check-answer.ts";
import { cleanText } from "../text/clean-text.ts";
import { firstCodePoints } from "../text/code-points.ts";
import type { FoundCitation } from "./resolve-citations.ts";

const MOST_SPELLED_CHARS = 300;

/** What the citations of an answer stand for, each once, in the order in which they are cited. */
export function storeCitations({ citations, checks }: PassedAnswer): Citation[] {
  const quotes = new Map(
    checks.quotes
      .toReversed()
      .flatMap(({ quote, span }) => (span === null ? [] : [[span.number, quote] as const])),
  );
  const stored = new Map<string, Citation>();
  for (const found of citations) {
    const citation = store(found);
    const key = JSON.stringify(citation);
    if (stored.has(key)) continue;
    const quote = citation.number === undefined ? undefined : quotes.get(citation.number);
    stored.set(key, quote === undefined ? citation : { ...citation, quote });
  }
  return [...stored.values()];
}

function store(found: FoundCitation): Citation {
  if (found.kind !== "resolved") {
    const path = cleanText(firstCodePoints(found.spelled, MOST_SPELLED_CHARS));
    return { path, heading: null, chunkKey: null, lineStart: 0, lineEnd: 0, resolved: false };
  }
  const { block, headingPath: heading, lineStart, lineEnd } = found.part;
  const { number, path, chunkKey } = block;
  return { number, path, heading, chunkKey, lineStart, lineEnd };
}
