import type { Citation } from "../../../shared/run-result.ts";
import type { PassedAnswer } from "../check-answer.ts";
import { cleanText } from "../text/clean-text.ts";
import { firstCodePoints } from "../text/code-points.ts";
import type { FoundCitation } from "./resolve-citations.ts";

const MOST_SPELLED_CHARS = 300;
/** Of citations that stand for nothing that was read; those that do are as many as the pieces. */
const MOST_UNRESOLVED = 200;

/**
 * What the citations of an answer stand for, each once, in the order in which they are cited. Beyond 200 that stand for
 * nothing, further ones are left out.
 */
export function storeCitations({ citations, checks }: PassedAnswer): Citation[] {
  const quotes = new Map(
    checks.quotes
      .toReversed()
      .flatMap(({ quote, span }) => (span === null ? [] : [[span.number, quote] as const])),
  );
  const stored = new Map<string, Citation>();
  let unresolved = 0;
  for (const found of citations) {
    if (found.kind !== "resolved" && unresolved >= MOST_UNRESOLVED) continue;
    const citation = store(found);
    const key = JSON.stringify(citation);
    if (stored.has(key)) continue;
    if (found.kind !== "resolved") unresolved += 1;
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
