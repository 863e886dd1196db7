/** A run of letters of a script that is written without blanks: Han, the two Japanese syllabaries, Hangul. */
const RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]{2,}/gu;

/** A text without the runs that are searched in pairs. */
export const withoutPairs = (text: string): string => text.replace(RUN, " ");

/**
 * Every two letters of a text that follow each other in such a script, as often as they do. The text search parser takes
 * a whole run for one word, so that no word inside of it would be found; two letters at a time are Lucene's answer too
 * (CJKBigramFilter).
 */
export const characterPairs = (text: string): string[] =>
  (text.match(RUN) ?? []).flatMap((run) => {
    const letters = Array.from(run);
    return letters.slice(1).map((letter, at) => `${letters[at] ?? ""}${letter}`);
  });
