import { foldedWords, foldWords } from "../../text/fold-words.ts";
import { mergeByKey } from "../../../shared/text/word-lists.ts";
import { foldWord } from "../../../shared/text/normalise-text.ts";
import { NUMBER_SIGN } from "../claims/find-cues.ts";
import { areRelated, readTerms } from "../claims/terms.ts";
import { once } from "../../../shared/once.ts";
import { isDenial } from "../elided-quotes.ts";
import { holdsFigures, holdsMeasure } from "./figures-in.ts";
import type { QuotedWords } from "./figures-in.ts";

const spacedWords = (text: string): string => ` ${foldedWords(text).join(" ")} `;

/** A name or term has at most this many content words; a longer text is worded by the model. */
const MOST_WORDS_OF_A_NAME = 6;
/** The least part of a worded text's words that the document must hold. */
const LEAST_SHARE = 0.6;
const LEAST_SHARE_JUDGED = 0.3;

/**
 * Whether words hold a text: literally; or all words of a name in any order and form, its figures by value, a currency by any
 * of its names. A longer text is worded by the model: then its figures, its names, and most of its words.
 */
export function holdsText(text: string, words: QuotedWords, isJudged: boolean): boolean {
  const row = spacedWords(text);
  if (row.trim() !== "" && spacedWords(words.text).includes(row)) return true;
  if (holdsMeasure(text, words)) return true;
  if (!holdsCodes(text, words.text) || !holdsFigures(text, words)) return false;
  const wanted = readTerms(text, words.language).filter(({ isContent }) => isContent);
  const isHeld = (stem: string): boolean =>
    words.terms().some((term) => areRelated(stem, term.stem));
  if (wanted.length === 0) return /\p{N}/u.test(text);
  const lost = wanted.filter(({ stem, start, end }) => {
    return !isHeld(stem) && !holdsMeasure(text.slice(start, end), words);
  });
  const share = 1 - lost.length / wanted.length;
  if (isJudged) return share >= LEAST_SHARE_JUDGED;
  if (wanted.length <= MOST_WORDS_OF_A_NAME) return lost.length === 0;
  return share >= LEAST_SHARE && !lost.some(({ start }) => isName(text, start, words.language));
}

/** Whether a word has the capital letter of a name; German writes every noun with one. */
const isName = (text: string, start: number, language: string | null): boolean =>
  language !== "german" &&
  /^\p{Lu}/u.test(text.slice(start)) &&
  /[\p{L}\p{N},][ \u00A0]$/u.test(text.slice(0, start));

const CODE =
  /(?=[^\s]*\p{N})(?=[^\s]*\p{L})[\p{L}\p{N}][\p{L}\p{N}._/-]{2,60}|[^\s@]{1,60}@[^\s@]{2,80}|https?:\S{4,200}/gu;
const ORDINAL_OR_AMOUNT = /^\p{N}+(?:st|nd|rd|th|er|\.?\p{L}{1,3})$/iu;

/** Whether words hold all codes and addresses of a text literally, ignoring spaces and hyphens. */
function holdsCodes(text: string, words: string): boolean {
  const squeezed = squeeze(words);
  return [...text.matchAll(CODE)].every(
    ([code]) =>
      ORDINAL_OR_AMOUNT.test(code) || squeezed.includes(squeeze(code.replace(/[.]$/, ""))),
  );
}

const squeeze = (text: string): string => text.replace(/[\s\u00AD‐-–-]/gu, "").toLowerCase();

/** Groups of words for the same choice, folded, in all languages. */
const choiceGroups = once(() => [...mergeByKey((file) => file.choices).values()]);

const DENIAL_REACH = 3;

/** Whether words hold a choice: its currency or unit, one of its words, or a synonym, without a denial directly before it. */
export function holdsChoice(choice: string, words: QuotedWords): boolean {
  const text = withoutNumberSigns(words.text);
  if (holdsMeasure(choice, words)) return true;
  if (/^.$/u.test(choice.trim())) return holdsLetter(choice.trim(), text);
  const held = foldedWords(text).map(foldWord);
  const own = choice
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .split(/[\s_/.-]+/u)
    .map(foldWord)
    .filter((word) => word.length > 1);
  const others = choiceGroups()
    .filter((group) => own.some((word) => group.includes(word)))
    .flat();
  const deniesItself = own.some(isDenial);
  return held.some((word, at) => {
    if (
      !own.some((one) => isFormOf(word, one)) &&
      !others.some((other) => other === word || areRelated(other, word))
    )
      return false;
    return deniesItself || !held.slice(Math.max(0, at - DENIAL_REACH), at).some(isDenial);
  });
}

const NUMBER_SIGNS = new RegExp(String.raw`(?<!\p{L})${NUMBER_SIGN}`, "gu");

const withoutNumberSigns = (text: string): string =>
  text.replaceAll(NUMBER_SIGNS, (sign) => " ".repeat(sign.length));

/** Whether a choice of one letter or digit stands as a word, in its case, and not as a part of "A.1" or "1.5". */
function holdsLetter(letter: string, text: string): boolean {
  const held = foldWords(text).filter((word) => /[\p{L}\p{N}]/u.test(word.text));
  return held.some(({ start, end }, at) => {
    const before = held.slice(Math.max(0, at - DENIAL_REACH), at);
    const isPart =
      /[\p{L}\p{N}][.,]$/u.test(text.slice(0, start)) || /^[.,][\p{L}\p{N}]/u.test(text.slice(end));
    return (
      text.slice(start, end) === letter && !isPart && !before.some((word) => isDenial(word.text))
    );
  });
}

const isFormOf = (word: string, one: string): boolean =>
  word === one || areRelated(word, one) || (one.length >= 4 && word.startsWith(one));

const YES =
  /(?<!\p{L})(?:yes|ja|oui|sí|true|wahr|vrai|verdadero|always|immer)(?!\p{L})|[✓✔☑]|\[x\]/iu;
const NO =
  /(?<!\p{L})(?:no|nein|non|false|falsch|faux|falso|excluded|ausgeschlossen|exclus|excluido)(?!\p{L})|[✗✘☐]|\[ \]/iu;
const STILL_OPEN =
  /(?<!\p{L})(?:will|shall|must|should|has to|have to|is to|are to|to be|needs? to|pending|planned|still|not yet|open|noch|offen|soll|sollen|muss|müssen|wird|werden|geplant|doit|doivent|reste|prévu|encore|debe|deben|falta|pendiente|previsto|todavía|aún)(?!\p{L})/iu;
const WAS_DONE =
  /(?<!\p{L})(?:was|were|has been|have been|is now|are now|wurde|wurden|worden|ist|sind|a été|ont été|est|fue|fueron|ha sido|han sido|quedó|está)(?!\p{L})/iu;
const ABOUT_DEEDS =
  /(?<!\p{L})(?:done|complet|finish|clos|resolv|fixed|erledigt|abgeschlossen|behoben|gemacht|fait|terminé|résolu|hecho|terminado|resuelto)/iu;

/**
 * Whether words state a boolean: by a clause with a word of the field's name, with or without a denial, or by a plain yes or
 * no. For an action, by words that it was done or is still open.
 */
export function holdsTruth(value: boolean, about: string, words: QuotedWords): boolean {
  const text = withoutNumberSigns(words.text);
  const hasYes = YES.test(text);
  // "Not always", "not true": a denied yes is no yes, and nothing says of what it is the denial.
  const isDenied = hasYes && foldedWords(text.slice(0, text.search(YES))).some(isDenial);
  const marked = hasYes !== NO.test(text) && !isDenied ? hasYes : null;
  if (marked !== null && foldedWords(text).length <= MARKED_WORDS) return marked === value;
  const named = clauseAbout(about, words);
  if (named !== null) {
    const isAboutIt = foldedWords(about.replace(/[_-]+/gu, " ")).some((word) =>
      FORBIDDEN.test(word),
    );
    const denies = isAboutIt ? isDenial : isDenialOf;
    return foldedWords(named).some(denies) !== value;
  }
  if (marked !== null) return marked === value;
  if (!ABOUT_DEEDS.test(about)) return false;
  const isOpen = STILL_OPEN.test(text) || foldedWords(text).some(isDenialOf);
  return value ? WAS_DONE.test(text) && !isOpen : isOpen;
}

/** A row or an item with a mark (✓, yes) has at most this many words. */
const MARKED_WORDS = 12;

const isDenialOf = (word: string): boolean =>
  isDenial(word) || /^(?:un|in)able$|^fail/u.test(word) || FORBIDDEN.test(word);
const FORBIDDEN =
  /^(?:forbidden|prohibited|banned|verboten|untersagt|interdite?s?|prohibid[oa]s?)$/u;

function clauseAbout(about: string, { text, language }: QuotedWords): string | null {
  const [name = ""] = about.split(" ");
  const spelled = name.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replace(/[_-]+/gu, " ");
  const wanted = readTerms(spelled, language).filter(
    ({ word, isContent }) =>
      isContent && word.length > 2 && !/^(?:has|have|are|was|ist|hat|est)$/.test(word),
  );
  if (wanted.length === 0) return null;
  const clauses = text.split(/[,;:.!?]\s|\s(?:but|aber|mais|pero|sondern)\s/u);
  return (
    clauses.find((clause) => {
      const held = readTerms(clause, language);
      return wanted.some(({ stem }) => held.some((term) => areRelated(stem, term.stem)));
    }) ?? null
  );
}
