import { once } from "../../../shared/once.ts";
import { allWordFiles } from "../../../shared/text/word-lists.ts";

/** Patterns for marks of questions, such as "Q: " or "**Frage 3:** ", and of answers. */
const readMarks = once(() => {
  const all = allWordFiles().map(({ questions }) => questions);
  return {
    asked: markOf(all.flatMap(({ asked }) => asked)),
    answered: markOf(all.flatMap(({ answered }) => answered)),
  };
});

const markOf = (words: readonly string[]): RegExp =>
  new RegExp(
    String.raw`^[*_]{0,3}(?:${words.join("|")})(?: ?\d{1,3})?[*_]{0,3} ?[:：.)][*_]{0,3}\s{0,3}`,
    "iu",
  );

const ASKED = /[?？]["'”’»)\]*_]{0,3}$/u;
export const isQuestion = (text: string): boolean => ASKED.test(text);
/** A question with the name of its speaker belongs to a conversation; the next text need not answer it. */
const SPEAKER = /^[*_]{0,3}\p{Lu}[^:?]{0,60}: /u;
const MOST_QUESTION_CHARS = 300;

/** A text that is a question, without its mark and emphasis; null for any other text. */
export function questionIn(text: string): string | null {
  if (text.length > MOST_QUESTION_CHARS || !ASKED.test(text)) return null;
  const said = text.replace(readMarks().asked, "").replace(/^[*_]{1,3}|[*_]{1,3}$/g, "");
  return SPEAKER.test(said) ? null : said;
}

/** The mark at the beginning of an answer, such as "A: "; "" if there is none. */
export const answerMark = (text: string): string => readMarks().answered.exec(text)?.[0] ?? "";
