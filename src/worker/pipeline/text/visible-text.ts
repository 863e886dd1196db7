/**
 * Control characters but tab and line feed, marks that turn the direction of text, blanks of no width, fillers, and the
 * tag characters in which whole sentences can be hidden.
 */
const INVISIBLE =
  /[\0-\x08\x0E-\x1F\x7F-\x9F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/gu;
const LINE_BREAK = /\r\n|[\r\v\f\x85\u2028\u2029]/g;

/**
 * The text as a reader sees it: every kind of line break is a line feed, and what shows nothing is gone, so that no
 * mark of the protocol hides behind it. Joiners stay, since scripts and emoji need them.
 */
export const visibleText = (text: string): string =>
  text.replace(LINE_BREAK, "\n").replace(INVISIBLE, "");
