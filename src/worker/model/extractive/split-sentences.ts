import { splitBlocks } from "./split-blocks.ts";

/** A stretch of a text that can be shown as it is. */
export type Sentence = {
  /** Verbatim, but that a run of white space is one blank, and that a table row names its columns. */
  readonly text: string;
  /** A row of a table or a line of JSON is a key fact rather than a sentence. */
  readonly kind: "sentence" | "line";
  /** Words that stand around it and say what it is about: headings above it, the head of its table. */
  readonly context: string;
  /** Number of its paragraph; sentences of one follow each other. */
  readonly paragraph: number;
};

/** Longer stretches are no sentences, but text that nobody punctuated. */
const MAX_CHARS = 700;

/** The sentences of a markdown, plain or JSON text, in order. */
export const splitSentences = (text: string): Sentence[] =>
  splitBlocks(text).flatMap(({ kind, text: block, context }, paragraph): Sentence[] => {
    const isLine = kind === "line";
    return (isLine ? [oneBlank(block)] : cutAtStops(oneBlank(block)))
      .map((part) => part.replace(SIGNATURE, ""))
      .filter((part) => part.length > 1 && part.length <= MAX_CHARS)
      .map((part) => ({ text: part, kind: isLine ? "line" : "sentence", context, paragraph }));
  });

/** Who wrote the lines above: a short name after a dash after the last stop. After a quote it says who spoke, and stays. */
const SIGNATURE = /(?<=[.!?…)]) [—–-]{1,2} \p{Lu}[\p{L}.]{0,19}(?: \p{Lu}[\p{L}.]{0,19}){0,2}$/u;

/** Words before a full stop that does not end a sentence. */
const ABBREVIATIONS = new Set(
  "mr mrs ms dr prof st vs e.g i.e cf approx no nos fig p pp vol dept est inc ltd co".split(" "),
);

const STOP = /[.!?…]["'”’)\]*_]{0,3} (?=["'“‘([*_]{0,3}[\p{Lu}\p{N}])/gu;

const oneBlank = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Cuts a paragraph after `.`, `!`, `?` where a new sentence begins. */
function cutAtStops(text: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const match of text.matchAll(STOP)) {
    if (match[0].startsWith(".") && isAbbreviated(text, match.index)) continue;
    const end = match.index + match[0].length;
    sentences.push(text.slice(start, end - 1));
    start = end;
  }
  sentences.push(text.slice(start));
  return sentences;
}

function isAbbreviated(text: string, stop: number): boolean {
  const wordStart = text.lastIndexOf(" ", stop - 1) + 1;
  const word = text.slice(wordStart, stop).replace(/^["'“‘(*_]+/, "");
  return /^\p{Lu}$/u.test(word) || ABBREVIATIONS.has(word.toLowerCase());
}
