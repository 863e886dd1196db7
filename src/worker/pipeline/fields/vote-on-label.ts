import type { Fields } from "./fields.ts";

/** What a part of a document was classified as, and how long it is. */
export type PartVote = { readonly fields: Fields; readonly chars: number };

const PRIORITIES = ["high", "normal", "low"] as const;

/**
 * The class of a document from those of its parts: the label that most of its characters have, of equal ones that which
 * comes first. Reason and quote are those of the longest part with that label, the priority is the most urgent of them.
 */
export function voteOnLabel(parts: readonly PartVote[]): Fields {
  const chars = new Map<unknown, number>();
  for (const { fields, chars: length } of parts) {
    chars.set(fields["label"], (chars.get(fields["label"]) ?? 0) + length);
  }
  const [[label] = [undefined]] = [...chars].sort(([, one], [, other]) => other - one);
  const voters = parts.filter(({ fields }) => fields["label"] === label);
  const [longest] = voters.toSorted((one, other) => other.chars - one.chars);
  const priority = PRIORITIES.find((level) =>
    voters.some(({ fields }) => fields["priority"] === level),
  );
  return { ...longest?.fields, priority };
}
