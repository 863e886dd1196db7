const MARKS = /(\p{M}{30})\p{M}+/gu;

/**
 * NFKC in linear time: of more than 30 combining marks in a row the rest is left out, since sorting them takes
 * quadratic time (UAX #15, stream-safe text).
 */
export const normaliseText = (text: string): string =>
  isAscii(text) ? text : text.replace(MARKS, "$1").normalize("NFKC");

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
