import { foldWord } from "../../../shared/normalise-text.ts";
import { FUNCTION_WORDS, STOP_WORDS, stemWord } from "../../text/content-words.ts";
import type { TextSpan } from "../../text/spans.ts";
import type { ListedLanguage } from "../../text/word-forms.ts";

/** The languages that the rules have lists for. */
export type ClaimLanguage = ListedLanguage | "japanese";

/** A word of a text: folded, its stem, and whether it says something about a subject. */
export type Term = TextSpan & {
  /** In lower case, without accents. */
  readonly word: string;
  readonly stem: string;
  readonly isContent: boolean;
  /** Whether it says little beside others: cost, hold, become. */
  readonly isLight: boolean;
};

// Bounded, since a match of millions would exhaust the stack of the matcher.
const WORD =
  /(?<han>[\p{Script=Han}々]{1,200})|(?<kana>[\p{Script=Katakana}ー]{2,200})|(?<hira>\p{Script=Hiragana}{1,200})|(?:(?![\p{Script=Han}\p{Script=Katakana}\p{Script=Hiragana}])[\p{L}\p{M}]){1,200}/gu;

/**
 * The words of a text in order, without its numbers. In Japanese each pair of Han characters and each word in Katakana
 * is one; what stands in Hiragana is grammar. Linear.
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
    isLight: LIGHT.has(word),
  };
}

/** Verbs and nouns that a sentence needs and its subject does not, in all languages together. */
const LIGHT: ReadonlySet<string> = new Set(
  `pay pays paid zahlt zahlen paie paient paga pagan cost costs holds hold held need needs needed become becomes became begin start amount amounts total come comes came go goes went
  give gives gave get gets got stay stays stayed remain remains remained stand stands stood keep keeps kept put puts set sets
  lie lies belong belongs contain contains contained include includes included comprise consist consists measure measures weigh
  weighs number value time times item part kind thing things person people way place per nearly roughly about around almost apply
  applies applied run runs ran last lasts lasted take takes took taken make makes made see sees saw call called name named use used
  uses state states stated mention found find finds say says said according plus minus sum altogether together turned turn turns happen happened occur occurs occurred
  day days date according however able possible order around get well also still now then there yet ever since thus while whereas
  somebody someone something anything nothing nobody everybody each every both first one two
  kostet kosten kostete kosteten betragt betrug betragen liegt lag liegen lagen belauft gibt gab steht stand stehen standen hat
  haben hatte braucht brauchen brauchte benotigt erhalt erhalten bekommt bekommen dauert dauerte lauft lief geht ging kommt kam
  macht machte bleibt blieb bleiben heisst befindet befinden findet fand stattfinden statt gilt gelten galt enthalt umfasst zahlt
  wiegt misst lasst lassen rund etwa ungefahr circa knapp insgesamt lang je jeweils monatlich jahrlich plus minus summe zusammen beim zwecks sowie laut
  wurde wurden worden werden wird ist sind war waren sein durch seit dabei damit davon dazu zudem ferner tag datum zeit
  coute coutent couta dure durent dura faut est sont etait ete a ont avait reste restent mesure pese compte comptent contient
  comprend comporte represente atteint eleve elevent vaut date jour fois environ presque pres total durant lors chaque fait font
  prend prennent donne donnent met tient trouve trouvent peut peuvent doit doivent sera seront utilise utilisee moins somme ensemble par le
  cuesta cuestan costo costaron dura duran duro es son era fue fueron esta estan hay tiene tienen queda quedan pesa mide cuenta
  contiene incluye lleva llevan asciende vale dia fecha vez veces unos unas casi alrededor total hace hacen da dan pone ponen
  puede pueden debe deben sera seran menos mas suma juntos conjunto
  someone anyone whoever everyone form forms formed exist exists existed mean means meant
  perform performed act acts acted show shows showed shown represent represents involve involves involved
  concern concerns concerned relate relates related regard regards regarding result enough sufficient sort type case moment period purpose fact matter
  amongst among towards toward besides upon onto via per additional further certain respective respectively own
  hardly barely merely simply actually currently presently moreover furthermore meanwhile instead thereby therein thereof hereby
  jedoch allerdings hingegen dennoch trotzdem gleichwohl jemand jemanden niemand keinen keinem keiner keines zwar sodass nachdem bevor ehe wahrend obwohl sondern wobei wodurch deshalb daher deswegen darum
  anders ergab ergibt ergeben trug tragt tragen nahm nimmt nehmen stellt stellen stellte bildet bilden dient dienen diente fuhrt fuhren fuhrte erfolgt erfolgen erfolgte
  handelt besteht bestehen bestand zeigt zeigen zeigte bietet bringt brachte zuge zwecke fall falle art sorte weise punkt sache stuck person personen leute
  darin daran darauf daraus dafur dagegen dazwischen weiterhin ausserdem uberdies zusatzlich jeweilig jeweiligen entsprechend entsprechende eigen eigenen eigene
  quelqu quelque quelques personne personnes gens sert servent servir permet permettent existe existent signifie constitue constituent represente representent
  effectue effectuee effectues effectuees realise realisee porte portent possede possedent dispose disposent concerne concernent lorsque puisque tandis afin
  ainsi toutefois cependant neanmoins ensuite puis supplementaire certain certaine certains certaines respectif type sorte cas moment periode chose choses
  alguien algun alguna algunos algunas nadie ningun ninguna ninguno sirve sirven servir permite permiten existe existen significa constituye representa
  representan realiza realizan realizo efectua efectuo consta constan dispone disponen posee poseen corresponde corresponden trata tratan supone sitio caso momento
  periodo tipo clase cosa cosas persona personas gente ademas asimismo mientras entonces luego adicional cierto cierta ciertos ciertas propio propia acaba acaban acabo
  cabo buena bueno sigue siguen sola solo`
    .trim()
    .split(/\s+/),
);

/** "Plot B" */
const LETTER = /^[B-DF-HJ-NP-TV-XZ]$/;

const isFunctionWord = (word: string, language: ClaimLanguage | null): boolean =>
  language === null
    ? STOP_WORDS.has(word)
    : language === "english"
      ? STOP_WORDS.has(word)
      : FUNCTION_WORDS[language === "german" ? 0 : language === "french" ? 1 : 2]?.has(word) ===
        true;

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

/** "zugestimmt" as "zustimmt", "gepflanzt" as "pflanzt". */
const withoutGe = (word: string): string => word.replace(SEPARABLE, "$1").replace(PARTICIPLE, "");

/** A light stem: only ever compared with other stems, which also meet by a long common beginning. */
export function stemIn(word: string, language: ClaimLanguage | null): string {
  if (language === "english" || language === null || language === "japanese") return stemWord(word);
  const stem = (language === "german" ? withoutGe(word) : word).replace(ENDINGS[language], "");
  return stem.length >= 3 ? stem : word;
}

const FEWEST_COMMON = 5;
const LEAST_COMMON = 0.7;

/** Whether two stems are forms of one word: equal, or with a long beginning in common. */
export function areRelated(one: string, other: string): boolean {
  if (one === other) return true;
  const [short, long] = one.length < other.length ? [one, other] : [other, one];
  if (short.length < FEWEST_COMMON || short.charCodeAt(0) !== long.charCodeAt(0)) return false;
  let common = 0;
  while (common < short.length && short.charCodeAt(common) === long.charCodeAt(common)) common += 1;
  return common >= FEWEST_COMMON && common >= LEAST_COMMON * long.length;
}
