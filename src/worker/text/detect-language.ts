import type { Language } from "../../shared/text/language.ts";
import { isAscii, normaliseText } from "../../shared/text/normalise-text.ts";
import { append } from "../../shared/group-by.ts";

/** The words that a text of the language is full of. One that several languages have counts for each, and the less. */
const FREQUENT: Readonly<Partial<Record<Language, string>>> = {
  english:
    "the of and to in is that it was for on are with as his they be at this have from or had by not but what all were when we there can an your which their said if do will each about how up out them then she many some so these would other into has more her like him time no could make than been its who now my over did down only may after also most where why did here should because while does must before between under our any such those being both during",
  german:
    "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur bis mehr durch man sein wurde sei wenn ich ihr wir uns kann gegen vom können schon habe ihre dann unter ihm wo seine ihrer muss diese dieser dieses keine kein bitte sehr alle immer wieder zwischen ohne jetzt heute morgen",
  french:
    "le la les de des du un une et est en que qui dans pour pas sur au aux avec ce cette ces il elle ils elles nous vous je ne se son sa ses leur leurs par plus ou mais comme tout être sont été fait avoir ont était sans sous entre après avant aussi bien très même deux peut faire lui cela quand donc où depuis toujours aucun chaque notre votre mon ma mes y si d l qu c n s j",
  spanish:
    "el la los las de del que y en un una es por con para no se su al lo como más pero sus le ya o este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante todos uno les ni contra otros ese eso ante ellos e esto antes algunos qué unos yo otro otras otra él tanto esa estos mucho quienes nada muchos cual poco ella estar estas algunas algo nosotros son fue ser está han era tiene puede cada después día según",
  italian:
    "il lo la i gli le di del della dei degli delle che e è un una uno in per non con si da dal dalla su come anche ma più al alla ai alle nel nella nei sono ha ho hanno era questo questa questi queste se quando molto tutto tutti dopo prima solo loro essere stato stata fatto può suo sua suoi sue o ed ci mi ti vi perché dove chi cosa ogni fra tra senza ancora già così",
  dutch:
    "de het een en van in is dat op te zijn voor met die niet aan er om ook als dan maar bij of uit nog naar heeft ze we wij je jij hij zij wordt worden door over kan deze dit geen tot werd was had veel al meer onder moet zal zou wel haar hun ons onze mijn zo toen waar wat wie hoe omdat tussen na nu hier daar alle elke tegen zonder",
  portuguese:
    "o a os as de do da dos das que e em um uma para com não por mais como mas ao aos à no na nos nas se foi ele ela eles elas seu sua seus suas ou quando muito já também só pelo pela até isso entre depois sem mesmo há são está ser tem têm este esta isto esse essa nem você nós me lhe eu era onde porque cada ainda sobre",
  danish:
    "og i at det er en til på som de med han af for ikke der var et den har om vi men hun sig fra jeg du ved kan nu skal blev så over eller når efter da hvis hvor hvad mere under mange også noget meget alle vil have været kun ud op ind hans hendes deres vores ingen",
  norwegian:
    "og i det er en til på som de med han av for ikke der var et den har om vi men hun seg fra jeg du ved kan nå skal ble så over eller når etter da hvis hvor hva mer under mange også noe mye alle vil ha vært bare ut opp inn hans hennes deres vår ingen",
  swedish:
    "och i att det är en till på som de med han av för inte var ett den har om vi men hon sig från jag du vid kan nu ska blev så över eller när efter då hur vad mer under många också något mycket alla vill ha varit bara ut upp in hans hennes deras vår ingen mot mellan utan",
  finnish:
    "ja on ei se että oli hän ovat mutta kun niin tai myös joka kuin sen jos vain ole nyt sitten sekä mitä mukaan tämä olla ollut olivat vielä jo kanssa kaikki me he te minä sinä koska jälkeen ennen",
  hungarian:
    "a az és hogy nem is egy ez azt de csak volt mint meg már még van vagy aki ha minden el ki itt ott lesz után mert nagyon kell lehet ezt ami amely között szerint sem most több",
  romanian:
    "și de la în a cu pe nu este un o că din se pentru care mai sunt ca au fost dar sau ce după prin ale lui iar fi al era până fără acest această când doar foarte unde între",
  turkish:
    "ve bir bu da de için ile çok olarak daha ne en gibi kadar olan sonra ama var değil her o şu mi mı ya ki hem ancak veya tüm önce göre bütün",
};

/** Languages that are known by their letters. */
const SCRIPTS: readonly (readonly [RegExp, Language])[] = [
  [/^\p{Script=Cyrillic}/u, "russian"],
  [/^\p{Script=Greek}/u, "greek"],
  [/^\p{Script=Arabic}/u, "arabic"],
  [/^\p{Script=Devanagari}/u, "hindi"],
  [/^\p{Script=Armenian}/u, "armenian"],
  [/^\p{Script=Tamil}/u, "tamil"],
];

/** A text is looked at from its front: the rest of a long one says the same. */
const MOST_CHARS = 20_000;
/** Different words that are frequent in the language: a title of five words says too little. */
const LEAST_FREQUENT = 4;
/** Of all words of a text about a third are frequent in its language. */
const LEAST_SHARE = 0.1;
/** How much more than the next language the best one must score. */
const LEAST_LEAD = 1.2;
/** Part of a text's letters that must be of a script: names and formulas in others stand in every text. */
const LEAST_OF_SCRIPT = 0.3;
const LEAST_OF_LATIN = 0.5;
const FEWEST_LETTERS = 5;

type Weight = { readonly language: Language; readonly weight: number };

const WEIGHTS: ReadonlyMap<string, readonly Weight[]> = weighWords();

function weighWords(): Map<string, Weight[]> {
  const spoken = new Map<string, Language[]>();
  for (const [language, words] of Object.entries(FREQUENT) as [Language, string][]) {
    for (const word of new Set(words.split(" "))) append(spoken, word, language);
  }
  return new Map(
    [...spoken].map(([word, languages]) => [
      word,
      languages.map((language) => ({ language, weight: 1 / languages.length })),
    ]),
  );
}

/**
 * The language of a text by its letters, or by the words that are frequent in it: null where they do not say, as of a few
 * words, a table of numbers, code, and a text that mixes two languages evenly. Takes linear time.
 */
export function detectLanguage(text: string): Language | null {
  const front = text.slice(0, MOST_CHARS);
  if (isAscii(front)) return detectByWords(countAscii(front));
  const words = normaliseText(front, "NFC").toLowerCase().match(WORD) ?? [];
  const byLetters = detectByLetters(words);
  return byLetters === "latin" ? detectByWords(countFrequent(words)) : byLetters;
}

/** Of two letters at least: initials are frequent words of no language. */
const WORD = /\p{L}[\p{L}\p{M}]+/gu;
const LATIN = /^\p{Script=Latin}/u;

/** The first letter of a word stands for all. */
function detectByLetters(words: readonly string[]): Language | "latin" | null {
  const others = new Map<Language | null, number>();
  let latin = 0;
  let letters = 0;
  for (const word of words) {
    letters += word.length;
    if (isLatin(word)) latin += word.length;
    else {
      const script = scriptOf(word);
      others.set(script, (others.get(script) ?? 0) + word.length);
    }
  }
  for (const [, language] of SCRIPTS) {
    const count = others.get(language) ?? 0;
    if (count >= FEWEST_LETTERS && count > LEAST_OF_SCRIPT * letters) return language;
  }
  return latin > LEAST_OF_LATIN * letters ? "latin" : null;
}

function isLatin(word: string): boolean {
  const first = word.charCodeAt(0);
  return (first >= SMALL_A && first <= SMALL_Z) || LATIN.test(word);
}

const SMALL_A = 97;
const SMALL_Z = 122;

const scriptOf = (word: string): Language | null =>
  SCRIPTS.find(([script]) => script.test(word))?.[1] ?? null;

function detectByWords({ words, frequent }: WordTally): Language | null {
  const scores = new Map<Language, { score: number; words: number }>();
  for (const [weights, times] of frequent) {
    for (const { language, weight } of weights) {
      const sum = scores.get(language) ?? { score: 0, words: 0 };
      scores.set(language, { score: sum.score + weight * times, words: sum.words + 1 });
    }
  }
  const [best, next] = [...scores].sort(([, a], [, b]) => b.score - a.score);
  if (best === undefined) return null;
  const [language, sum] = best;
  const isClear =
    sum.words >= LEAST_FREQUENT &&
    sum.score >= LEAST_SHARE * words &&
    sum.score >= LEAST_LEAD * (next?.[1].score ?? 0);
  return isClear ? language : null;
}

const LONGEST_FREQUENT = Math.max(...[...WEIGHTS.keys()].map(({ length }) => length));

/** The words of a text, and how often each frequent one stands there, by what it weighs. */
type WordTally = {
  readonly words: number;
  readonly frequent: ReadonlyMap<readonly Weight[], number>;
};

/** Most words are none of them, and looked up only if short enough. */
function countFrequent(words: readonly string[]): WordTally {
  const frequent = new Map<readonly Weight[], number>();
  for (const word of words) {
    const weights = word.length > LONGEST_FREQUENT ? undefined : WEIGHTS.get(word);
    if (weights !== undefined) frequent.set(weights, (frequent.get(weights) ?? 0) + 1);
  }
  return { words: words.length, frequent };
}

/** The same of a text of ASCII, faster: only what may be a frequent word is taken out of it. */
function countAscii(text: string): WordTally {
  const frequent: string[] = [];
  let words = 0;
  let hash = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const letter = at < text.length ? text.charCodeAt(at) | CASE : 0;
    if (letter >= SMALL_A && letter <= SMALL_Z) {
      hash = addToHash(hash, letter);
      continue;
    }
    if (at - start >= 2) words += 1;
    if (at - start >= 2 && MAY_BE_FREQUENT[hash] === 1) {
      frequent.push(text.slice(start, at).toLowerCase());
    }
    start = at + 1;
    hash = 0;
  }
  return { words, frequent: countFrequent(frequent).frequent };
}

/** What a small letter of ASCII has more than its capital. */
const CASE = 32;
const HASHES = 16_384;

const addToHash = (hash: number, letter: number): number => (hash * 31 + letter) & (HASHES - 1);

/** By hash. The words that are none and share one are a few of a hundred. */
const MAY_BE_FREQUENT = new Uint8Array(HASHES);
for (const word of WEIGHTS.keys()) {
  let hash = 0;
  for (let at = 0; at < word.length; at += 1) hash = addToHash(hash, word.charCodeAt(at));
  MAY_BE_FREQUENT[hash] = 1;
}

const FREQUENT_OF: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(FREQUENT).map(([language, words]) => [language, new Set(words.split(" "))]),
);
const FREQUENT_OF_ANY: ReadonlySet<string> = new Set(WEIGHTS.keys());

/**
 * The words that are frequent in the language of a text, in lower case: those of all languages where it does not say, and null
 * for one that is known by its letters.
 */
export function frequentWords(text: string): ReadonlySet<string> | null {
  const language = detectLanguage(text);
  return language === null ? FREQUENT_OF_ANY : (FREQUENT_OF.get(language) ?? null);
}
