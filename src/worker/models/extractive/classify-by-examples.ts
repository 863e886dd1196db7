import { hashJson } from "../../../shared/schema/json-value.ts";
import type { LabelExample } from "../../../shared/job/label-examples.ts";
import { contentStems, stemWord, subjectWordsOf } from "../../text/content-words.ts";
import { cosineOf, sumOf, weighWords } from "../../text/word-vectors.ts";
import type { WordVector, WordWeighting } from "../../text/word-vectors.ts";
import type { EvidenceBlock } from "../model.ts";
import {
  itemsForReaders,
  MOST_NAMED,
  priorityOf,
  scoreLabels,
  supportingSentence,
  takesTheRest,
} from "./classify.ts";
import type { Classified } from "./classify.ts";
import type { DocumentItem } from "./document-items.ts";
import { append } from "../../../shared/group-by.ts";

/**
 * The weight of the words of a label and of its kind, beside the similarity to its examples, which is from 0 to 1. With .03
 * fewer kinds of texts get a label, with .08 fewer articles (bench/labels.ts).
 */
const WORD_SHARE = 0.05;
/**
 * The lead of the best label, as a share of its score. With .1 three to six more texts of a hundred get the right label, and
 * one to six more a wrong one.
 */
const LEAST_LEAD = 0.15;

/**
 * Labels a document by texts with known labels: by the cosine between its groups of four letters and those of all examples of
 * a label (Rocchio's classifier), and by the words of the labels themselves.
 *
 * @returns null if no label leads by enough; a label for the rest that has no examples is returned instead
 */
export function classifyByExamples(
  evidence: readonly EvidenceBlock[],
  labels: readonly string[],
  examples: readonly LabelExample[],
): Classified | null {
  const items = itemsForReaders(evidence);
  const chosen = chooseLabel(scoreAll(evidence, items, { labels, examples }));
  const rest = labels.find(
    (label) => takesTheRest(label) && examples.every((example) => example.label !== label),
  );
  const label = chosen ?? rest;
  if (label === undefined) return null;
  const words = tellingWords(compareWithLabels(profileBy("stems", examples), textOf(items)), label);
  const quote = supportingSentence(items, (stems) => weightOf(words, stems));
  if (quote === null) return null;
  const named = namesOf(words, items);
  const why =
    chosen === undefined || named.length === 0
      ? "No other label fits its words"
      : `By its words ${named.join(", ")}, as in the examples of ${JSON.stringify(label)}`;
  return { quote, reason: `${why}: ${quote}`, label, priority: priorityOf(items) };
}

type Scored = { readonly label: string; readonly score: number };
type Labelling = { readonly labels: readonly string[]; readonly examples: readonly LabelExample[] };

function scoreAll(
  evidence: readonly EvidenceBlock[],
  items: readonly DocumentItem[],
  { labels, examples }: Labelling,
): readonly Scored[] {
  const { document, centroids } = compareWithLabels(profileBy("groups", examples), textOf(items));
  return scoreLabels(labels, evidence, items).map(({ label, score }) => {
    const centroid = centroids.get(label);
    const likeness = centroid === undefined ? 0 : cosineOf(document, centroid);
    return { label, score: likeness + WORD_SHARE * score };
  });
}

function chooseLabel(scored: readonly Scored[]): string | undefined {
  const [best, second] = scored.toSorted((one, other) => other.score - one.score);
  if (best === undefined || second === undefined || best.score === 0) return undefined;
  return best.score - second.score >= LEAST_LEAD * best.score ? best.label : undefined;
}

const textOf = (items: readonly DocumentItem[]): string => items.map(({ text }) => text).join("\n");

/** All groups of four consecutive letters of a word with a blank on each side; a shorter word is one group. */
const letterGroupsOf = (text: string): string[] =>
  subjectWordsOf(text).flatMap((word) => {
    const framed = ` ${word} `;
    const groups = Math.max(1, framed.length - GROUP + 1);
    return Array.from({ length: groups }, (_, at) => framed.slice(at, at + GROUP));
  });

const GROUP = 4;

/** Splits a text into the features that are compared. */
type Features = (text: string) => readonly string[];

/** The examples by one kind of features: the weights of the features, and the sum of the examples of each label. */
type Profile = {
  readonly featuresOf: Features;
  readonly vectorOf: WordWeighting;
  readonly centroids: ReadonlyMap<string, WordVector>;
};

/** A document and the examples of each label as vectors. */
type Comparison = Pick<Profile, "centroids"> & { readonly document: WordVector };

const compareWithLabels = (
  { featuresOf, vectorOf, centroids }: Profile,
  text: string,
): Comparison => ({ document: vectorOf(featuresOf(text)), centroids });

const FEATURES = { groups: letterGroupsOf, stems: contentStems } as const;

const MOST_KEPT = 16;
/** By kind of features and hash of the examples, least recently used first: the jobs of a batch share their examples. */
const kept = new Map<string, Profile>();

function profileBy(kind: keyof typeof FEATURES, examples: readonly LabelExample[]): Profile {
  const key = `${kind} ${hashJson(examples)}`;
  const profile = kept.get(key) ?? profileOf(examples, FEATURES[kind]);
  kept.delete(key);
  kept.set(key, profile);
  const [oldest] = kept.keys();
  if (kept.size > MOST_KEPT && oldest !== undefined) kept.delete(oldest);
  return profile;
}

function profileOf(examples: readonly LabelExample[], featuresOf: Features): Profile {
  const features = examples.map((example) => featuresOf(textOf(itemsForReaders([example]))));
  const vectorOf = weighWords(features);
  const ofLabel = new Map<string, WordVector[]>();
  for (const [at, { label }] of examples.entries())
    append(ofLabel, label, vectorOf(features[at] ?? []));
  const centroids = new Map([...ofLabel].map(([label, vectors]) => [label, sumOf(vectors)]));
  return { featuresOf, vectorOf, centroids };
}

/** How much each word of the document supports a label: its weight in the examples of that label minus that in the others. */
function tellingWords({ document, centroids }: Comparison, label: string): Map<string, number> {
  const own = centroids.get(label);
  const others = sumOf([...centroids].flatMap(([other, one]) => (other === label ? [] : [one])));
  const telling = new Map<string, number>();
  for (const [word, weight] of document) {
    const gain = weight * ((own?.get(word) ?? 0) - (others.get(word) ?? 0));
    if (gain > 0) telling.set(word, gain);
  }
  return telling;
}

function weightOf(words: ReadonlyMap<string, number>, stems: ReadonlySet<string>): number {
  let weight = 0;
  for (const stem of stems) weight += words.get(stem) ?? 0;
  return weight;
}

/** The words that support a label most, as the document spells them. */
function namesOf(words: ReadonlyMap<string, number>, items: readonly DocumentItem[]): string[] {
  const spelled = new Map(
    subjectWordsOf(textOf(items))
      .toReversed()
      .map((word) => [stemWord(word), word]),
  );
  return [...words]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MOST_NAMED)
    .map(([stem]) => spelled.get(stem) ?? stem);
}
