/** Bounded, because one match of millions would exhaust the matcher's stack. */
const MARKS = /(?<=\p{M}{30})\p{M}{1,10000}/gu;

/**
 * Normalises a text to one form of Unicode in linear time. It drops all but the first 30 combining marks in a row, because
 * sorting them takes quadratic time (UAX #15, stream-safe text).
 */
export const normaliseText = (text: string, form: "NFC" | "NFKC" | "NFKD" = "NFKC"): string =>
  isAscii(text) ? text : text.replace(MARKS, "").normalize(form);

/** Folds a text to lower case in one form of Unicode: a Mac writes "ü" in a name as two characters. */
export const foldCase = (text: string): string => normaliseText(text, "NFC").toLowerCase();

/** A search treats `Straße` and `strasse` as one word. */
export const foldSharpS = (text: string): string =>
  text.replaceAll("ß", "ss").replaceAll("ẞ", "SS");

/** A text as a part of a regular expression, in which each character means itself. */
export const escapePattern = (text: string): string =>
  text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

export const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

/** Folds a word: lower case, without accents. */
export const foldWord = (word: string): string =>
  isAscii(word)
    ? word.toLowerCase()
    : normaliseText(word, "NFKD")
        .replace(/\p{Mn}/gu, "")
        .toLowerCase()
        .replaceAll("ß", "ss");
