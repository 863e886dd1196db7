// One sentence for a text with a title (SciTLDR: title, source, target a line), beside the first one and plain BM25 with the
// title as the question. The best of the references counts. ROUGE without and with stems of words.
// node --import ./bench/register.js bench/one-sentence.ts [data.jsonl]
import { readFileSync } from "node:fs";
import { candidatesOf } from "../src/worker/models/extractive/candidates.ts";
import type { Candidate } from "../src/worker/models/extractive/candidates.ts";
import { rankForSummary } from "../src/worker/models/extractive/rank-for-summary.ts";
import { sentenceForSummary } from "../src/worker/models/extractive/sentence-for-summary.ts";
import { stemWord } from "../src/worker/text/content-words.ts";
import { plainBm25 } from "./plain-bm25.ts";
import { rouge, rougeL, wordsIn } from "./rouge.ts";

type Paper = {
  readonly title: string;
  readonly source: readonly string[];
  readonly target: readonly string[];
};
type Choose = (candidates: readonly Candidate[], title: string) => readonly Candidate[];

const file = process.argv[2] ?? "../shared/data/scitldr-dev/data.jsonl";
const papers = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Paper);

const CHOICES: Readonly<Record<string, Choose>> = {
  lead: (candidates) => candidates.slice(0, 1),
  "plain BM25 of the title": (candidates, title) => plainBm25(candidates, title, 1),
  "nightdesk, as of a summary": (candidates, title) => rankForSummary(candidates, title, 1),
  "nightdesk, one sentence": sentenceForSummary,
};

console.log(`${papers.length} papers`);
for (const [name, choose] of Object.entries(CHOICES)) {
  const said = papers.map((paper) => ({ paper, text: sentenceOf(paper, choose) }));
  const mean = (of: (text: string, target: string) => number): string => {
    const best = said.map(({ paper, text }) =>
      Math.max(...paper.target.map((target) => of(text, target))),
    );
    return ((100 * best.reduce((sum, value) => sum + value, 0)) / best.length).toFixed(1);
  };
  const words = said.reduce((sum, { text }) => sum + wordsIn(text).length, 0) / said.length;
  console.log(
    `${name.padEnd(28)} R1 ${mean((text, target) => rouge(1, text, target))}  R2 ${mean((text, target) => rouge(2, text, target))}` +
      `  RL ${mean(rougeL)}  R1 of stems ${mean((text, target) => rouge(1, stemsOf(text), stemsOf(target)))}  ${words.toFixed(0)} words`,
  );
}

function sentenceOf({ title, source }: Paper, choose: Choose): string {
  const text = `# ${title}\n\n${source.join(" ")}`;
  const evidence = { number: 1, path: "paper.md", title, headingPath: null, text };
  return choose(candidatesOf([evidence]), title)
    .map((one) => one.text)
    .join(" ");
}

function stemsOf(text: string): string {
  return wordsIn(text)
    .map((word) => (word.length > 3 ? stemWord(word) : word))
    .join(" ");
}
