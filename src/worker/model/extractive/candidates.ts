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
 * False for what the check of an answer would take for something else: a citation of its own, half a quote or half
 * of code, or the marks of the protocol.
 */
const isShowable = (text: string): boolean =>
  !OWN_CITATION.test(text) &&
  !PROTOCOL.test(text) &&
  ['"', "`"].every((mark) => count(text, mark) % 2 === 0) &&
  PAIRS.every(([open, close]) => count(text, open) === count(text, close)) &&
  areCurlyClosed(text);

const OWN_CITATION = /[[【［][\s,;–—-]*\p{Nd}[\p{Nd}\s,;–—-]*[\]】］]/u;
const PROTOCOL = /tool_call|insufficient[_ ]evidence|\bscope[*_\s]{0,8}[:：]/i;
const PAIRS = ["«»", "‹›", "「」", "『』"].map((pair) => [pair.charAt(0), pair.charAt(1)] as const);

/** “English” or „German“ and „Polish”. */
function areCurlyClosed(text: string): boolean {
  const [low, left, right] = ["„", "“", "”"].map((mark) => count(text, mark));
  return low === 0 ? left === right : low === (left ?? 0) + (right ?? 0);
}

const count = (text: string, mark: string): number =>
  text.includes(mark) ? text.split(mark).length - 1 : 0;
