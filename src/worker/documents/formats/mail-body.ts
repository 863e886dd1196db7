/** Which of its two alternative parts a mail is read from: the plain text, the page, or both. */
export type ChosenPart = "text" | "page" | "both";

/** Share of own words; a part with more says something that the other one does not. */
const MOST_OWN = 0.25;
/** A plain text with fewer words and no figure of its own only says that the mail has a page. */
const FEWEST_WORDS = 25;

/** Compares the words of both parts, without links, which each part spells in its own way. */
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
