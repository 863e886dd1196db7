// Questions with and without an answer (SQuAD 2.0 and the like: docs.jsonl, questions.jsonl): the extractive model is given
// the best eight paragraphs by BM25, and says an answer or that there is none. An answer is right that holds the words
// looked for. What is chosen is chosen on one half of the questions, by the hash of their ids, and told of the other.
// node --import ./bench/register.js bench/questions.ts [folder …] [--items]
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { candidatesOf } from "../src/worker/models/extractive/candidates.ts";
import { rankForQuestion } from "../src/worker/models/extractive/rank-for-question.ts";
import { fold } from "../tests/corpora/stranger/read-stranger.ts";
import { createBm25 } from "./rank-by-bm25.ts";

type Paragraph = { readonly id: string; readonly title: string; readonly text: string };
type Asked = {
  readonly id: string;
  readonly question: string;
  readonly answers: readonly string[];
  readonly doc: string;
};
type Verdict = "right" | "wrong" | "refused wrongly" | "refused rightly" | "answered wrongly";

const PARAGRAPHS = 8;
const SENTENCES = 3;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { items: { type: "boolean", default: false } },
});
const shared = "../shared/data/questions";
const folders =
  positionals.length > 0
    ? positionals
    : ["squad", "xquad-es", "xquad-zh"].map((name) => `${shared}/${name}`);

for (const folder of folders) {
  const paragraphs = readLines<Paragraph>(join(folder, "docs.jsonl"));
  const search = searchIn(paragraphs);
  const questions = readLines<Asked>(join(folder, "questions.jsonl"));
  for (const [half, rest] of [
    ["tuned on", 0],
    ["held out", 1],
  ] as const) {
    const chosen = questions.filter(({ id }) => firstByteOf(id) % 2 === rest);
    const all = chosen.map((asked) => judge(asked, search(asked.question).slice(0, PARAGRAPHS)));
    const count = (verdict: Verdict): number => all.filter((one) => one === verdict).length;
    const answerable = chosen.filter(({ answers }) => answers.length > 0).length;
    const elsewhere = chosen
      .filter(({ answers }) => answers.length > 0)
      .filter(
        (asked) =>
          answerTo(
            asked,
            search(asked.question)
              .filter((one) => !holdsAnswer(one, asked))
              .slice(0, PARAGRAPHS),
          ) === "",
      ).length;
    console.log(
      `${basename(folder).padEnd(10)} ${half}  of ${answerable} answerable: ${count("right")} right, ${count("wrong")} wrong, ` +
        `${count("refused wrongly")} refused; of ${chosen.length - answerable} unanswerable: ${count("refused rightly")} refused; ` +
        `of the answerable ones without the paragraphs that hold the answer: ${elsewhere} refused`,
    );
  }
}

function firstByteOf(id: string): number {
  return createHash("sha256").update(id).digest()[0] ?? 0;
}

function judge(asked: Asked, found: readonly Paragraph[]): Verdict {
  const { question, answers } = asked;
  const said = answerTo(asked, found);
  const verdict = verdictOf(said, answers);
  if (flags.items) console.log(`${verdict}: ${question}\n    ${answers[0] ?? "-"} | ${said}`);
  return verdict;
}

function holdsAnswer({ id, text }: Paragraph, { doc, answers }: Asked): boolean {
  return id === doc || answers.some((answer) => fold(text).includes(fold(answer)));
}

function answerTo({ question }: Asked, found: readonly Paragraph[]): string {
  const evidence = found.map(({ id, title, text }, index) => ({
    number: index + 1,
    path: `${id}.md`,
    title,
    headingPath: null,
    text,
  }));
  return rankForQuestion(candidatesOf(evidence), question, SENTENCES)
    .map(({ text }) => text)
    .join(" ");
}

function verdictOf(said: string, answers: readonly string[]): Verdict {
  if (answers.length === 0) return said === "" ? "refused rightly" : "answered wrongly";
  if (said === "") return "refused wrongly";
  return answers.some((answer) => fold(said).includes(fold(answer))) ? "right" : "wrong";
}

/** By BM25 over paragraphs and their titles. */
function searchIn(paragraphs: readonly Paragraph[]): (question: string) => Paragraph[] {
  const rank = createBm25(paragraphs.map(({ title, text }) => `${title} ${text}`));
  return (question) => rank(question).flatMap((at) => paragraphs[at] ?? []);
}

function readLines<T>(file: string): T[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}
