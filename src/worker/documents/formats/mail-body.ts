/** Which of two parts that are to say the same a mail is read by. */
export type ChosenPart = "text" | "page" | "both";

/** With more of its own, a part says something that the other one does not. */
const MOST_OWN = 0.25;
/** A text of fewer words that has no figure of its own is a notice that the mail has a page. */
const FEWEST_WORDS = 25;

/** @param text the plain text of a mail, and the words of its page: links are not compared, for each part writes them in its own way */
export function choosePart({ text, page }: { text: string; page: string }): ChosenPart {
  const [plain, shown] = [wordsOf(text), wordsOf(page)];
  if (shown.size === 0) return "text";
  if (plain.size === 0) return "page";
  const [ofText, ofPage] = [ownWords(plain, shown), ownWords(shown, plain)];
  const pageHasMore = ofPage.some(isFigure) || ofPage.length > shown.size * MOST_OWN;
  if (!pageHasMore) return "text";
  const isStub = plain.size < FEWEST_WORDS && !ofText.some(isFigure);
  return isStub || ofText.length <= plain.size * MOST_OWN ? "page" : "both";
}

const wordsOf = (text: string): Set<string> =>
  new Set(
    text
      .replaceAll(/(?:https?:\/\/|www\.|mailto:)\S+/gi, " ")
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+(?:[.,]\p{N}+)*/gu),
  );

const ownWords = (words: ReadonlySet<string>, others: ReadonlySet<string>): readonly string[] =>
  [...words].filter((word) => !others.has(word));

const isFigure = (word: string): boolean => /\p{N}/u.test(word);
