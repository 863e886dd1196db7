import { detectLanguage } from "../../text/detect-language.ts";
import type { EvidenceBlock } from "../../models/model.ts";
import { isShowable } from "./is-showable.ts";
import { leadIn } from "./lead-in.ts";
import { needsSentenceBefore } from "./needs-sentence-before.ts";
import { speakerOf } from "./speaker.ts";
import { splitSentences } from "./split-sentences.ts";
import { contentStems, stemReader } from "./words.ts";

/** A sentence that an answer may be made of, with the words to judge it by. */
export type Candidate = {
  readonly text: string;
  readonly kind: "sentence" | "line" | "header";
  /** Number of its piece of evidence. */
  readonly number: number;
  readonly path: string;
  /** Place in the evidence as a whole, from 0. */
  readonly position: number;
  readonly stems: readonly string[];
  /** Words of headings, title and path that it stands under; the same set for all that stand under them. */
  readonly contextStems: ReadonlySet<string>;
  /** Words of the name of the one who speaks its paragraph; the same array throughout it. */
  readonly speakerStems: readonly string[];
  /** The two highest headings above it. */
  readonly section: string;
  /** Its paragraph, and where it stands in it. */
  readonly block: string;
  readonly start: number;
  /** Where in the paragraph to begin to show it, with the sentences that it needs; null where they can't be had. */
  readonly shownFrom: number | null;
  /** Sentences that are shown for it, itself included, and the stems of them all. */
  readonly sentences: number;
  readonly shownStems: readonly string[];
};

/** All that could be shown from the evidence, in its order; a sentence that stands there twice comes once. */
export function candidatesOf(evidence: readonly EvidenceBlock[]): Candidate[] {
  const seen = new Set<string>();
  const stemsOf = stemReader();
  let count = 0;
  return evidence
    .flatMap((block) => {
      const found = candidatesIn(block, count, stemsOf);
      count += found.length;
      return found;
    })
    .filter(({ text }) => isShowable(text) && !seen.has(text) && seen.add(text));
}

/** @param before sentences of the evidence before this piece */
function candidatesIn(
  { number, path, title, headingPath, text }: EvidenceBlock,
  before: number,
  stemsOf: (text: string) => string[],
): Candidate[] {
  const around = `${title ?? ""} ${headingPath ?? ""} ${fileWords(path)}`;
  const contextOf = remembered((context) => new Set(contentStems(`${around} ${context}`)));
  const sentences = splitSentences(text);
  const language = detectLanguage(text);
  const stems = sentences.map((sentence) => stemsOf(sentence.text));
  const needsBefore = sentences.map(
    ({ kind, text: said, context }) =>
      kind === "sentence" && needsSentenceBefore(said, contextOf(context), language),
  );
  let speakerStems: readonly string[] = [];
  return sentences.map((sentence, index) => {
    const contextStems = contextOf(sentence.context);
    if (sentence.start === 0) speakerStems = contentStems(speakerOf(sentence.block) ?? "");
    const lead = leadIn(sentences, index, needsBefore);
    const own = stems[index] ?? [];
    const shownStems =
      lead.sentences === 1 ? own : stems.slice(index + 1 - lead.sentences, index + 1).flat();
    const place = { number, path, position: before + index, contextStems, speakerStems };
    return { ...sentence, ...place, ...lead, stems: own, shownStems };
  });
}

/** Folders and file name, without the extension: a note in "closing/" is about closing. */
const fileWords = (path: string): string => path.replace(/\.[^./]*$/, "");

function remembered<T>(compute: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const value = known.get(key) ?? compute(key);
    known.set(key, value);
    return value;
  };
}
