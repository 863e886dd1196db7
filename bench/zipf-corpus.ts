import { hash } from "node:crypto";
import { normalize } from "../src/worker/embedders/embedder.ts";
import type { Embedder } from "../src/worker/embedders/embedder.ts";
import { seededRandom } from "./synthetic-corpus.ts";

// Texts whose words are as common as those of a language, and vectors that lie in clusters: what grows with an index
// grows here as it does with documents.

/**
 * How many different words so many have (Heaps' law), with the constants that Manning, Raghavan and Schütze found on
 * Reuters-RCV1: "Introduction to Information Retrieval" (2008), 5.1.1.
 */
const vocabularyOf = (words: number): number => Math.ceil(44 * words ** 0.49);

/** The most frequent words of English, about in that order: stop words, which the index leaves out. */
const FUNCTION_WORDS = [
  ..."the of and to in a is that for it as was with be by on not he this are or his".split(" "),
  ..."from at which but have an had they you were their all there been if more when".split(" "),
];

/** Share of the words of a text that are among a few of its own: a word that stands in a text once stands there again. */
const OWN_SHARE = 0.12;
const OWN_WORDS = 8;

const SECTIONS = 7;
const SECTION_WORDS = { least: 60, most: 190 };
const FOLDERS = 100;
/** Every so many documents have a tag. */
const TAGGED = 10;

export const FOLDER = `corpus/part-${FOLDERS / 2}/`;
export const TAG = { key: "tag", value: "ops" } as const;

export type SyntheticDocument = { readonly path: string; readonly text: string };

/** Markdown documents of seven sections, always the same, without end. */
export function* zipfDocuments(): Generator<SyntheticDocument> {
  const random = seededRandom(1_949);
  let words = 0;
  for (let index = 0; ; index += 1) {
    const vocabulary = vocabularyOf(words + SECTION_WORDS.most * SECTIONS);
    const own = Array.from({ length: OWN_WORDS }, () => rareWord(random, vocabulary));
    const word = () =>
      random() < OWN_SHARE ? pick(own, random) : wordOfRank(drawRank(random, vocabulary));
    let text = index % TAGGED === 0 ? `---\ntags: [${TAG.value}]\n---\n` : "";
    text += `# ${own.slice(0, 3).join(" ")}\n\n`;
    for (let section = 0; section < SECTIONS; section += 1) {
      const length =
        SECTION_WORDS.least + Math.floor(random() * (SECTION_WORDS.most - SECTION_WORDS.least));
      text += `## ${word()} ${word()} ${word()}\n\n${prose(word, length)}\n\n`;
      words += length;
    }
    yield { path: `corpus/part-${index % FOLDERS}/note-${index}.md`, text };
  }
}

const SENTENCE_WORDS = 15;

function prose(word: () => string, length: number): string {
  let text = word();
  for (let at = 1; at < length; at += 1) {
    text += at % SENTENCE_WORDS === 0 ? ". " : " ";
    text += word();
  }
  return `${text}.`;
}

/**
 * A word is as frequent as one by its rank (Zipf, "Human Behavior and the Principle of Least Effort", 1949): of so many
 * words, a rank whose logarithm is uniform.
 */
const drawRank = (random: () => number, vocabulary: number): number =>
  Math.floor((vocabulary + 1) ** random());

function rareWord(random: () => number, vocabulary: number): string {
  for (;;) {
    const rank = drawRank(random, vocabulary);
    if (rank > FUNCTION_WORDS.length) return wordOfRank(rank);
  }
}

const pick = <T>(list: readonly T[], random: () => number): T =>
  list[Math.floor(random() * list.length)] as T;

const SYLLABLES = [..."bdfghklmnprstvwz"].flatMap((first) =>
  [..."aiou"].map((last) => first + last),
);

const spelled: string[] = [];

/** Two syllables for the commonest 4,096 words, three for the next 262,144, and so on. */
function wordOfRank(rank: number): string {
  return (spelled[rank] ??= FUNCTION_WORDS[rank - 1] ?? spell(rank - FUNCTION_WORDS.length - 1));
}

function spell(number: number): string {
  let left = number;
  let length = 2;
  for (; left >= SYLLABLES.length ** length; length += 1) left -= SYLLABLES.length ** length;
  let word = "";
  for (; length > 0; length -= 1) {
    word = (SYLLABLES[left % SYLLABLES.length] ?? "") + word;
    left = Math.floor(left / SYLLABLES.length);
  }
  return word;
}

/** Two to six different words of a passage, as somebody would ask for it: frequent and rare ones as they stand there. */
export function drawQuestion(text: string, random: () => number): string {
  const words = new Set(text.toLowerCase().match(/[a-z]{4,}/g) ?? []);
  for (const word of FUNCTION_WORDS) words.delete(word);
  const left = [...words];
  const question: string[] = [];
  const length = 2 + Math.floor(random() * 5);
  while (question.length < length && left.length > 0) {
    question.push(...left.splice(Math.floor(random() * left.length), 1));
  }
  return question.join(" ");
}

export const DIMS = 384;
/** Subjects, as many as there are centres; what a document and a chunk differ by from their subject and their document. */
const SUBJECTS = 1_000;
const APART = { document: 0.6, chunk: 0.4 };

const centres = new Map<number, Float32Array>();

function centreOf(docId: number): Float32Array {
  const subject = docId % SUBJECTS;
  const centre = centres.get(subject) ?? noise(seededRandom(subject));
  centres.set(subject, centre);
  return centre;
}

let former: { readonly docId: number; readonly vector: Float32Array } | undefined;

/** Where the chunks of a document lie around. */
function documentVector(docId: number): Float32Array {
  if (former?.docId !== docId) {
    const own = noise(seededRandom(docId + SUBJECTS));
    former = { docId, vector: mix(centreOf(docId), own, APART.document) };
  }
  return former.vector;
}

/** The vector of a chunk, or of a question about a document, by a number of its own. Of unit length. */
export const clusteredVector = (docId: number, number: number): Float32Array =>
  normalize(mix(documentVector(docId), noise(seededRandom(-number)), APART.chunk));

const mix = (one: Float32Array, other: Float32Array, share: number): Float32Array =>
  one.map((value, at) => value + share * (other[at] ?? 0));

/** About normal: three uniform numbers each. */
function noise(random: () => number): Float32Array {
  const vector = new Float32Array(DIMS);
  for (let at = 0; at < DIMS; at += 1) vector[at] = random() + random() + random() - 1.5;
  return vector;
}

export const SYNTHETIC_SPACE = {
  model: "synthetic-384",
  signature: hash("sha256", "synthetic-384", "hex").slice(0, 32),
} as const;

/** Gives each of the questions the vector that was drawn for it. */
export const embedderOf = (vectors: ReadonlyMap<string, Float32Array>): Embedder => ({
  id: SYNTHETIC_SPACE.model,
  signature: SYNTHETIC_SPACE.signature,
  dims: DIMS,
  defaultWeight: 1,
  embed: (texts) => Promise.resolve(texts.map((text) => vectorOf(text, vectors))),
});

function vectorOf(text: string, vectors: ReadonlyMap<string, Float32Array>): Float32Array {
  const vector = vectors.get(text);
  if (vector === undefined) throw new Error(`no vector was drawn for "${text}"`);
  return vector;
}
