import { once } from "../../../shared/once.ts";
import { allWordFiles } from "../../../shared/text/word-lists.ts";

/** "Q: ", "**Frage 3:** ", and the same in front of an answer. */
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
/** Somebody who asks in a conversation is answered by whoever speaks next, or not at all. */
const SPEAKER = /^[*_]{0,3}\p{Lu}[^:?]{0,60}: /u;
const MOST_QUESTION_CHARS = 300;

/** The question that a text is, without its mark and what sets it off; null of any other text. */
export function questionIn(text: string): string | null {
  if (text.length > MOST_QUESTION_CHARS || !ASKED.test(text)) return null;
  const said = text.replace(readMarks().asked, "").replace(/^[*_]{1,3}|[*_]{1,3}$/g, "");
  return SPEAKER.test(said) ? null : said;
}

/** What an answer opens with that says no more than that it is one; empty where nothing does. */
export const answerMark = (text: string): string => readMarks().answered.exec(text)?.[0] ?? "";
