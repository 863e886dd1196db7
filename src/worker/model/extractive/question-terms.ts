import { asksForAccount, FRAME } from "./asks-for-account.ts";
import { stemWord } from "./stem-word.ts";
import { withoutFunctionWords } from "./stop-words.ts";
import { contentStems, wordsOf } from "./words.ts";

/** A name, a number or an abbreviation in the question is what it is about. */
export const NAME_WEIGHT = 2;
/** What is asked for is often left out of an answer, and never its subject: "cost" in "What does a bell cost?" */
const ASKED_FOR = new Set(
  contentStems(
    "cost price pay number count time day date week month year hour minute amount limit rate place way kind",
  ),
);
const ASKED_FOR_WEIGHT = 0.5;

/** More words than these are no question any more, but a text. */
const MOST_TERMS = 64;

/**
 * Stems of the question with their weight. "Colour" in "Which colour is the door?" is asked for, and so is the
 * first "day" in "Which day is pay day?"
 */
export function questionTerms(question: string): Map<string, number> {
  const terms = asksForAccount(question) ? accountTerms(question) : factTerms(question);
  for (const name of question
    .slice(1)
    .match(/(?<=[^.!?\s] ["“'(]?)\p{Lu}[\p{L}\p{N}-]*|\p{N}+/gu) ?? []) {
    for (const stem of contentStems(name)) if (terms.has(stem)) terms.set(stem, NAME_WEIGHT);
  }
  return terms;
}

const subjectStems = (question: string): string[] =>
  withoutFunctionWords(wordsOf(question)).map(stemWord);

/** Words for doings and notions are how an asker puts it; what it is about has a plainer name. */
const ABSTRACT = /.{3}(?:ed|ing|ings|tions?|sions?|ments?|ness|ity|ities|[ae]nces?|ly|isms?)$/;
const ABSTRACT_WEIGHT = 0.6;

/** For an account, the frame of the question is left out, unless there is nothing else. */
function accountTerms(question: string): Map<string, number> {
  const all = withoutFunctionWords(wordsOf(question));
  const subject = all.filter((word) => !FRAME.has(stemWord(word)));
  const words = subject.length === 0 ? all : subject;
  return new Map(
    words
      .slice(0, MOST_TERMS)
      .map((word) => [stemWord(word), ABSTRACT.test(word) ? ABSTRACT_WEIGHT : 1]),
  );
}

function factTerms(question: string): Map<string, number> {
  const [, asked = ""] = /\b(?:which|what)\s+([\p{L}-]+)/iu.exec(question) ?? [];
  const askedFor = new Set([...ASKED_FOR, ...contentStems(asked)]);
  const terms = new Map<string, number>();
  for (const stem of subjectStems(question).slice(0, MOST_TERMS)) {
    terms.set(stem, askedFor.has(stem) && !terms.has(stem) ? ASKED_FOR_WEIGHT : 1);
  }
  return terms;
}

/** Pairs of words that stand side by side in the question: "pay day" is more than a pay and a day. */
export function questionPairs(
  question: string,
  terms: ReadonlyMap<string, number>,
): [string, string][] {
  const stems = subjectStems(question);
  return stems
    .flatMap((stem, index): [string, string][] => {
      const next = stems[index + 1];
      return next !== undefined && next !== stem && terms.has(stem) && terms.has(next)
        ? [[stem, next]]
        : [];
    })
    .slice(0, MOST_TERMS);
}
