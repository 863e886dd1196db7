import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const words = z.string().trim().min(1);
const lang = z.enum(["en", "de", "fr", "es"]);

const question = z.discriminatedUnion("answerable", [
  z.strictObject({
    id: words,
    lang,
    question: words,
    answerable: z.literal(true),
    /** All of these, folded, are in a right answer. */
    facts: z.array(words).min(1),
    /** A right answer cites one of these. */
    files: z.array(words).min(1),
  }),
  z.strictObject({
    id: words,
    lang,
    question: words,
    answerable: z.literal(false),
    facts: z.array(words).max(0),
    /** What makes it look answerable: words that its files hold. */
    keywords: z.array(words).min(1),
    files: z.array(words).min(1),
  }),
]);

const summary = z.strictObject({
  id: words,
  lang,
  path: words,
  /** At least one of these is in a right summary. */
  must_hold: z.array(words).min(1),
  must_not: z.array(words),
});

const values = z.strictObject({
  people: z.array(words).optional(),
  dates: z.array(words).optional(),
  actions: z.array(words).optional(),
});

const extraction = z.strictObject({
  id: words,
  lang,
  path: words,
  preset: z.enum(["actions", "people"]),
  /** Each is held by some value of its kind. */
  expected: values,
  /** None is held by a value of its kind. */
  must_not: values,
});

export type StrangerQuestion = z.infer<typeof question>;
export type StrangerSummary = z.infer<typeof summary>;
export type StrangerExtraction = z.infer<typeof extraction>;

export const readStrangerQuestions = (): StrangerQuestion[] =>
  readLines("questions.jsonl", question);

export const readStrangerSummaries = (): StrangerSummary[] => readLines("summaries.jsonl", summary);

export const readStrangerExtractions = (): StrangerExtraction[] =>
  readLines("extractions.jsonl", extraction);

/** Without what a reader does not mind: capitals, accents, ß or ss, and how wide a blank is. */
export const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replace(/\s+/g, " ");

/** Whether the text holds the fact, folded, and not as a part of a longer number or word before it. */
export function holds(text: string, fact: string): boolean {
  const [folded, wanted] = [fold(text), fold(fact)];
  for (let at = folded.indexOf(wanted); at !== -1; at = folded.indexOf(wanted, at + 1)) {
    if (!isPartOfNumber(folded, at)) return true;
  }
  return false;
}

/** `5. Juli` is not held by `15. Juli`, nor `1,184` by `21,184`. */
const isPartOfNumber = (text: string, at: number): boolean =>
  /\d/.test(text[at] ?? "") && /[\d.,]/.test(text[at - 1] ?? "");

/** @throws Error with the file and the line of an item that does not fit */
function readLines<T>(file: string, schema: z.ZodType<T>): T[] {
  const lines = readFileSync(join(import.meta.dirname, file), "utf8").split("\n");
  return lines.slice(0, -1).map((line, index) => {
    const item = schema.safeParse(JSON.parse(line));
    if (item.success) return item.data;
    throw new Error(`${file}:${index + 1}: ${z.prettifyError(item.error)}`);
  });
}
