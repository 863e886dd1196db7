import { questionLanguage, stemWord, stopWords, wordsOf } from "../../text/content-words.ts";
import { detectLanguage } from "../../text/detect-language.ts";
import { findNumberWords } from "../../text/figures/number-words.ts";
import { findNumbers } from "../../text/figures/numbers.ts";
import type { Figure } from "../../text/figures/numbers.ts";
import { oppositesIn } from "../../text/opposites.ts";
import type { Candidate } from "./candidates.ts";

/** "Not" and its relatives in English, German, French and Spanish, folded like the words of `wordsOf`. */
const DENIALS = new Set(
  `not never cannot unable nt no nicht nie niemals kein keine keinen keinem keiner pas jamais nunca jamas`.split(
    " ",
  ),
);
/** Words and beginnings of words by which a sentence can deny without such a word. */
const DENYING = new Set(
  `without neither nor none nobody nothing fail fails failed failing lack lacks lacked lacking refuse refuses refused few hardly
   instead rather only except unlike little absence ohne weder noch niemand nichts fehlt sans ni aucun aucune rien personne sin
   tampoco ningun ninguna ninguno nada nadie excepto excepcion salvo carece carecen carecia carecian`
    .trim()
    .split(/\s+/),
);
const DENYING_BEGINNING = /^(?:un|non|dis|anti)\p{L}{3,}/u;
/** What is denied only up to a time, or only partly, did happen. */
const NOT_A_DENIAL = new Set(["only", "until", "till", "just", "nur", "bis", "solo", "hasta"]);
/** Ordinals behind the name of a ruler, and words for large numbers: another one means another thing. */
const EXACT =
  /(?<=[^.?!] \p{Lu}\p{Ll}{2,20} )[IVX]{1,5}(?![\p{L}\p{N}])|(?<!\p{L})(?:hundred|thousand|million|billion)(?!\p{L})/gu;

/** Tells whether a question says "not" and a sentence does not: then the sentence is no answer, whatever words it shares. */
export function lacksDenial(question: string): (text: string) => boolean {
  const isDenied = denies(question);
  return (text) => isDenied && !mayDeny(text);
}

/**
 * Tells whether a sentence can't answer a question although it shares its words: it denies a word of a question without
 * "not"; or the question has "II" behind a name, or "thousand", and the evidence from the sentence's file has not. For an
 * English question and an English text also: another century, the opposite of a word of the question, and a year or another
 * identifying number that the evidence from the file does not contain.
 *
 * @param terms stems of the question
 * @param evidence all candidates
 */
export function contradictionsOf(
  question: string,
  terms: ReadonlySet<string>,
  evidence: readonly Candidate[],
): (candidate: Candidate) => boolean {
  const isDenied = denies(question);
  const contradictsEnglish = isEnglishQuestion(question) ? sentenceContradictions(question) : null;
  const numbers = contradictsEnglish === null ? [] : identifyingNumbers(question);
  const exact = question.match(EXACT) ?? [];
  const files = [...textByFile(evidence)];
  const isEnglish = (text: string): boolean =>
    contradictsEnglish !== null && detectLanguage(text) === "english";
  const english = new Set(files.flatMap(([path, text]) => (isEnglish(text) ? [path] : [])));
  const others = new Set(
    files.flatMap(([path, text]) => {
      const isOther =
        exact.some((figure) => !holdsExactly(text, figure)) ||
        (english.has(path) && !holdsNumbers(text, numbers));
      return isOther ? [path] : [];
    }),
  );
  return ({ path, text }) =>
    others.has(path) ||
    (!isDenied && deniesTerm(text, terms)) ||
    (english.has(path) && contradictsEnglish?.(text) === true);
}

/** The text that the evidence shows of each file: its paragraphs, and stems of the headings above them. */
function textByFile(evidence: readonly Candidate[]): ReadonlyMap<string, string> {
  const parts = new Map<string, Set<string | ReadonlySet<string>>>();
  for (const { path, block, contextStems } of evidence) {
    const held = parts.get(path) ?? new Set();
    parts.set(path, held.add(block).add(contextStems));
  }
  const written = (part: string | ReadonlySet<string>): string =>
    typeof part === "string" ? part : [...part].join(" ");
  return new Map([...parts].map(([path, held]) => [path, [...held].map(written).join("\n")]));
}

/** The words of a text; "isn't" becomes "is not", and the "no" of "No. 5" is removed. */
const wordsForDenial = (text: string): string[] =>
  wordsOf(text.replace(/n['’]t(?!\p{L})/gu, " not").replace(/(?<!\p{L})no\.? ?(?=\p{N})/giu, ""));

const denies = (text: string): boolean => wordsForDenial(text).some((word) => DENIALS.has(word));

const mayDeny = (text: string): boolean =>
  wordsForDenial(text).some(
    (word) => DENIALS.has(word) || DENYING.has(word) || DENYING_BEGINNING.test(word),
  );

/**
 * The word behind "not" is denied: in "does not kill it" the killing. A word that the sentence also has without "not" is only
 * distinguished, and not denied: "those that are cut" beside "those that are not cut".
 */
function deniesTerm(text: string, terms: ReadonlySet<string>): boolean {
  const words = wordsForDenial(text);
  if (words.some((word) => NOT_A_DENIAL.has(word))) return false;
  const stems = words.map(stemWord);
  const isSaid = (term: string): boolean =>
    stems.some((stem, at) => stem === term && words[at - 1] !== "not");
  return stems.some((term, at) => words[at - 1] === "not" && terms.has(term) && !isSaid(term));
}

const holdsExactly = (piece: string, figure: string): boolean =>
  new RegExp(`(?<![\\p{L}\\p{N}])${figure}(?![\\p{L}\\p{N}])`, "u").test(piece);

/** A question in Latin letters with at least as many function words of English as of any other language. */
const isEnglishQuestion = (question: string): boolean =>
  questionLanguage(question) === "english" && !/(?!\p{Script=Latin})\p{L}/u.test(question);

function sentenceContradictions(question: string): (text: string) => boolean {
  const asked = centuriesIn(question);
  const words = new Set(wordsForDenial(question.replace(MEASURE, "")));
  return (text) =>
    isOtherCentury(asked, centuriesIn(text)) || holdsOpposite(words, new Set(wordsForDenial(text)));
}

/** "19th and early 20th century": the ordinals stand shortly before the word. */
const CENTURY = /[ -]centur(?:y|ies)(?!\p{L})/giu;
const MOST_CHARS_BEFORE = 32;
const ORDINAL = /(?<![\p{L}\p{N}])\d{1,2}(?=(?:st|nd|rd|th)(?!\p{L}))/gu;

function centuriesIn(text: string): ReadonlySet<string> {
  const before = [...text.matchAll(CENTURY)].map(({ index }) =>
    text.slice(Math.max(0, index - MOST_CHARS_BEFORE), index),
  );
  return new Set(
    before.flatMap((words) => [
      ...(words.match(ORDINAL) ?? []).map((digits) => `n:${digits}`),
      ...findNumberWords(words).flatMap(({ offers }) => offers),
    ]),
  );
}

const isOtherCentury = (asked: ReadonlySet<string>, said: ReadonlySet<string>): boolean =>
  asked.size > 0 && said.size > 0 && ![...asked].some((century) => said.has(century));

/** "How long", "how many": such a word has no opposite here. */
const MEASURE = /(?<!\p{L})how \p{L}+/giu;

/** Whether the sentence lacks a word of the question, but has its opposite, which the question does not have. */
function holdsOpposite(asked: ReadonlySet<string>, said: ReadonlySet<string>): boolean {
  for (const word of asked) {
    if (said.has(word) || stopWords("english").has(word)) continue;
    const others = oppositesIn("english").get(word) ?? [];
    if (others.some((other) => said.has(other) && !asked.has(other))) return true;
  }
  return false;
}

/** Years identify; amounts do not: "for 3 hours", "a child of 7" and "5 %" may describe only the asker's case. */
const YEAR = /^(?:1\d|20)\d\d$/u;
const AMOUNT_BEHIND =
  /(?:^|[ (])(?:of|aged?|old|at|for|in|on|with|than|over|under|least|most|about|by|till|until|after|before|since|within|between|and|or|from|to|[€$£]) ?$|\d[:./-]$/iu;
const AMOUNT_BEFORE =
  /^ ?(?:[%€$£°:/]|\p{Ll}{2,}s(?!\p{L})|percent|euro|(?:[ap]\.?m|[ckm]?m|k?g|[hl])(?!\p{L}))|^-\p{Ll}/u;

const identifyingNumbers = (question: string): Figure[] =>
  findNumbers(question).filter(({ start, end }) => {
    const [before, after] = [question.slice(Math.max(0, start - 40), start), question.slice(end)];
    return (
      YEAR.test(question.slice(start, end)) ||
      !(AMOUNT_BEHIND.test(before) || AMOUNT_BEFORE.test(after))
    );
  });

/**
 * Whether a text contains all numbers, in digits, words or Roman figures. A year may be missing from a text without years:
 * its date may stand outside of any sentence.
 */
function holdsNumbers(text: string, numbers: readonly Figure[]): boolean {
  if (numbers.length === 0) return true;
  const figures = [...findNumbers(text), ...findNumberWords(text)];
  const held = new Set(figures.flatMap(({ offers }) => offers));
  for (const [roman] of text.matchAll(ROMAN)) held.add(`n:${ROMANS.indexOf(roman) + 1}`);
  const tellsYears = [...held].some((offer) => YEAR.test(offer.slice(2)));
  return numbers.every(
    ({ offers }) =>
      offers.some((offer) => held.has(offer)) ||
      (!tellsYears && offers.some((offer) => YEAR.test(offer.slice(2)))),
  );
}

const ROMANS = "I II III IV V VI VII VIII IX X".split(" ");
const ROMAN = /(?<![\p{L}\p{N}])[IVX]{1,4}(?![\p{L}\p{N}])/gu;
