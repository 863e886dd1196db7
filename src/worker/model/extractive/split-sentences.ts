import { cutToFit, sentenceEnds } from "../../text/sentences.ts";
import { splitBlocks } from "./split-blocks.ts";

/** A stretch of a text that can be shown as it is. */
export type Sentence = {
  /** Verbatim, but that a run of white space is one blank, and that a table row names its columns. */
  readonly text: string;
  /** A row of a table, a line of JSON and a member of a mail's header are key facts rather than sentences. */
  readonly kind: "sentence" | "line" | "header";
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

/** Longer stretches are text that nobody punctuated; they are shown in parts. */
const MAX_CHARS = 700;

/** The sentences of a markdown, plain or JSON text, in order. Nothing is left out but single characters. */
export const splitSentences = (text: string): Sentence[] =>
  splitBlocks(text).flatMap(({ kind, text: raw, context, section }, paragraph): Sentence[] => {
    const block = oneBlank(raw);
    const around = { context, section, paragraph, block };
    const whole = [{ start: 0, end: block.length }];
    return (kind === "paragraph" ? sentencesOf(block) : whole)
      .flatMap((span) => cutToFit(block, span, MAX_CHARS))
      .map((span): Sentence => {
        const said = block.slice(span.start, span.end);
        const shown = kind === "paragraph" ? said.replace(SIGNATURE, "") : said;
        return {
          ...around,
          text: shown,
          start: span.start,
          kind: kind === "paragraph" ? "sentence" : kind,
        };
      })
      .filter((sentence) => sentence.text.length > 1);
  });

/** Who wrote the lines above: a short name after a dash after the last stop. After a quote it says who spoke, and stays. */
const SIGNATURE = /(?<=[.!?…)]) [—–-]{1,2} \p{Lu}[\p{L}.]{0,19}(?: \p{Lu}[\p{L}.]{0,19}){0,2}$/u;

const oneBlank = (text: string): string => text.replace(/\s+/g, " ").trim();

function sentencesOf(block: string): { start: number; end: number }[] {
  let from = 0;
  return sentenceEnds(block).map((end) => {
    const span = { start: from, end };
    from = block.charAt(end) === " " ? end + 1 : end;
    return span;
  });
}
