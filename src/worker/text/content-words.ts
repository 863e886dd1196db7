import type { ListedLanguage } from "./word-forms.ts";
import { normaliseText } from "../../shared/normalise-text.ts";

/** The words of a text in lower case, without accents and possessives. */
export function wordsOf(text: string): string[] {
  const plain = normaliseText(text, "NFKD").replace(/\p{Mn}/gu, "");
  const folded = plain.replace(/['’]s\b/g, "").toLowerCase();
  const joined = MAYBE_SPELLED.test(folded) ? folded.replace(SPELLED, joinLetters) : folded;
  return joined.match(/[\p{L}\p{N}]+(?:[.:][\p{N}]+)*/gu) ?? [];
}

/** A run of letters of a script that is written without blanks. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+/gu;
/** Chinese words that say nothing about a subject, those that questions are made of among them. */
const UNSPACED_STOP =
  /什么|甚么|怎么|怎样|如何|为何|为什么|哪[里儿个些位种年]?|谁|多少|多[大高长远久快重]|几[个年次种]?|何[时地处人]|是否|吗|呢|[的了是在和与及或把被从到对以有由于之其这那]/gu;

/** The words of a text; of scripts without blanks every two letters that follow each other, as a search has them. */
export const subjectWordsOf = (text: string): string[] =>
  wordsOf(text).flatMap((word) => (ANY_UNSPACED.test(word) ? pairsIn(word) : [word]));

const ANY_UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** What stands between the letters of such a script, as in "2016年", is a word of its own. */
function pairsIn(word: string): string[] {
  const others = word.split(UNSPACED).filter((part) => part !== "");
  const runs = (word.match(UNSPACED) ?? []).flatMap((run) => run.split(UNSPACED_STOP));
  return [...others, ...runs.flatMap(pairsOfRun)];
}

function pairsOfRun(run: string): string[] {
  const letters = Array.from(run);
  if (letters.length < 2) return letters;
  return letters.slice(1).map((letter, at) => `${letters[at] ?? ""}${letter}`);
}

const MAYBE_SPELLED = /[^\s._][._][^\s._]/;
/** "L.C.D." and "L_C_D_" are "LCD". */
const SPELLED = /(?<![\p{L}\p{N}])\p{L}(?:[._]\p{L}(?![\p{L}\p{N}]))+/gu;
const joinLetters = (letters: string): string => letters.replace(/[._]/g, "");

/** Stems of the words that carry a subject, in order, with repetitions. */
export const contentStems = (text: string): string[] => stemReader()(text);

/** Gives `contentStems` of text after text, and stems each word once. */
export function stemReader(): (text: string) => string[] {
  const known = new Map<string, string>();
  return (text) => {
    const stems: string[] = [];
    for (const word of subjectWordsOf(text)) {
      if (STOP_WORDS.has(word)) continue;
      const stem = known.get(word) ?? stemWord(word);
      known.set(word, stem);
      stems.push(stem);
    }
    return stems;
  };
}

const VOWEL = /[aeiouy]/;

/** Suffixes that are taken off, longest first, with what takes their place. */
const ENDINGS: readonly (readonly [string, string])[] = [
  ["izations", "ize"],
  ["ization", "ize"],
  ["isations", "ize"],
  ["isation", "ize"],
  ["fulness", "ful"],
  ["ations", "at"],
  ["ation", "at"],
  ["ments", "ment"],
  ["nesses", ""],
  ["ness", ""],
  ["ising", "ize"],
  ["ised", "ize"],
  ["ises", "ize"],
  ["ise", "ize"],
  ["ates", "at"],
  ["ated", "at"],
  ["ating", "at"],
  ["ate", "at"],
  ["ables", "abl"],
  ["able", "abl"],
  ["ings", ""],
  ["ing", ""],
  ["ies", "y"],
  ["ied", "y"],
  ["ers", "er"],
  ["ed", ""],
  ["ly", ""],
  ["es", ""],
  ["s", ""],
  ["e", ""],
];

/**
 * A light English stem, so that "rentals", "rented" and "renting" meet: one ending off, doubled consonants
 * halved, a final y made i. It is only ever compared with other stems.
 */
export function stemWord(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const stem = halveDouble(cutEnding(word));
  return stem.endsWith("y") ? `${stem.slice(0, -1)}i` : stem;
}

function cutEnding(word: string): string {
  if (word.endsWith("ss") || word.endsWith("us")) return word;
  for (const [ending, replacement] of ENDINGS) {
    if (!word.endsWith(ending)) continue;
    const stem = word.slice(0, -ending.length);
    if (stem.length >= 3 && VOWEL.test(stem)) return stem + replacement;
  }
  return word;
}

function halveDouble(stem: string): string {
  const last = stem.at(-1) ?? "";
  const isDouble = stem.length > 3 && last === stem.at(-2) && !VOWEL.test(last);
  return isDouble ? stem.slice(0, -1) : stem;
}

/** English words that say nothing about a subject, and the words that questions and orders are made of. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are aren as at be because been before being below
  between both but by can cannot could couldn did didn do does doesn doing don done down during each either else
  ever few for from further get gets got had has hasn have haven having he her here hers herself him himself his
  how however i if in into is isn it its itself just ll me might more most must my myself neither no nor not now
  of off on once only or other ought our ours ourselves out over own per please re s same shall she should so some
  such t than that the their theirs them themselves then there these they this those through to too under until
  up upon us ve very via was wasn we were weren what whatever when where whether which while who whom whose why
  will with within without would you your yours yourself
  answer article describe document documents explain file files find list mention mentioned mentions name
  note notes read say says said section show summarise summarize summary tell text thing things according many
  much long often far exactly used use uses using happen happens
  go goes going gone went come comes came coming take takes took taken taking make makes made making want wants need
  needs needed let lets tells told give gives given gave`
    .trim()
    .split(/\s+/),
);

/** German, French and Spanish words that say nothing about a subject, folded, with those that questions are made of. */
export const FUNCTION_WORDS: readonly ReadonlySet<string>[] = [
  `ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist da dabei dafur damit dann
  das dass daß dem den denn der des dessen die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem einen einer
  eines er es fur für gegen gibt haben habe hat hatte hatten hier ich ihm ihn ihr ihre ihrem ihren ihrer im in ins ist ja jede jeder
  jedes kann kein keine konnen man mehr mein mich mir mit muss mussen nach nicht noch nun nur ob oder ohne pro sein seine seinem
  seinen seiner seit sich sie sind so soll sollen sowie uber um und uns unser unsere unter viel viele vom von vor wann war waren warum
  was weil welche welchem welchen welcher welches wem wen wenn wer werden wessen weshalb wie wieso wieviel will wir wird wo woher wohin
  wurde wurden zu zum zur zwischen lange oft hoch heißt heißen mal heute macht machen geht gab`,
  `a afin ai alors apres au aucun aussi autre aux avait avant avec avez avoir avons c ce ceci cela celle ces cet cette chaque chez
  combien comme comment d dans de depuis des donc dont du elle elles en encore entre es est et etait etaient ete etre eu eux fait faire
  faut font il ils j je jusqu l la le les leur leurs lieu lors lui m ma mais me meme mes moi mon n ne ni nom nos notre nous on ont ou
  par parce pas pendant peu peut peuvent plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se selon ses si
  sont sous son sur t ta te tes toi ton tous tout toute toutes tres tu un une va vers vont vos votre vous y appelle tel telle il`,
  `a adonde al algo algun alguna ante antes asi aun aunque como con contra cual cuales cuando cuanta cuantas cuanto cuantos de del
  desde donde dos durante e el ella ellas ellos en entre era eran es esa ese eso esta estaba estan estar este estos fue fueron ha habia
  han hasta hay hace hacer hizo la las le les lo los mas me mi mientras muy nada ni no nos nuestra nuestro o otra otro para pero poco
  por porque pues que quien quienes se segun sea ser si sido sin sobre son su sus tal tambien tan te tiene tienen tenia toda todo todos
  tras tu tuvo un una uno unos y ya yo llama llaman llamaba cosa tipo`,
].map((words) => new Set(words.trim().split(/\s+/)));

/**
 * The words of a question that carry its subject: without those that say nothing in the language that most of its words
 * speak for.
 */
export function withoutFunctionWords(words: readonly string[]): string[] {
  const best = functionWordsOf(words);
  return words.filter((word) => !STOP_WORDS.has(word) && !best.has(word));
}

/** The language of a question, by its marks or by which of its words say nothing; English where none does. */
export const questionLanguage = (text: string): ListedLanguage =>
  text.includes("¿")
    ? "spanish"
    : (LISTED[FUNCTION_WORDS.indexOf(functionWordsOf(wordsOf(text)))] ?? "english");
/** In the order of FUNCTION_WORDS. */
const LISTED: readonly ListedLanguage[] = ["german", "french", "spanish"];

function functionWordsOf(words: readonly string[]): ReadonlySet<string> {
  const [best] = [STOP_WORDS, ...FUNCTION_WORDS]
    .map((set) => ({ set, count: words.filter((word) => set.has(word)).length }))
    .toSorted((one, other) => other.count - one.count);
  return best?.set ?? STOP_WORDS;
}
