import type { TextSpan } from "../spans.ts";
import { measureAt } from "./measures.ts";

/** A code, an identifier, an address or the name of a file, which matches only as a whole. */
export type Code = TextSpan & { readonly text: string };

const CANDIDATE =
  /`[^`\n]{1,120}`|(?<![\p{Script=Latin}\p{N}_@])[\p{Script=Latin}\p{N}_]{1,80}(?:[._\-/:@#+]{1,3}[\p{Script=Latin}\p{N}_]{1,80}){0,12}/gu;
const FILE = /^[\p{L}\p{N}_-]{2,}(?:[./][\p{L}\p{N}_-]{2,})*\.[a-z]{2,4}$/u;
const URL_OR_MAIL = /@|:\/\//;
/** "15-minute", "4-Zimmer-Wohnung", "3rd", "1980s", "1h20", "10x". */
const NUMBER_AND_WORD =
  /^\d+(?:[.,]\d+)*(?:-?\p{L}{3,}(?:-\p{L}+)*|st|nd|rd|th|er|e|re|s|x|h|h\d\d|-fach)$/u;
const WORD_AND_YEAR = /^\p{Ll}+-(?:1[5-9]|20)\d\d$/u;
/** "ups-b" */
const WORD_AND_LETTER = /^\p{Ll}{2,}-[a-z]$/u;
/** A number with a unit, which is no code: "9am", "5.5t", "24kW". */
const NUMBER_AND_UNIT = /^\d+(?:[.,]\d+)*-?(?<unit>\p{L}.*)$/u;

/** The codes of a text in order. Linear. */
export const findCodes = (text: string): Code[] =>
  [...text.matchAll(CANDIDATE)].flatMap(({ 0: spelled, index }): Code[] => {
    const bare = spelled.replaceAll("`", "").trim();
    if (bare === "" || (!spelled.startsWith("`") && !isCode(bare))) return [];
    return [{ text: bare.toLowerCase(), start: index, end: index + spelled.length }];
  });

/** A plain word, as most are. */
const PLAIN = /^[a-z]+$/i;

function isCode(text: string): boolean {
  if (PLAIN.test(text)) return false;
  if (URL_OR_MAIL.test(text)) return true;
  const hasLetter = /\p{L}/u.test(text);
  const hasDigit = /\d/.test(text);
  if (hasLetter && text.includes("_")) return /[^_]_[^_]/.test(text);
  if (hasLetter && !hasDigit) return FILE.test(text) || WORD_AND_LETTER.test(text);
  if (!hasDigit) return false;
  if (!hasLetter)
    return (
      (/^\d+(?:\.\d+){2,}$/.test(text) && !/^\d{1,3}(?:\.\d{3})+$/.test(text)) ||
      /^\d+(?:-\d+)*-0\d*(?:-\d+)*$/.test(text)
    );
  if (NUMBER_AND_WORD.test(text) || WORD_AND_YEAR.test(text)) return false;
  const unit = NUMBER_AND_UNIT.exec(text)?.groups?.["unit"];
  return unit === undefined || measureAt(unit) === null;
}
