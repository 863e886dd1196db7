import { allWordFiles } from "../../../shared/text/word-lists.ts";
import { foldWord } from "../../../shared/text/normalise-text.ts";
import { stopWords, stemWord } from "../../text/content-words.ts";
import { once } from "../../../shared/once.ts";
import type { TextSpan } from "../../text/spans.ts";
import type { ListedLanguage } from "../../text/word-forms.ts";

/** The languages for which the rules have lists. */
export type ClaimLanguage = ListedLanguage | "japanese";

/** A word of a text, folded, with its stem; `isContent` is false for function words. */
export type Term = TextSpan & {
  /** In lower case, without accents. */
  readonly word: string;
  readonly stem: string;
  readonly isContent: boolean;
  /** Whether it adds little to its sentence: cost, hold, become. */
  readonly isLight: boolean;
};

// Bounded, because a match of millions of characters would exhaust the matcher's stack.
const WORD =
  /(?<han>[\p{Script=Han}々]{1,200})|(?<kana>[\p{Script=Katakana}ー]{2,200})|(?<hira>\p{Script=Hiragana}{1,200})|(?:(?![\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}])[\p{L}\p{M}]){1,200}/gu;

/**
 * The words of a text in order, without its numbers. In Japanese each pair of Han characters and each word in Katakana is a
 * term; Hiragana is skipped as grammar. Linear.
 */
export function readTerms(text: string, language: ClaimLanguage | null): Term[] {
  const terms: Term[] = [];
  for (const match of text.matchAll(WORD)) {
    const { 0: spelled, index, groups } = match;
    if (groups?.["hira"] !== undefined) continue;
    if (groups?.["han"] !== undefined) terms.push(...pairsOf(spelled, index));
    else terms.push(termOf(spelled, index, language));
  }
  return terms;
}

function pairsOf(run: string, index: number): Term[] {
  const characters = Array.from(run);
  let start = index;
  return characters.slice(0, Math.max(1, characters.length - 1)).map((character, at) => {
    const word = character + (characters[at + 1] ?? "");
    const term = { start, end: start + word.length, isContent: true, isLight: false };
    start += character.length;
    return { word, stem: word, ...term };
  });
}

function termOf(spelled: string, start: number, language: ClaimLanguage | null): Term {
  const word = foldWord(spelled);
  const isContent = LETTER.test(spelled) || (word.length > 1 && !isFunctionWord(word, language));
  return {
    word,
    stem: stemIn(word, language),
    start,
    end: start + spelled.length,
    isContent,
    isLight: lightWords().has(word),
  };
}

/** Words of all languages that build a sentence but say little about its subject. */
const lightWords = once(() => new Set(allWordFiles().flatMap(({ light }) => light)));

/** A single letter as a name, "Plot B", except letters that may be words. */
const LETTER = /^[B-DF-HJ-NP-TV-XZ]$/;

const isFunctionWord = (word: string, language: ClaimLanguage | null): boolean =>
  stopWords(language === "japanese" ? "spanish" : (language ?? "english")).has(word);

/** Endings of inflection, the longest first. */
const ENDINGS: Readonly<Record<"german" | "french" | "spanish", RegExp>> = {
  german: /(?:ungen|erin|ern|end|est|ung|em|en|er|es|st|e|n|s|t)$/,
  french:
    /(?:issements?|issants?|aient|eront|ements?|euses?|antes?|ations?|ees|ent|ant|ait|ees|ee|er|es|ez|ir|is|it|ons|e|s|x)$/,
  spanish:
    /(?:aciones|acion|amente|mente|aron|ieron|aban|adas|ados|idas|idos|ando|iendo|aba|ada|ado|ida|ido|an|ar|as|en|er|es|ir|io|os|a|e|o|s)$/,
};

const SEPARABLE =
  /^(ab|an|auf|aus|bei|ein|fest|frei|her|hin|los|mit|nach|um|vor|weg|zu|zuruck)(?:ge(?!ben|bot|hen|ht|halt|wicht|winn|biet)|zu)(?=\p{L}{3})/u;
const PARTICIPLE =
  /^ge(?!wicht|richt|biet|rat|sam|stalt|walt|halt|sich|dich|fech|ruch|bot|brauch)(?=\p{L}{4,}t$)/u;

/** Turns "zugestimmt" into "zustimmt", and "gepflanzt" into "pflanzt". */
const withoutGe = (word: string): string => word.replace(SEPARABLE, "$1").replace(PARTICIPLE, "");

/** A light stem, only for comparison with other stems; `areRelated` also accepts a long common beginning. */
export function stemIn(word: string, language: ClaimLanguage | null): string {
  if (language === "english" || language === null || language === "japanese") return stemWord(word);
  const stem = (language === "german" ? withoutGe(word) : word).replace(ENDINGS[language], "");
  return stem.length >= 3 ? stem : word;
}

const FEWEST_COMMON = 5;
const LEAST_COMMON = 0.7;

/** Whether two stems are forms of one word: equal, or with a long common beginning. */
export function areRelated(one: string, other: string): boolean {
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length < FEWEST_COMMON || short.charCodeAt(0) !== long.charCodeAt(0)) return false;
  let common = 0;
  while (common < short.length && short.charCodeAt(common) === long.charCodeAt(common)) common += 1;
  return common >= FEWEST_COMMON && common >= LEAST_COMMON * long.length;
}
