import { expectedAnswer } from "../question/expected-answer.ts";

/** Limits of statements, of which more count as fitting, and of characters that are read of each. */
const MOST_STATEMENTS = 200;
const MOST_CHARS = 2_000;

/** "Olga." answers "who": a text of so few words does not show its kind, and counts as fitting. */
const FEW_WORDS = 4;

/**
 * The kind of thing that a question asks for if no statement of the answer holds it: "When does it open?", answered by a price.
 * Null where a statement holds such a thing, or the question shows no kind. The same rule chooses the sentences of an answer
 * without a model. Linear in the statements.
 */
export function missingKind(question: string, statements: readonly string[]): string | null {
  const { kind, isIn } = expectedAnswer(question);
  if (kind === null || statements.length === 0) return null;
  const isHeld =
    statements.length > MOST_STATEMENTS ||
    statements.some((text) => isShort(text) || isIn(text.slice(0, MOST_CHARS)));
  return isHeld ? null : kind;
}

const isShort = (text: string): boolean =>
  text.length < MOST_CHARS && (text.match(/\S+/g)?.length ?? 0) <= FEW_WORDS;
