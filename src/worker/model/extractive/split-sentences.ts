import { splitBlocks } from "./split-blocks.ts";

/** A stretch of a text that can be shown as it is. */
export type Sentence = {
  /** Verbatim, but that a run of white space is one blank, and that a table row names its columns. */
  readonly text: string;
  /** A row of a table or a line of JSON is a key fact rather than a sentence. */
  readonly kind: "sentence" | "line";
  /** Words that stand around it and say what it is about: headings above it, the head of its table. */
  readonly context: string;
  /** The two highest headings above it. */
  readonly section: string;
  /** Number of its paragraph; sentences of one follow each other. */
  readonly paragraph: number;
  /** Its paragraph as a whole, verbatim as `text` is. */
  readonly block: string;
  /** Where it begins in its paragraph. */
  readonly start: number;
};

/** Longer stretches are no sentences, but text that nobody punctuated. */
const MAX_CHARS = 700;

/** The sentences of a markdown, plain or JSON text, in order. */
export const splitSentences = (text: string): Sentence[] =>
  splitBlocks(text).flatMap(({ kind, text: raw, context, section }, paragraph): Sentence[] => {
    const block = oneBlank(raw);
    const around = { context, section, paragraph, block };
    if (kind === "line") {
      const line: Sentence = { ...around, text: block, kind, start: 0 };
      return [line].filter(isShort);
    }
    return cutAtStops(block)
      .map((part): Sentence => ({ ...around, ...part, kind: "sentence" }))
      .filter(isShort);
  });

const isShort = ({ text }: Sentence): boolean => text.length > 1 && text.length <= MAX_CHARS;

/** Who wrote the lines above: a short name after a dash after the last stop. After a quote it says who spoke, and stays. */
const SIGNATURE = /(?<=[.!?…)]) [—–-]{1,2} \p{Lu}[\p{L}.]{0,19}(?: \p{Lu}[\p{L}.]{0,19}){0,2}$/u;

/** Words before a full stop that does not end a sentence. */
const ABBREVIATIONS = new Set(
  "mr mrs ms dr prof st vs e.g i.e cf approx no nos fig p pp vol dept est inc ltd co".split(" "),
);

const STOP = /[.!?…]["'”’)\]*_]{0,3} (?=["'“‘([*_]{0,3}[\p{Lu}\p{N}])/gu;

const oneBlank = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Cuts a paragraph after `.`, `!`, `?` where a new sentence begins. */
function cutAtStops(block: string): { text: string; start: number }[] {
  const parts: { text: string; start: number }[] = [];
  let start = 0;
  const cut = (end: number): void => {
    parts.push({ text: block.slice(start, end).replace(SIGNATURE, ""), start });
  };
  for (const match of block.matchAll(STOP)) {
    if (match[0].startsWith(".") && isAbbreviated(block, match.index)) continue;
    const end = match.index + match[0].length;
    cut(end - 1);
    start = end;
  }
  cut(block.length);
  return parts;
}

function isAbbreviated(text: string, stop: number): boolean {
  const wordStart = text.lastIndexOf(" ", stop - 1) + 1;
  const word = text.slice(wordStart, stop).replace(/^["'“‘(*_]+/, "");
  return /^\p{Lu}$/u.test(word) || ABBREVIATIONS.has(word.toLowerCase());
}
