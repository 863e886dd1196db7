import type { Candidate } from "./candidates.ts";
import type { Question } from "./read-question.ts";

/** A sentence of two or three words seldom says anything. */
const SLIGHT_STEMS = 3;
const SLIGHT_FACTOR = 0.6;
/** A table row is mostly words to find it by, and would win over the sentence that says the same. */
const LINE_FACTOR = 0.75;
/** A question in the text is no answer, and neither is the asker's own words. */
const ASKING_FACTOR = 0.5;
const ECHO_FACTOR = 0.3;

/** How well a sentence answers by what kind of sentence it is, beside the words that it shares: a factor. */
export function answerForm(
  { text, kind, shownStems }: Candidate,
  { terms, expected, kind: asked }: Question,
): number {
  const isSlight = kind === "sentence" && shownStems.length <= SLIGHT_STEMS;
  const isEcho = asked === "fact" && shownStems.every((stem) => terms.has(stem));
  return (
    expected.fit(text) *
    (isSlight ? SLIGHT_FACTOR : 1) *
    (isEcho ? ECHO_FACTOR : 1) *
    (kind === "sentence" ? 1 : LINE_FACTOR) *
    (text.endsWith("?") ? ASKING_FACTOR : 1)
  );
}
