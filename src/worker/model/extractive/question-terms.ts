import { contentStems } from "./words.ts";

/** A name, a number or an abbreviation in the question is what it is about. */
export const NAME_WEIGHT = 2;
/** What is asked for is often left out of an answer, and never its subject: "cost" in "What does a bell cost?" */
const ASKED_FOR = new Set(
  contentStems(
    "cost price pay number count time day date year hour minute amount limit rate place way kind",
  ),
);
const ASKED_FOR_WEIGHT = 0.5;

/**
 * Stems of the question with their weight. "Colour" in "Which colour is the door?" is asked for, and so is the
 * first "day" in "Which day is pay day?"
 */
export function questionTerms(question: string): Map<string, number> {
  const [, asked = ""] = /\b(?:which|what)\s+([\p{L}-]+)/iu.exec(question) ?? [];
  const askedFor = new Set([...ASKED_FOR, ...contentStems(asked)]);
  const terms = new Map<string, number>();
  for (const stem of contentStems(question)) {
    terms.set(stem, askedFor.has(stem) && !terms.has(stem) ? ASKED_FOR_WEIGHT : 1);
  }
  for (const name of question
    .slice(1)
    .match(/(?<=[^.!?\s] ["“'(]?)\p{Lu}[\p{L}\p{N}-]*|\p{N}+/gu) ?? []) {
    for (const stem of contentStems(name)) if (terms.has(stem)) terms.set(stem, NAME_WEIGHT);
  }
  return terms;
}
