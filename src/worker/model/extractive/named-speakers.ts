import type { Candidate } from "./candidates.ts";

/** Fewer paragraphs than these under one name are a list of labels, no conversation. */
const FEWEST_TURNS = 2;

/** Names of speakers, as `speakerStems` joined, of which every word stands in the question. */
export function namedSpeakers(
  candidates: readonly Candidate[],
  terms: ReadonlyMap<string, number>,
): ReadonlySet<string> {
  const turns = new Map<string, number>();
  let before: readonly string[] = [];
  for (const { speakerStems } of candidates) {
    if (speakerStems !== before && speakerStems.every((stem) => terms.has(stem))) {
      const name = nameOf(speakerStems);
      turns.set(name, (turns.get(name) ?? 0) + 1);
    }
    before = speakerStems;
  }
  const named = [...turns].filter(([name, count]) => name !== "" && count >= FEWEST_TURNS);
  return new Set(named.map(([name]) => name));
}

export const nameOf = (speakerStems: readonly string[]): string => speakerStems.join(" ");
