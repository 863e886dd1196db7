/** Control characters but tab and line feed, marks that turn the direction of text, and blanks of no width. */
const INVISIBLE =
  /[\0-\x08\x0E-\x1F\x7F-\x9F\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/g;
const LINE_BREAK = /\r\n|[\r\v\f\x85\u2028\u2029]/g;

/**
 * The text as a reader sees it: every kind of line break is a line feed, and what shows nothing is gone, so that no
 * mark of the protocol hides behind it. Joiners stay, since scripts and emoji need them.
 */
export const visibleText = (text: string): string =>
  text.replace(LINE_BREAK, "\n").replace(INVISIBLE, "");
