import { z } from "zod";
import { wordLines, readNames } from "../../shared/text/word-lists.ts";

/**
 * The ends of the sentences of a paragraph: offsets in UTF-16 units, ascending; the last one is the length. Closing quotes,
 * brackets and citations behind a stop belong to the sentence before it.
 *
 * A stop is any mark that Unicode calls a sentence terminal. A full stop ends no sentence behind an ordinal ("3. Mai"), an
 * abbreviation or an initial, by the lists for English, German, French, Spanish, Italian, Dutch and Portuguese. All lists
 * apply together, because notes mix languages. Linear: each stop tests a window around it.
 *
 * @param paragraph one paragraph; line breaks in it count as blanks
 */
export function sentenceEnds(paragraph: string): number[] {
  const ends: number[] = [];
  let from = 0;
  for (const match of paragraph.matchAll(STOP)) {
    const end = match.index + withoutLabel(match[0], paragraph.slice(from, from + WINDOW)).length;
    if (end >= paragraph.length) break;
    if (!endsSentence({ paragraph, from, stop: match.index, end })) continue;
    ends.push(end);
    from = end;
  }
  return [...ends, paragraph.length];
}

/** "(1) Knock. (2) Enter.": if a sentence begins with a number in parentheses, the next such number is no citation of it. */
const withoutLabel = (stop: string, beginning: string): string =>
  /^\s*[(（]\d/.test(beginning) ? stop.replace(/[ \t]{0,2}[(（][\d\s,;–-]{1,80}[)）]$/, "") : stop;

/**
 * Cuts a stretch into parts of at most `maxChars` UTF-16 units: behind the last semicolon that fits, else a comma, else at a
 * blank, and never within a character.
 */
export function cutToFit(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  maxChars: number,
): { start: number; end: number }[] {
  const parts: { start: number; end: number }[] = [];
  let from = start;
  while (end - from > maxChars) {
    const to = from + cutWithin(text.slice(from, from + maxChars + 1));
    parts.push({ start: from, end: to });
    from = text.charAt(to) === " " ? to + 1 : to;
  }
  return [...parts, { start: from, end }];
}

/** Where to cut a slice that is one unit longer than a part may be. */
function cutWithin(slice: string): number {
  for (const mark of ["; ", ", "]) {
    const at = slice.lastIndexOf(mark);
    if (at > slice.length / 2) return at + 1;
  }
  const blank = slice.lastIndexOf(" ");
  if (blank > 0) return blank;
  const last = slice.length - 1;
  return /[\uDC00-\uDFFF]/.test(slice.charAt(last)) ? last - 1 : last;
}

type Candidate = {
  readonly paragraph: string;
  /** Where the sentence begins that would end here. */
  readonly from: number;
  /** Offset of the first mark of the stop, and the end of everything that belongs to the stop. */
  readonly stop: number;
  readonly end: number;
};

const CLOSERS = String.raw`["'”“’‘»›)\]*_~」』）]{0,4}(?:[ \u00A0\u202F][»›])?`;
const CITATIONS = String.raw`(?:[ \t]{0,2}(?:[[【][^[\]【】]{1,4000}[\]】]|[(（][\d\s,;–-]{1,80}[)）]|[①-⑳❶-❿]))*`;
const FULL_WIDTH = "。！？｡";
// A run of marks is tried from its first one only: else a million stops before a letter take quadratic time.
const STOP = new RegExp(
  String.raw`(?:[${FULL_WIDTH}]+["'”’»)\]*_~」』）]{0,4}${CITATIONS}|(?<![\p{Sentence_Terminal}…])[\p{Sentence_Terminal}…]+${CLOSERS}${CITATIONS}(?=\s|$))`,
  "gu",
);

/** The longest abbreviation with blanks, such as "s. a. de c. v.", and a word before it. */
const WINDOW = 40;
/** Text between a stop and the first letter of the next sentence: the mark of an item on a new line, quotes, emphasis. */
const BEFORE_FIRST = String.raw`^(?:\s*\n\s*[-–—•*+]\s+|\s+)(?:["'“‘»([¿¡*_~–—-]|[«„“][ \u00A0\u202F]?){0,5}`;
const OPENS = new RegExp(
  String.raw`${BEFORE_FIRST}(?:(?!\p{Ll})[\p{L}\p{N}\p{Sc}\p{Extended_Pictographic}§#@]|\p{Ll}\)\s)`,
  "u",
);
/** With the stop behind it where it has one: "L." is no "L'". */
const FIRST_WORD = new RegExp(String.raw`${BEFORE_FIRST}([\p{L}\p{M}\p{N}'’]+\.?)`, "u");
const CLOSING_QUOTE = /["'”“’‘»›」』]/u;

function endsSentence({ paragraph, from, stop, end }: Candidate): boolean {
  const after = paragraph.slice(end, end + WINDOW);
  const isQuoted = CLOSING_QUOTE.test(paragraph.slice(stop, end));
  // 「はい。」と言った, “进来吧。”她说: who said it follows without a blank.
  if (FULL_WIDTH.includes(paragraph.charAt(stop))) return !(isQuoted && /^\p{L}/u.test(after));
  if (!OPENS.test(after)) return false;
  const isSingleStop = paragraph.charAt(stop) === "." && !/^[.!?…]/.test(paragraph.slice(stop + 1));
  if (!isSingleStop || isQuoted) return true;
  const before = paragraph.slice(Math.max(from, stop - WINDOW), stop);
  return !isAbbreviated({ before, next: FIRST_WORD.exec(after)?.[1] ?? "" });
}

/** Both sides of a full stop: the end of the sentence so far, and the first word after the stop. */
type Sides = { readonly before: string; readonly next: string };

function isAbbreviated(sides: Sides): boolean {
  const { before, next } = sides;
  if (OF_SEVERAL_WORDS.test(before)) return true;
  const joined = /[^\s"“„«([*_]*$/u.exec(before)?.[0] ?? "";
  // "l'art." is "art.", and "Jonas's." no "s.".
  const word = /['‘’]([^'‘’]{2,})$/u.exec(joined)?.[1] ?? joined;
  const lower = word.toLowerCase();
  if (/^\p{N}{1,3}$/u.test(word)) return isOrdinal(word, sides);
  if (lists().never_last.has(lower)) return true;
  const isNumbered = lists().before_numbers.has(lower) || /str$/u.test(lower) || DAYS.test(word);
  if (isNumbered && /^(?:\p{N}|[IVXLC]+\.?$)/u.test(next)) return true;
  if (lists().last_before_capitals.has(lower))
    return /^\p{N}/u.test(next) || NAMES_OF_TIME.test(next);
  const isShort =
    lists().often_short.has(lower) || isInitial(word, before) || IN_LETTERS.test(word);
  return isShort && !opensSentence(next);
}

/** "U.S", "J.-P", "e.g": letters with stops between them. */
const IN_LETTERS = /^\p{L}(?:\.-?\p{L}){1,5}$/u;

/** One letter, or a number in Roman letters; "I" after a small word is the pronoun. */
function isInitial(word: string, before: string): boolean {
  if (word === "I") return !/\p{Ll}[,;]?\s+I$/u.test(before);
  return /^(?:\p{L}|[IVXLC]{2,6})$/u.test(word);
}

/**
 * "3. Mai", "im 19. Jahrhundert", "the list number `1.` before its item". Everywhere else a number ends its sentence as any
 * word does.
 */
function isOrdinal(number: string, { before, next }: Sides): boolean {
  const left = before.slice(0, before.length - number.length);
  if (/^["'“‘„«([*_\s]*$/u.test(left)) return true;
  if (number.length > 2) return false;
  const word = next.replace(/\.$/, "");
  if (MONTHS.test(word) || ORDERED.test(word) || /^\p{N}{1,2}\.$/u.test(next)) return true;
  return BEFORE_ORDINALS.test(left) && /^\p{Lu}/u.test(next) && !opensSentence(next);
}

/** "L'eau" and "Die" open sentences, the initial "L." does not. */
const opensSentence = (word: string): boolean =>
  !/^\p{L}\.$/u.test(word) && lists().openers.has(word.replace(/['’].*$|\.$/u, "").toLowerCase());

const words = wordLines.transform((all): ReadonlySet<string> => new Set(all));
const lists = readNames(
  "abbreviations.json",
  z.strictObject({
    /** Behind these, what follows belongs to them. */
    never_last: words,
    /** Behind these, a number belongs to them; anything else begins a sentence. */
    before_numbers: words,
    /** Behind these a sentence ends where a capital follows that names no day, month or time zone. */
    last_before_capitals: words,
    /** Behind these a sentence ends only where a word follows that opens sentences. */
    often_short: words,
    /** Words that open sentences far more often than they stand behind an abbreviation; without an elided part. */
    openers: words,
  }),
);

const DAYS =
  /^(?:Mo|Di|Mi|Do|Fr|Sa|So|Lun|Mar|Mer|Jeu|Ven|Sam|Dim|Mié|Jue|Vie|Sáb|Dom|Mon|Tues?|Wed|Thur?s?|Fri|Sat|Sun)$/u;

/** Abbreviations of several words; a sentence rarely ends with one of them. */
const OF_SEVERAL_WORDS =
  /(?:^|[\s("„“«])(?:z\. ?[bBT]|d\. ?h|u\. ?[aAUuÄä]|i\. ?d\. ?R|i\. ?A|i\. ?V|o\. ?[gÄä]|s\. ?[oua]|v\. ?a|m\. ?E|e\. ?[gG]|i\. ?e|p\. ?ej|p\. ?ex|c\. ?-? ?à\. ?-? ?d|q\. ?e\. ?d|a\. ?k\. ?a|[nv]\. ?Chr|[ad]\. ?C|av\. ?J\.-C|ap\. ?J\.-C|et al)$/u;

const NAMES_OF_TIME =
  /^(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|EST|EDT|CST|CDT|MST|MDT|PST|PDT|GMT|UTC|CE?S?T|BST|MEZ|MESZ)/iu;
const MONTHS =
  /^(?:jan|feb|febr|mär|mrz|märz|apr|mai|jun|jul|aug|sep|sept|okt|nov|dez|jän|jänner|januar|februar|april|juni|juli|august|september|oktober|november|dezember)$/iu;
/** What German counts by ordinals. */
const ORDERED =
  /^(?:Jahrhunderts?|Jahrtausends?|Auflage|Ausgabe|Weltkriegs?|Kapitels?|Klassen?|Stock|Stocks|Etage|Obergeschoss|Untergeschoss|Platz|Rang|Geburtstags?|Jahrestags?|Quartals?|Semesters?|Halbjahrs?|Stufe|Runde|Mal|Liga|Sitzung|Tagung|Juli|Lebensjahrs?|Spieltags?|Bundesliga|Version|Fassung|Änderung|Nachtrags?|Abschnitts?|Absatz|Teils?|Bands?|Advent|Woche|Monats?|Tags?|Jahrs?|Schritts?|Punkts?|Reihe|Zeile|Spalte|Seite|Mannschaft|FC)$/u;
const BEFORE_ORDINALS =
  /(?:^|[\s(–/-])(?:der|die|das|dem|den|des|am|im|vom|zum|zur|beim|bis|ab|seit|ein|eine|einem|einen|einer|eines|jede[mnrs]?|diese[mnrs]?|seine[mnrs]?|ihre[mnrs]?|unsere[mnrs]?|und|oder)\s+$/iu;
