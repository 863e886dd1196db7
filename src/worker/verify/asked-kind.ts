import { expectedAnswer } from "../question/expected-answer.ts";

/** Texts that are looked at, and characters of each: no honest answer has more. */
const MOST_TEXTS = 200;
const MOST_CHARS = 2_000;

/** "Olga." answers who; so few words tell nothing of what they are. */
const FEW_WORDS = 4;

/**
 * The kind of thing that a question asks for and that no statement of its answer holds: "When does it open?", answered by
 * how much it costs. Null where one holds such a thing, or the question does not tell. The rule is the one that chooses
 * the sentences of an answer without a model. Linear in the statements.
 */
export function missingKind(question: string, statements: readonly string[]): string | null {
  const { kind, isIn } = expectedAnswer(question);
  if (kind === null || statements.length === 0) return null;
  const isHeld = statements
    .slice(0, MOST_TEXTS)
    .some((text) => isShort(text) || isIn(text.slice(0, MOST_CHARS)));
  return isHeld ? null : kind;
}

const isShort = (text: string): boolean =>
  text.length < MOST_CHARS && (text.match(/\S+/g)?.length ?? 0) <= FEW_WORDS;
