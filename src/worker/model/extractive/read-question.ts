import { asksForAccount } from "./asks-for-account.ts";
import { ANYTHING, expectedAnswer, type ExpectedAnswer } from "./expected-answer.ts";
import { questionPairs, questionTerms } from "./question-terms.ts";

/** What a question is about, and what would answer it. */
export type Question = {
  readonly kind: "fact" | "account";
  /** Stems of its words and the weight of each. */
  readonly terms: ReadonlyMap<string, number>;
  /** Words that stand side by side in it; for a fact only. */
  readonly pairs: readonly (readonly [string, string])[];
  readonly expected: ExpectedAnswer;
};

export function readQuestion(text: string): Question {
  const terms = questionTerms(text);
  return asksForAccount(text)
    ? { kind: "account", terms, pairs: [], expected: ANYTHING }
    : { kind: "fact", terms, pairs: questionPairs(text, terms), expected: expectedAnswer(text) };
}
