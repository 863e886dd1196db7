/**
 * Marks a figure that OCR did not read for sure. It stands behind the figure in the text of the document, so that readers,
 * models and rules see it. No keyboard has the character.
 */
export const DOUBT_MARK = "\u2E2E";

export const withoutDoubts = (text: string): string => text.replaceAll(DOUBT_MARK, "");

/** The text with the mark behind each word that has a digit. */
export const withDoubts = (text: string): string =>
  text.replaceAll(/[^\s|]+/g, (word) => (/\p{Nd}/u.test(word) ? word + DOUBT_MARK : word));

/** The first marked word of a passage whose figure a text states; undefined if the text states none of them. */
export function doubtIn(passage: string, text: string): string | undefined {
  if (!passage.includes(DOUBT_MARK)) return undefined;
  const stated = figuresOf(text);
  return [...passage.matchAll(MARKED)]
    .map(([word]) => word)
    .find((word) => [...figuresOf(word)].some((figure) => stated.has(figure)));
}

const MARKED = /[^\s|]{1,100}(?=\u2E2E)/gu;

/** For each word its groups of digits, and all its digits together without final zeros: "1,234.50" is also 12345. */
const figuresOf = (text: string): ReadonlySet<string> =>
  new Set(
    text.split(/\s+/).flatMap((word) => {
      const groups = word.match(/\d+/g) ?? [];
      return [...groups, groups.join("").replace(/(?<=\d)0+$/, "")].filter((one) => one !== "");
    }),
  );
