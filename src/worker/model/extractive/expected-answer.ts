import { stemWord } from "./stem-word.ts";
import { wordsOf } from "./words.ts";

const NUMBER_WORDS =
  "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|few|several";
const NUMBER = new RegExp(
  String.raw`\d|\b(?:${NUMBER_WORDS}|daily|weekly|monthly|yearly|hourly|quarterly|annually)\b`,
  "i",
);
/** A number and a unit of time: a telephone number is none. */
const DURATION = new RegExp(
  String.raw`(?:\d|\b(?:an?|${NUMBER_WORDS}))[ -]{1,2}(?:second|minute|hour|day|night|week|fortnight|month|season|year)s?\b|\b(?:at once|immediately|overnight)\b`,
  "i",
);
const LENGTH = /\d ?(?:m|km|cm|mm|metres?|meters?|kilomet(?:re|er)s?|miles?|feet|ft)\b/i;
const TIME =
  /\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|daily|weekly|monthly|yearly|morning|evening|noon|midnight|every|after|before)\b/i;
const PERSON = /[^.!?\s] ["“'(*]*\p{Lu}\p{Ll}|\bteam\b|\bmanager\b/u;

const REASON =
  /\b(?:because|since|so that|due to|thanks to|therefore|reason|cause[ds]?|in order to|as)\b/i;

const COUNTED = / how many ([^ ]+) /;
const DURATIONS = / how (?:quickly|soon|long) | within (?:which|what|how) /;
const AMOUNTS =
  / how (?:many|much|often|far|old|big|large|high|fast|hot|warm|late|early|deep|heavy|strong) | (?:percent|percentage|price|cost|costs|number|phone|temperature|limit|deadline|budget|pay|paid|fee|rent|deposit|money|rate|year|weight|length|height|distance) /;
/** "When does it open" asks; "when it opens" and "when opening it" do not. */
const TIMES =
  / when (?:is|are|was|were|do|does|did|will|would|can|could|should|must|may|has|have|had) | (?:what|which) (?:time|day|date) | date /;
const PERSONS = /^ (?:[^ ]+ ){0,2}(?:who|whom|whose) | and (?:who|whom|whose) /;

/** How much more a sentence counts that holds what is asked for: more where few others hold such a thing. */
const BONUS = { common: 1.35, rare: 2.2 } as const;

/** For a sentence, the factor by which it fits the question. */
export type Expectation = (text: string) => number;

/**
 * What the answer to such a question usually holds: so many of a thing, a stretch of time, an amount, a time, a
 * reason, a person.
 */
export function expectedAnswer(question: string): Expectation {
  const words = ` ${wordsOf(question).join(" ")} `;
  const counted = COUNTED.exec(words)?.[1];
  if (counted !== undefined) return countOf(stemWord(counted));
  if (DURATIONS.test(words)) {
    const isLong = words.includes(" how long ");
    return (text) => (DURATION.test(text) || (isLong && LENGTH.test(text)) ? BONUS.rare : 1);
  }
  if (AMOUNTS.test(words)) return holding(NUMBER);
  if (TIMES.test(words)) return holding(TIME);
  if (words.startsWith(" why ")) return holding(REASON);
  return PERSONS.test(words) ? holding(PERSON) : () => 1;
}

const holding =
  (pattern: RegExp): Expectation =>
  (text) =>
    pattern.test(text) ? BONUS.common : 1;

/** "Eight names" and "8 more names" count names; any other number may. */
function countOf(stem: string): Expectation {
  return (text) => {
    if (!NUMBER.test(text)) return 1;
    const words = wordsOf(text);
    const isCounted = words.some(
      (word, index) =>
        NUMBER.test(word) &&
        words.slice(index + 1, index + 3).some((next) => stemWord(next) === stem),
    );
    return isCounted ? BONUS.rare : BONUS.common;
  };
}
