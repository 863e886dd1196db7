import { once } from "../../../shared/once.ts";
import { allWordFiles, mergeByKey } from "../../../shared/text/word-lists.ts";
import type { EvidenceBlock } from "../model.ts";
import { addressesTheSorter, parseDocument, sentencesOf } from "./document-items.ts";
import type { DocumentItem } from "./document-items.ts";
import { deadlineIn } from "./dates.ts";
import { stemWord, subjectWordsOf, wordsOf } from "../../text/content-words.ts";

/** The weight of a word of a label (`own`) or of a cue, by where it stands. */
const IN_PATH = { own: 8, cue: 3, most: 16 };
const IN_TITLE = { own: 6, cue: 3, most: 12 };
const IN_HEADING = { own: 2, cue: 1, most: 6 };
/** Low, because a long text contains nearly every word once. */
const IN_TEXT = { own: 1.5, cue: 1, most: 7 };
/** Below this score a label for the rest is preferred. */
const SLIGHT = 4;

type Weights = typeof IN_PATH;
/** How often a stem occurs, and its first spelling. */
type Stem = { readonly word: string; times: number };
type Stems = ReadonlyMap<string, Stem>;
type Zone = { readonly stems: Stems; readonly weights: Weights };
type Terms = { readonly own: readonly string[]; readonly cues: readonly string[] };
export type Classified = {
  readonly quote: string;
  readonly reason: string;
  readonly label: string;
  readonly priority: "high" | "normal" | "low";
};

/**
 * Classifies a document by words: those of each label, and those that are typical for documents of its kind, weighted by
 * where they stand (name of file and folder, title, headings, text). Text that says how to classify it does not count.
 *
 * @returns null if no word of any label occurs, and no label takes the rest
 */
export function classify(
  evidence: readonly EvidenceBlock[],
  labels: readonly string[],
): Classified | null {
  const items = itemsForReaders(evidence);
  const scored = scoreLabels(labels, evidence, items);
  const [best] = scored.toSorted((one, other) => other.score - one.score);
  const rest = scored.find(({ label }) => takesTheRest(label));
  const isSlight =
    best === undefined || best.score < (rest === undefined ? Number.MIN_VALUE : SLIGHT);
  const chosen = isSlight ? rest : best;
  const sentence =
    chosen === undefined ? null : supportingSentence(items, weighByTerms(chosen.terms));
  if (chosen === undefined || sentence === null) return null;
  const why =
    chosen === rest || chosen.found.length === 0
      ? "No other label fits its words"
      : `By its words ${chosen.found.slice(0, MOST_NAMED).join(", ")}`;
  return {
    quote: sentence,
    reason: `${why}: ${sentence}`,
    label: chosen.label,
    priority: priorityOf(items),
  };
}

/** The most words in a reason. */
export const MOST_NAMED = 6;

/** The items of a document without text that addresses whoever classifies it. */
export const itemsForReaders = (evidence: readonly Pick<EvidenceBlock, "text">[]): DocumentItem[] =>
  evidence
    .flatMap(({ text }) => parseDocument(text).items)
    .filter(({ text }) => !addressesTheSorter(text));

export const takesTheRest = (label: string): boolean =>
  wordsOf(label).some((word) => otherLabels().has(word));

function zonesOf(evidence: readonly EvidenceBlock[], items: readonly DocumentItem[]): Zone[] {
  const headings = items.filter(({ mark }) => mark === "heading");
  const titles = [...new Set(evidence.flatMap(({ title }) => (title === null ? [] : [title])))];
  const paths = [...new Set(evidence.map(({ path }) => path.replace(/\.[^./]*$/, "")))];
  const texts = items.filter(({ mark }) => mark !== "heading");
  return [
    { stems: countStems(paths), weights: IN_PATH },
    { stems: countStems(titles), weights: IN_TITLE },
    { stems: countStems(headings.map(({ text }) => text)), weights: IN_HEADING },
    { stems: countStems(texts.map(({ text }) => text)), weights: IN_TEXT },
  ];
}

function countStems(texts: readonly string[]): Stems {
  const counts = new Map<string, Stem>();
  for (const word of texts.flatMap(wordsOf)) {
    const stem = stemWord(word);
    const counted = counts.get(stem);
    if (counted === undefined) counts.set(stem, { word, times: 1 });
    else counted.times += 1;
  }
  return counts;
}

function termsOf(label: string): Terms {
  const words = wordsOf(label.replace(/[-_/]/g, " "));
  const own = [...new Set(words.map(stemWord))];
  const kinds = labelKinds().filter(({ names }) => names.some((name) => own.includes(name)));
  const cues = kinds.flatMap((kind) => [...kind.cues, ...kind.names]);
  return { own, cues: [...new Set(cues)].filter((cue) => !own.includes(cue)) };
}

type Score = {
  readonly score: number;
  /** Words, best first. */ readonly found: readonly string[];
};
type LabelScore = Score & { readonly label: string; readonly terms: Terms };

/** The score of each label by its words and those of its kind: from 0 to the sum of the limits of all zones. */
export function scoreLabels(
  labels: readonly string[],
  evidence: readonly EvidenceBlock[],
  items: readonly DocumentItem[],
): LabelScore[] {
  const zones = zonesOf(evidence, items);
  return labels.map((label) => {
    const terms = termsOf(label);
    return { label, terms, ...scoreOf(terms, zones) };
  });
}

function scoreOf({ own, cues }: Terms, zones: readonly Zone[]): Score {
  let score = 0;
  const found = new Map<string, number>();
  for (const { stems, weights } of zones) {
    let inZone = 0;
    for (const [terms, weight] of [[own, weights.own] as const, [cues, weights.cue] as const]) {
      for (const stem of terms.flatMap((term) => foundAs(term, stems))) {
        const gain = weight * Math.log2(1 + stem.times);
        inZone += gain;
        found.set(stem.word, (found.get(stem.word) ?? 0) + gain);
      }
    }
    score += Math.min(inZone, weights.most);
  }
  const best = [...found].sort(([, one], [, other]) => other - one).map(([word]) => word);
  return { score, found: best };
}

/** A long word also matches as the beginning of another, because German joins words. */
const LONG = 6;

function foundAs(term: string, stems: Stems): readonly Stem[] {
  const stem = stems.get(term);
  if (stem !== undefined) return [stem];
  if (term.length < LONG) return [];
  for (const [other, joined] of stems) if (other.startsWith(term)) return [joined];
  return [];
}

/** The first whole words of a text that has no sentences. */
const beginningOf = (item: DocumentItem | undefined): string | null =>
  item === undefined ? null : (/^.{1,280}(?=\s|$)/.exec(item.text)?.[0] ?? null);

/** How much the stems of a sentence support a label. */
type WeighStems = (stems: ReadonlySet<string>) => number;

const weighByTerms =
  ({ own, cues }: Terms): WeighStems =>
  (stems) =>
    own.filter((term) => stems.has(term)).length * 2 +
    cues.filter((term) => stems.has(term)).length;

/** The sentence that supports a label most; a heading if no sentence does; at last the first words. */
export function supportingSentence(
  items: readonly DocumentItem[],
  weigh: WeighStems,
): string | null {
  const sentences = items
    .flatMap((item) => sentencesOf(item).map((text) => ({ text, mark: item.mark })))
    .filter(({ text, mark }) => text.length > 3 && text.length <= 600 && mark !== "row");
  let best: string | null = null;
  let highest = 0;
  for (const { text, mark } of sentences) {
    const weight =
      weigh(new Set(subjectWordsOf(text).map(stemWord))) * (mark === "heading" ? 0.9 : 1);
    if (weight > highest) [best, highest] = [text, weight];
  }
  return best ?? sentences[0]?.text ?? beginningOf(items[0]);
}

/** Names of common kinds of documents in labels, and words typical for each kind. Other labels match only by their own words. */
const labelKinds = once(() => {
  const cues = mergeByKey((file) => file.kind_cues);
  return [...mergeByKey((file) => file.kinds)].map(([kind, names]) => ({
    names: wordsOf(names.join(" ")).map(stemWord),
    cues: wordsOf((cues.get(kind) ?? []).join(" ")).map(stemWord),
  }));
});
const otherLabels = once(() => new Set(allWordFiles().flatMap(({ others }) => others)));

/** Words of urgency. "Immediately" and the like stand in every set of instructions, and count only at the head of a document. */
const URGENT =
  /(?<!\p{L})(?:urgent(?:ly)?|asap|as soon as possible|overdue|final (?:notice|reminder|demand)|last reminder|payment reminder|dringend|eilt|überfällig|(?:letzte|zweite|dritte) mahnung|unverzüglich)(?!\p{L})/iu;
const URGENT_AT_HEAD =
  /\b(?:emergency|danger(?:ous)?|warning|alarm|injur(?:ed|y|ies)|immediate(?:ly)?|notfall|gefahr|warnung|verletzt|sofort)(?!\p{L})/iu;
const NOBODY_ACTS =
  /\b(?:for (?:your )?information(?: only)?|fyi|no action (?:is )?(?:needed|required)|newsletter|zur (?:kenntnis|information)|archived?|closed|erledigt)(?!\p{L})/iu;
const OPEN_TASK = /\b(?:todo|to do|action item|please|must|has to|bitte|muss|aufgabe)(?!\p{L})/iu;

const HEAD_ITEMS = 3;

/** How soon somebody has to act, judged only by words and dates. */
export function priorityOf(items: readonly DocumentItem[]): "high" | "normal" | "low" {
  const head = items.slice(0, HEAD_ITEMS).map(({ text }) => text);
  if (
    items.some(({ text }) => URGENT.test(text)) ||
    head.some((text) => URGENT_AT_HEAD.test(text))
  ) {
    return "high";
  }
  if (head.some((text) => NOBODY_ACTS.test(text))) return "low";
  const isOpen = items.some(
    (item) =>
      item.mark === "open" ||
      sentencesOf(item).some((text) => OPEN_TASK.test(text) || deadlineIn(text) !== null),
  );
  return isOpen ? "normal" : "low";
}
