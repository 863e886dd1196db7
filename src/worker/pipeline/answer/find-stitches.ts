import type { EvidenceSpan } from "../../../shared/run-result.ts";
import { ELLIPSIS } from "../text/fold-words.ts";
import { findSequence } from "../text/find-sequence.ts";
import type { IndexedEvidence, IndexedPiece } from "./index-evidence.ts";

/** Fewer words, or fewer characters, stand together by chance. */
const FEWEST_WORDS = 3;
const FEWEST_CHARS = 8;

type Stretch = { readonly piece: IndexedPiece; readonly at: number };

/**
 * Finds quotes that are put together from several places of the evidence: parts with an ellipsis between them, or
 * stretches of at least three words and eight characters, which may overlap. Gives the place of the first part; null
 * where some word belongs to no such stretch. Linear in the quote, once the table of stretches is made.
 */
export function stitchFinder({
  pieces,
  idOf,
}: IndexedEvidence): (words: readonly string[]) => EvidenceSpan | null {
  let table: Map<string, Stretch> | null = null;
  return (words) => {
    table ??= stretchesOf(pieces);
    const known = table;
    const parts = partsOf(words).map((part) => spanOf(part, { pieces, idOf }, known));
    return parts.includes(null) ? null : (parts[0] ?? null);
  };
}

function stretchesOf(pieces: readonly IndexedPiece[]): Map<string, Stretch> {
  const table = new Map<string, Stretch>();
  for (const piece of pieces) {
    for (let at = 0; at + FEWEST_WORDS <= piece.ids.length; at += 1) {
      const key = keyOf(piece.words.slice(at, at + FEWEST_WORDS).map(({ text }) => text));
      if (key !== null && !table.has(key)) table.set(key, { piece, at });
    }
  }
  return table;
}

function keyOf(words: readonly string[]): string | null {
  const key = words.join(" ");
  return words.length < FEWEST_WORDS || key.length < FEWEST_CHARS + FEWEST_WORDS - 1 ? null : key;
}

function partsOf(words: readonly string[]): string[][] {
  const parts: string[][] = [[]];
  for (const word of words) {
    if (word === ELLIPSIS) parts.push([]);
    else parts.at(-1)?.push(word);
  }
  return parts.filter((part) => part.length > 0);
}

function spanOf(
  part: readonly string[],
  evidence: IndexedEvidence,
  table: ReadonlyMap<string, Stretch>,
): EvidenceSpan | null {
  if (part.length < FEWEST_WORDS) return wholeSpan(part, evidence);
  const stretches = part.map((_, at) => {
    const key = keyOf(part.slice(at, at + FEWEST_WORDS));
    return key === null ? undefined : table.get(key);
  });
  const isCovered = part.every((_, at) =>
    stretches.slice(Math.max(0, at - FEWEST_WORDS + 1), at + 1).some(Boolean),
  );
  const [first] = stretches;
  return isCovered && first !== undefined ? extend(part, first) : null;
}

function wholeSpan(
  part: readonly string[],
  { pieces, idOf }: IndexedEvidence,
): EvidenceSpan | null {
  const wanted = part.map(idOf);
  for (const piece of pieces) {
    const [at] = findSequence(wanted, piece.ids, 1);
    if (at !== undefined) return extend(part, { piece, at });
  }
  return null;
}

/** The place of as many words of the part as stand together there. */
function extend(part: readonly string[], { piece, at }: Stretch): EvidenceSpan {
  let count = 1;
  while (count < part.length && piece.words[at + count]?.text === part[count]) count += 1;
  return piece.placeOf(piece.words[at]?.start ?? 0, piece.words[at + count - 1]?.end ?? 0);
}
