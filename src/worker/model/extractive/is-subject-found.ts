import type { Candidate } from "./candidates.ts";
import { NAME_WEIGHT } from "./question-terms.ts";
import type { Question } from "./read-question.ts";

/** Shares of the question's words and of its names, by weight, that must occur at all. */
const LEAST_FOUND = { fact: 0.5, account: 0.5 } as const;
const LEAST_NAMES_FOUND = { fact: 0.5, account: 0 } as const;

/** Whether the words that matter in a question occur in the evidence, wherever. */
export function isSubjectFound(
  { kind, terms }: Question,
  candidates: readonly Candidate[],
): boolean {
  const found = foundIn(candidates);
  const names = new Map([...terms].filter(([, weight]) => weight === NAME_WEIGHT));
  return (
    weightOf(terms, found) >= LEAST_FOUND[kind] * weightOf(terms) &&
    weightOf(names, found) >= LEAST_NAMES_FOUND[kind] * weightOf(names)
  );
}

/** Share of the names and numbers in a question for a fact that the piece of evidence must hold that answers it. */
const LEAST_NAMES_IN_PIECE = 0.5;

/** Numbers of the pieces of evidence that hold enough of the names in a question; for an account all of them. */
export function piecesOnSubject(
  { kind, terms }: Question,
  candidates: readonly Candidate[],
): ReadonlySet<number> {
  const names = new Map([...terms].filter(([, weight]) => weight === NAME_WEIGHT));
  const pieces = byNumber(candidates);
  const isOnSubject = (piece: readonly Candidate[]): boolean =>
    kind === "account" || weightOf(names, foundIn(piece)) >= LEAST_NAMES_IN_PIECE * weightOf(names);
  return new Set([...pieces].flatMap(([number, piece]) => (isOnSubject(piece) ? [number] : [])));
}

function foundIn(candidates: readonly Candidate[]): ReadonlySet<string> {
  const found = new Set<string>();
  const around = new Set<Iterable<string>>();
  for (const { stems, contextStems, speakerStems } of candidates) {
    for (const stem of stems) found.add(stem);
    around.add(contextStems).add(speakerStems);
  }
  for (const stems of around) for (const stem of stems) found.add(stem);
  return found;
}

function weightOf(terms: ReadonlyMap<string, number>, found?: ReadonlySet<string>): number {
  let total = 0;
  for (const [stem, weight] of terms) if (found?.has(stem) !== false) total += weight;
  return total;
}

function byNumber(candidates: readonly Candidate[]): Map<number, Candidate[]> {
  const pieces = new Map<number, Candidate[]>();
  for (const candidate of candidates) {
    const piece = pieces.get(candidate.number);
    if (piece === undefined) pieces.set(candidate.number, [candidate]);
    else piece.push(candidate);
  }
  return pieces;
}
