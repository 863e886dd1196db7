import type { EvidenceBlock } from "../../../models/model.ts";
import { stemWord } from "../stem-word.ts";
import { wordsOf } from "../words.ts";
import { addressesTheSorter, readDocument, sentencesOf } from "./document-items.ts";
import type { DocumentItem } from "./document-items.ts";
import { LABEL_CUES, OTHER_LABELS } from "./label-cues.ts";
import { priorityOf } from "./priority.ts";

/** What a word of a label or a cue counts, by where it stands. */
const IN_PATH = { own: 8, cue: 3, most: 16 };
const IN_TITLE = { own: 6, cue: 3, most: 12 };
const IN_HEADING = { own: 2, cue: 1, most: 6 };
/** A long text has every word once. */
const IN_TEXT = { own: 1.5, cue: 1, most: 7 };
/** With less than this a label that takes the rest is the better one. */
const SLIGHT = 4;

type Weights = typeof IN_PATH;
/** How often a stem occurs, and how it is written first. */
type Stem = { readonly word: string; times: number };
type Stems = ReadonlyMap<string, Stem>;
type Zone = { readonly stems: Stems; readonly weights: Weights };
type Terms = { readonly own: readonly string[]; readonly cues: readonly string[] };
type Classified = {
  readonly quote: string;
  readonly reason: string;
  readonly label: string;
  readonly priority: "high" | "normal" | "low";
};

/**
 * Sorts a document by words: those of each label, and those that documents of its kind are full of, weighted by where
 * they stand (name of file and folder, title, headings, text). Text that says how it wants to be sorted does not count.
 *
 * @returns null where no label has a word in it, and none of them takes the rest
 */
export function classify(
  evidence: readonly EvidenceBlock[],
  labels: readonly string[],
): Classified | null {
  const items = evidence.flatMap(({ text }) => readDocument(text).items).filter(isForReaders);
  const zones = zonesOf(evidence, items);
  const scored = labels.map((label) => ({
    label,
    terms: termsOf(label),
    ...scoreOf(termsOf(label), zones),
  }));
  const [best] = scored.toSorted((one, other) => other.score - one.score);
  const rest = scored.find(({ label }) => takesTheRest(label));
  const isSlight =
    best === undefined || best.score < (rest === undefined ? Number.MIN_VALUE : SLIGHT);
  const chosen = isSlight ? rest : best;
  const sentence = chosen === undefined ? null : carrierOf(chosen.terms, items);
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

const MOST_NAMED = 6;

const isForReaders = ({ text }: DocumentItem): boolean => !addressesTheSorter(text);
const takesTheRest = (label: string): boolean =>
  wordsOf(label).some((word) => OTHER_LABELS.has(word));

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
  const kinds = LABEL_CUES.filter(({ names }) =>
    wordsOf(names).some((name) => own.includes(stemWord(name))),
  );
  const cues = kinds.flatMap((kind) => wordsOf(`${kind.cues} ${kind.names}`)).map(stemWord);
  return { own, cues: [...new Set(cues)].filter((cue) => !own.includes(cue)) };
}

type Score = {
  readonly score: number;
  /** Words, best first. */ readonly found: readonly string[];
};

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

/** A long word also counts as the beginning of another, as German joins them. */
const LONG = 6;

function foundAs(term: string, stems: Stems): readonly Stem[] {
  const stem = stems.get(term);
  if (stem !== undefined) return [stem];
  if (term.length < LONG) return [];
  for (const [other, joined] of stems) if (other.startsWith(term)) return [joined];
  return [];
}

/** Whole words of a text that has no sentences. */
const beginningOf = (item: DocumentItem | undefined): string | null =>
  item === undefined ? null : (/^.{1,280}(?=\s|$)/.exec(item.text)?.[0] ?? null);

/** The sentence that holds most of a label's words; a heading where no sentence holds one; the first words at last. */
function carrierOf(terms: Terms, items: readonly DocumentItem[]): string | null {
  const sentences = items
    .flatMap((item) => sentencesOf(item).map((text) => ({ text, mark: item.mark })))
    .filter(({ text, mark }) => text.length > 3 && text.length <= 600 && mark !== "row");
  let best: string | null = null;
  let highest = 0;
  for (const { text, mark } of sentences) {
    const stems = new Set(wordsOf(text).map(stemWord));
    const own = terms.own.filter((term) => stems.has(term)).length;
    const cues = terms.cues.filter((term) => stems.has(term)).length;
    const weight = (own * 2 + cues) * (mark === "heading" ? 0.9 : 1);
    if (weight > highest) [best, highest] = [text, weight];
  }
  return best ?? sentences[0]?.text ?? beginningOf(items[0]);
}
