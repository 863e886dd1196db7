/** No more in one match: a match of millions would exhaust the stack of the matcher. */
const MARKS = /(?<=\p{M}{30})\p{M}{1,10000}/gu;

/**
 * A text in one form of Unicode, in linear time: of more than 30 combining marks in a row the rest is left out, since
 * sorting them takes quadratic time (UAX #15, stream-safe text).
 */
export const normaliseText = (text: string, form: "NFC" | "NFKC" | "NFKD" = "NFKC"): string =>
  isAscii(text) ? text : text.replace(MARKS, "").normalize(form);

/** `Straße` and `strasse` are one word to a search. */
export const foldSharpS = (text: string): string =>
  text.replaceAll("ß", "ss").replaceAll("ẞ", "SS");

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** In lower case, without accents. */
export const foldWord = (word: string): string =>
  isAscii(word)
    ? word.toLowerCase()
    : normaliseText(word, "NFKD")
        .replace(/\p{Mn}/gu, "")
        .toLowerCase()
        .replaceAll("ß", "ss");
