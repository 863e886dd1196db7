import { wordsOf } from "./words.ts";

const NUMBER =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|ninety|hundred|thousand|half|daily|weekly|monthly|yearly|hourly|quarterly|annually)\b/i;
const TIME =
  /\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|daily|weekly|monthly|yearly|morning|evening|noon|midnight|every|after|before)\b/i;
const PERSON = /[^.!?\s] ["“'(*]*\p{Lu}\p{Ll}|\bteam\b|\bmanager\b/u;

/** What the answer to such a question usually holds: a number, a time, a person; null for any other. */
export function expectedAnswer(question: string): RegExp | null {
  const words = ` ${wordsOf(question).join(" ")} `;
  if (
    / how (?:many|much|long|often|far|old|big|large|high|fast|hot|warm|late|early|soon|quickly|deep|heavy) /.test(
      words,
    )
  )
    return NUMBER;
  if (
    / (?:within|percent|percentage|price|cost|costs|number|phone|temperature|limit|deadline|budget|pay|paid|fee|rent|deposit|money|rate|year|weight|length|height|distance) /.test(
      words,
    )
  )
    return NUMBER;
  if (/ (?:when|what time|what day|which day|date) /.test(words)) return TIME;
  if (/ (?:who|whom|whose) /.test(words)) return PERSON;
  return null;
}
