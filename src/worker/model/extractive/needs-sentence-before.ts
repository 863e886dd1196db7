import { stemWord } from "./stem-word.ts";
import { wordsOf } from "./words.ts";

const wordSet = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));

const PRONOUNS = wordSet("he she it they him his her hers them their theirs its");
const DEMONSTRATIVES = wordSet("this that these those such");
const CONNECTIVES = wordSet(
  `however therefore thus hence consequently accordingly moreover furthermore additionally nevertheless nonetheless
   otherwise instead meanwhile likewise similarly conversely also then afterwards besides and but so or nor yet`,
);
/** Openings of several words that point back. */
const POINTING_BACK = [
  "in addition",
  "for example",
  "for instance",
  "as a result",
  "after that",
  "after this",
  "before that",
  "because of this",
  "because of that",
  "for this reason",
  "for that reason",
  "in that case",
  "in this case",
  "on the other hand",
  "on the contrary",
  "even so",
  "of these",
  "of those",
  "one of them",
  "none of them",
  "both of them",
  "all of them",
  "most of them",
  "the former",
  "the latter",
  "the same",
  "the other one",
].map((words) => words.split(" "));

/** "It is important that", "it rains", "it takes an hour": this "it" stands for nothing before. */
const EMPTY_AFTER_IT = wordSet(
  "rains rained snows snowed freezes froze thaws seems seemed appears appeared takes took",
);
const EMPTY_AFTER_IT_IS = wordSet(
  `important possible impossible necessary likely unlikely clear true forbidden allowed hard easy best better safe
   dangerous useful common usual`,
);
const IS = wordSet("is was will would be been has had can could must should may might");
/** "Each has a number": each of what was said before; "each bell" names it. */
const PORTIONS = wordSet("each both neither none some all most many few another others either");
const VERBS = wordSet(
  "is are was were be has have had do does did will would can could shall should may might must",
);
/** "In it", "with them", "if it is not": what these lead to may be open as well. */
const LEADING = wordSet(
  `in on at of for from to with without by after before under over through between among if when once unless until
   because since while though although whether`,
);
const PLACES = wordSet("there here");
/** "This year" and "that evening" are told by the day on which they are read. */
const TIMES = wordSet(
  "year season month week weekend day morning afternoon evening night spring summer autumn winter time",
);
/** "Those who sign", "that which is left", "so far", "instead of a bell". */
const SELF_CONTAINED = wordSet("who whom whose which with without of far that long");

/** Longer openings than this are not looked at. */
const OPENING_CHARS = 120;

/**
 * Whether a sentence opens with a word that the sentence before it must explain: a pronoun, a connective, or a
 * demonstrative whose noun is none of the known ones.
 *
 * @param known stems of the title and headings above, which a reader has before them
 */
export function needsSentenceBefore(text: string, known: ReadonlySet<string>): boolean {
  const words = wordsOf(text.slice(0, OPENING_CHARS));
  const [first = "", second = ""] = words;
  if (CONNECTIVES.has(first)) return !SELF_CONTAINED.has(second);
  if (POINTING_BACK.some((opening) => opening.every((word, at) => words[at] === word))) return true;
  if (LEADING.has(first)) return PLACES.has(second) || pointsBack(words.slice(1), known);
  return pointsBack(words, known);
}

function pointsBack(words: readonly string[], known: ReadonlySet<string>): boolean {
  const [first = "", second = ""] = words;
  if (PRONOUNS.has(first)) return first !== "it" || !isEmptyIt(words);
  if (PORTIONS.has(first)) return VERBS.has(second);
  return (
    DEMONSTRATIVES.has(first) &&
    !TIMES.has(second) &&
    !SELF_CONTAINED.has(second) &&
    !known.has(stemWord(second))
  );
}

function isEmptyIt([, second = "", ...rest]: readonly string[]): boolean {
  if (EMPTY_AFTER_IT.has(second)) return true;
  const [said = ""] = IS.has(second) ? rest.filter((word) => !IS.has(word)) : [];
  return EMPTY_AFTER_IT_IS.has(said);
}
