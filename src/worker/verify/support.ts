import { labelsOf } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { stemWord, STOP_WORDS, wordsOf } from "../text/content-words.ts";
import { sentenceSpans } from "../text/spans.ts";
import type { TextSpan } from "../text/spans.ts";

/** Holders of one term that are counted; a term with more says little of where a sentence comes from. */
const MOST_HOLDERS = 200;
/** Windows that are measured exactly. */
const MOST_CANDIDATES = 20;

/** The words of a sentence of an answer, without citations. */
export type Claim = { readonly words: string };

/** One sentence, or two that follow each other in one piece. */
type Window = { readonly first: number; readonly last: number };

/**
 * The terms of a claim, each with its weight: idf(t) = ln(1 + N / (1 + n(t))) with N sentences of evidence, of which n(t)
 * hold t. Terms are distinct stems without stop words; their order does not count.
 */
export function weightsOf(
  words: string,
  { sentences, holders, termsOf }: SupportIndex,
): Map<number, number> {
  const weightOf = (term: number): number =>
    Math.log(1 + sentences.length / (1 + (holders[term]?.length ?? 0)));
  return new Map(termsOf(words).map((term) => [term, weightOf(term)]));
}

type Measured = Window & { readonly score: number };

/**
 * The one or two neighbouring sentences of a piece that hold most of a claim, and how much:
 *
 *   score = Σ idf(t) over its terms t that the window or its headings hold / Σ idf(t) over all its terms
 *
 * Of windows with the same score the shorter and then the earlier one is given. Near linear: of a term the first 200 holders are
 * counted. Rounded to four digits.
 */
export function bestWindow(
  weights: ReadonlyMap<number, number>,
  index: SupportIndex,
): Measured | null {
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  let best: Measured | null = null;
  for (const start of candidates(weights, index)) {
    for (const window of [
      { first: start, last: start },
      { first: start + 1, last: start + 1 },
      { first: start, last: start + 1 },
    ]) {
      const held = heldBy(window, weights, index.sentences);
      const score = Math.round(Math.min(1, held / total) * 10_000) / 10_000;
      if (score > (best?.score ?? 0)) best = { ...window, score };
    }
  }
  return best;
}

/** Where the windows start that hold most by their own words, the best first. */
function candidates(
  weights: ReadonlyMap<number, number>,
  { sentences, holders, sums }: SupportIndex,
): number[] {
  const touched: number[] = [];
  for (const [term, weight] of weights) {
    let counted = -1;
    for (const holder of holders[term]?.slice(0, MOST_HOLDERS) ?? []) {
      for (let start = Math.max(holder - 1, counted + 1); start <= holder; start += 1) {
        counted = start;
        if (!isWindow(start, holder, sentences)) continue;
        if (sums[start] === 0) touched.push(start);
        sums[start] = (sums[start] ?? 0) + weight;
      }
    }
  }
  const best = highest(touched, sums);
  for (const start of touched) sums[start] = 0;
  return best;
}

function highest(starts: readonly number[], sums: Float64Array): number[] {
  const best: number[] = [];
  for (const start of starts) {
    const sum = sums[start] ?? 0;
    if (best.length === MOST_CANDIDATES && sum <= (sums[best.at(-1) ?? 0] ?? 0)) continue;
    const at = best.findIndex((other) => (sums[other] ?? 0) < sum);
    best.splice(at === -1 ? best.length : at, 0, start);
    if (best.length > MOST_CANDIDATES) best.pop();
  }
  return best;
}

const isWindow = (first: number, last: number, sentences: readonly EvidenceSentence[]): boolean =>
  sentences[first]?.block === sentences[last]?.block;

function heldBy(
  { first, last }: Window,
  weights: ReadonlyMap<number, number>,
  sentences: readonly EvidenceSentence[],
): number {
  const [one, other] = [sentences[first], sentences[last]];
  if (one === undefined || one.block !== other?.block) return 0;
  const isHeld = (term: number): boolean =>
    one.terms.includes(term) ||
    one.context.has(term) ||
    other.terms.includes(term) ||
    other.context.has(term);
  return [...weights].reduce((sum, [term, weight]) => (isHeld(term) ? sum + weight : sum), 0);
}

/** A sentence of a piece. */
type EvidenceSentence = TextSpan & {
  readonly block: CitableBlock;
  readonly terms: readonly number[];
  /** Terms of the headings, the title and the path that it stands under, which it need not repeat. */
  readonly context: ReadonlySet<number>;
};

export type SupportIndex = {
  readonly sentences: readonly EvidenceSentence[];
  /** By term, the sentences that hold it, in order. */
  readonly holders: readonly (readonly number[] | undefined)[];
  readonly termsOf: TermReader;
  /** A place to add up in, one for each sentence; all zero between two uses. */
  readonly sums: Float64Array;
};

/** A heading says what it is about in its first words. */
const MOST_HEADING_TERMS = 24;
const HEADING = /^\s*(#{1,6})[ \t]+/;

/** Cuts all pieces into sentences, once, and notes which hold which term. */
export function indexSupport(evidence: readonly CitableBlock[]): SupportIndex {
  const termsOf = termReader();
  const sentences = evidence.flatMap((block) => sentencesOf(block, termsOf));
  const holders: number[][] = [];
  sentences.forEach(({ terms }, index) => {
    for (const term of terms) {
      const held = holders[term];
      if (held === undefined) holders[term] = [index];
      else held.push(index);
    }
  });
  return { sentences, holders, termsOf, sums: new Float64Array(sentences.length) };
}

function sentencesOf(block: CitableBlock, termsOf: TermReader): EvidenceSentence[] {
  const { text } = block;
  const labels = labelsOf(block).flatMap((label) => termsOf(label).slice(0, MOST_HEADING_TERMS));
  const headings: { readonly level: number; readonly terms: readonly number[] }[] = [];
  let context: ReadonlySet<number> = new Set(labels);
  return sentenceSpans(text).map((span) => {
    const sentence = text.slice(span.start, span.end);
    const terms = termsOf(sentence);
    const level = HEADING.exec(sentence)?.[1]?.length;
    if (level !== undefined) {
      while ((headings.at(-1)?.level ?? 0) >= level) headings.pop();
      headings.push({ level, terms: terms.slice(0, MOST_HEADING_TERMS) });
      context = new Set([...labels, ...headings.flatMap((heading) => heading.terms)]);
    }
    return { start: span.start, end: span.end, block, terms, context };
  });
}

const IDEOGRAPHS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;

/** Words that answer without a subject. */
const BARE_ANSWERS: ReadonlySet<string> = new Set(
  "yes no ja nein oui non sí si はい いいえ okay".split(" "),
);

/** Whether a text says nothing that a document could hold: "Yes.", "It is not." */
export function isBareAnswer(text: string): boolean {
  const words = wordsOf(text);
  return words.length > 0 && words.every((word) => stemsOf(word).length === 0);
}

/** Gives the distinct terms of a text, each as its number; the same term has the same number in every text. */
type TermReader = (text: string) => number[];

/**
 * Terms are stems of the words that carry a subject; in scripts without blanks pairs of characters. Each word is
 * stemmed once.
 */
function termReader(): TermReader {
  const numbers = new Map<string, number>();
  const byWord = new Map<string, readonly number[]>();
  /** The reading in which a term was met last. */
  const metIn: number[] = [];
  let reading = 0;

  const numberOf = (term: string): number => {
    const number = numbers.get(term) ?? numbers.size;
    numbers.set(term, number);
    return number;
  };
  const termsOf = (word: string): readonly number[] => {
    const terms = byWord.get(word) ?? stemsOf(word).map(numberOf);
    byWord.set(word, terms);
    return terms;
  };
  return (text) => {
    reading += 1;
    const found: number[] = [];
    for (const word of wordsOf(text)) {
      for (const term of termsOf(word)) {
        if (metIn[term] === reading) continue;
        metIn[term] = reading;
        found.push(term);
      }
    }
    return found;
  };
}

function stemsOf(word: string): string[] {
  if (STOP_WORDS.has(word) || BARE_ANSWERS.has(word)) return [];
  return IDEOGRAPHS.test(word) ? pairsOf(word) : [stemWord(word)];
}

function pairsOf(word: string): string[] {
  const characters = Array.from(word);
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => (characters[index] ?? "") + character);
}
