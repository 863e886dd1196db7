import { DECLINED } from "../model.ts";
import type { EvidenceBlock } from "../model.ts";
import { splitSentences } from "./split-sentences.ts";
import { contentStems } from "./words.ts";

/** A sentence that an answer may be made of, with the words to judge it by. */
export type Candidate = {
  readonly text: string;
  readonly kind: "sentence" | "line";
  /** Number of its piece of evidence. */
  readonly number: number;
  readonly path: string;
  /** Place in the evidence as a whole, from 0. */
  readonly position: number;
  readonly stems: readonly string[];
  /** Words of headings, title and path that it stands under. */
  readonly contextStems: ReadonlySet<string>;
  /** Words of the sentences right before and after it. */
  readonly neighbourStems: readonly string[];
};

/** All that could be shown from the evidence, in its order; a sentence that stands there twice comes once. */
export function candidatesOf(evidence: readonly EvidenceBlock[]): Candidate[] {
  const seen = new Set<string>();
  return evidence
    .flatMap(candidatesIn)
    .filter(({ text }) => isShowable(text) && !seen.has(text) && seen.add(text))
    .map((candidate, position) => ({ ...candidate, position }));
}

function candidatesIn({ number, path, title, headingPath, text }: EvidenceBlock): Candidate[] {
  const around = `${title ?? ""} ${headingPath ?? ""} ${fileWords(path)}`;
  const contexts = new Map<string, ReadonlySet<string>>();
  const contextOf = (context: string): ReadonlySet<string> => {
    const known = contexts.get(context) ?? new Set(contentStems(`${around} ${context}`));
    contexts.set(context, known);
    return known;
  };
  const sentences = splitSentences(text).map((sentence) => ({
    ...sentence,
    stems: contentStems(sentence.text),
  }));
  return sentences.map(({ text: shown, kind, context, paragraph, stems }, position) => {
    const neighbourStems = [sentences[position - 1], sentences[position + 1]].flatMap((other) =>
      other?.paragraph === paragraph ? other.stems : [],
    );
    const contextStems = contextOf(context);
    return { text: shown, kind, number, path, position, stems, contextStems, neighbourStems };
  });
}

/** Folders and file name, without the extension: a note in "closing/" is about closing. */
const fileWords = (path: string): string => path.replace(/\.[^./]*$/, "");

/**
 * False for what the check of an answer would take for something else: a citation of its own, half a quote, or
 * the marks of the protocol.
 */
const isShowable = (text: string): boolean =>
  !/\[[,; ]*\d[\d,; ]*\]/.test(text) &&
  count(text, '"') % 2 === 0 &&
  count(text, "“") === count(text, "”") &&
  count(text, "«") === count(text, "»") &&
  !text.includes("tool_call") &&
  !text.includes(DECLINED) &&
  !/^scope:/i.test(text);

const count = (text: string, mark: string): number =>
  text.includes(mark) ? text.split(mark).length - 1 : 0;
