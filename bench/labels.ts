// Labels told by examples: of each label five texts are drawn, and all others are labelled by them, ten times over. The
// texts are those of tests/corpora/labelled-texts (what kind of text it is, in four languages) and paragraphs of SQuAD
// (which article it is of), where they are there. Beside the extractive model stands plain naive Bayes: multinomial, over
// stems, with one added to each count, and always an answer.
// node --import ./bench/register.js bench/labels.ts [--each 5] [--draws 10] [--squad docs.jsonl]
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { LabelExample } from "../src/shared/job/label-examples.ts";
import { classifyByExamples } from "../src/worker/models/extractive/classify-by-examples.ts";
import { classify } from "../src/worker/models/extractive/classify.ts";
import { contentStems } from "../src/worker/text/content-words.ts";

/** The label that a text gets; null for none. */
type Labeller = (text: string) => string | null;
type Way = (examples: readonly LabelExample[], labels: readonly string[]) => Labeller;

const { values: flags } = parseArgs({
  options: {
    each: { type: "string", default: "5" },
    draws: { type: "string", default: "10" },
    squad: { type: "string", default: "../shared/data/questions/squad/docs.jsonl" },
  },
});

const evidenceOf = (text: string) => [
  { number: 1, path: "text.md", title: null, headingPath: null, text },
];

const WAYS: Readonly<Record<string, Way>> = {
  "naive Bayes, plain": naiveBayes,
  "words of the labels": (_, labels) => (text) => classify(evidenceOf(text), labels)?.label ?? null,
  "extractive, by examples": (examples, labels) => (text) =>
    classifyByExamples(evidenceOf(text), labels, examples)?.label ?? null,
};

const corpus = join(import.meta.dirname, "../tests/corpora/labelled-texts/texts.jsonl");
const kinds = readLines<{ label: string; text: string; language: string }>(corpus);
judge("kinds of texts", kinds);
judge(
  "kinds of English texts",
  kinds.filter(({ language }) => language === "en"),
);
if (existsSync(flags.squad)) {
  const paragraphs = readLines<{ title: string; text: string }>(flags.squad);
  judge(
    "articles of SQuAD",
    paragraphs.map(({ title, text }) => ({ label: title, text })),
  );
}

function judge(name: string, texts: readonly LabelExample[]): void {
  const labels = [...new Set(texts.map(({ label }) => label))];
  console.log(`${name}: ${texts.length} of ${labels.length} labels`);
  for (const [way, open] of Object.entries(WAYS)) {
    let [right, wrong, refused] = [0, 0, 0];
    for (let draw = 1; draw <= Number(flags.draws); draw += 1) {
      const { examples, others } = drawn(texts, labels, draw);
      const labelOf = open(examples, labels);
      for (const { text, label } of others) {
        const told = labelOf(text);
        if (told === null) refused += 1;
        else if (told === label) right += 1;
        else wrong += 1;
      }
    }
    const all = right + wrong + refused;
    console.log(
      `  ${way.padEnd(24)} right ${share(right, all)}  wrong ${share(wrong, all)}  refused ${share(refused, all)}` +
        `  right where it tells ${share(right, right + wrong)}`,
    );
  }
}

/** So many texts of each label at random, the same for the same number, and all others. */
function drawn(texts: readonly LabelExample[], labels: readonly string[], seed: number) {
  const random = randomFrom(seed);
  const shuffled = texts
    .map((text) => ({ text, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ text }) => text);
  const examples = labels.flatMap((label) =>
    shuffled.filter((text) => text.label === label).slice(0, Number(flags.each)),
  );
  const taken = new Set(examples);
  return { examples, others: shuffled.filter((text) => !taken.has(text)) };
}

/** Marsaglia's xorshift of 32 bits, 2003: numbers from 0 to 1. */
function randomFrom(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

function naiveBayes(examples: readonly LabelExample[], labels: readonly string[]): Labeller {
  const known = new Set(examples.flatMap(({ text }) => contentStems(text)));
  const models = labels.map((label) => {
    const own = examples.filter((example) => example.label === label);
    const stems = own.flatMap(({ text }) => contentStems(text));
    const counts = new Map<string, number>();
    for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
    const prior = Math.log(own.length / examples.length);
    return { label, counts, prior, all: stems.length + known.size };
  });
  return (text) => {
    const stems = contentStems(text).filter((stem) => known.has(stem));
    const scored = models.map(({ label, counts, prior, all }) => ({
      label,
      score: stems.reduce(
        (sum, stem) => sum + Math.log(((counts.get(stem) ?? 0) + 1) / all),
        prior,
      ),
    }));
    return scored.toSorted((one, other) => other.score - one.score)[0]?.label ?? null;
  };
}

function readLines<T>(file: string): T[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

function share(part: number, whole: number): string {
  return (part / Math.max(1, whole)).toFixed(3);
}
