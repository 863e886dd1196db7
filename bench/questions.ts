// Questions with and without an answer (SQuAD 2.0 and the like: docs.jsonl, questions.jsonl): the extractive model is given
// the best eight paragraphs by BM25, and says an answer or that there is none. An answer is right that holds the words
// looked for. What is chosen is chosen on one half of the questions, by the hash of their ids, and told of the other.
// node --import ./bench/register.js bench/questions.ts [folder …] [--items]
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { candidatesOf } from "../src/worker/models/extractive/candidates.ts";
import { rankForQuestion } from "../src/worker/models/extractive/rank-for-question.ts";
import { evidenceFor, FOLDERS, holdsAnyOf, readQuestions } from "./questions-with-answers.ts";
import type { Asked, Paragraph } from "./questions-with-answers.ts";

type Verdict = "right" | "wrong" | "refused wrongly" | "refused rightly" | "answered wrongly";

const SENTENCES = 3;

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { items: { type: "boolean", default: false } },
});
for (const folder of positionals.length > 0 ? positionals : FOLDERS) {
  const { tuned, heldOut, search } = readQuestions(folder);
  for (const [half, chosen] of [
    ["tuned on", tuned],
    ["held out", heldOut],
  ] as const) {
    const all = chosen.map((asked) => judge(asked, search(asked.question)));
    const count = (verdict: Verdict): number => all.filter((one) => one === verdict).length;
    const answerable = chosen.filter(({ answers }) => answers.length > 0).length;
    const elsewhere = chosen
      .filter(({ answers }) => answers.length > 0)
      .filter(
        (asked) =>
          answerTo(
            asked,
            search(asked.question).filter((one) => !holdsAnswer(one, asked)),
          ) === "",
      ).length;
    console.log(
      `${basename(folder).padEnd(10)} ${half}  of ${answerable} answerable: ${count("right")} right, ${count("wrong")} wrong, ` +
        `${count("refused wrongly")} refused; of ${chosen.length - answerable} unanswerable: ${count("refused rightly")} refused; ` +
        `of the answerable ones without the paragraphs that hold the answer: ${elsewhere} refused`,
    );
  }
}

function judge(asked: Asked, found: readonly Paragraph[]): Verdict {
  const { question, answers } = asked;
  const said = answerTo(asked, found);
  const verdict = verdictOf(said, answers);
  if (flags.items) console.log(`${verdict}: ${question}\n    ${answers[0] ?? "-"} | ${said}`);
  return verdict;
}

function holdsAnswer({ id, text }: Paragraph, { doc, answers }: Asked): boolean {
  return id === doc || holdsAnyOf(text, answers);
}

function answerTo({ question }: Asked, found: readonly Paragraph[]): string {
  return rankForQuestion(candidatesOf(evidenceFor(found)), question, SENTENCES)
    .map(({ text }) => text)
    .join(" ");
}

function verdictOf(said: string, answers: readonly string[]): Verdict {
  if (answers.length === 0) return said === "" ? "refused rightly" : "answered wrongly";
  if (said === "") return "refused wrongly";
  return holdsAnyOf(said, answers) ? "right" : "wrong";
}
