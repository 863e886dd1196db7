// Learns the weights of src/worker/models/extractive/weigh-sentences.ts: those under which the sentences that hold the answer
// are likeliest (a conditional logit), of the answerable questions for a fact in the half that rules are written by.
// node --import ./bench/register.js bench/sentence-weights.ts [folder …]
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { candidatesOf } from "../src/worker/models/extractive/candidates.ts";
import { parseQuestion } from "../src/worker/models/extractive/question.ts";
import { readEvidence } from "../src/worker/models/extractive/rank-for-question.ts";
import { CLUES, cluesOf } from "../src/worker/models/extractive/weigh-sentences.ts";
import { evidenceFor, FOLDERS, holdsAnyOf, readQuestions } from "./questions-with-answers.ts";
import type { Asked, Paragraph } from "./questions-with-answers.ts";

/** The clues of each sentence, and whether it holds the answer. */
type Example = {
  readonly rows: readonly (readonly number[])[];
  readonly isAnswer: readonly boolean[];
};

const PENALTY = 10;
const STEPS = 2000;
const RATE = 0.5;

const { positionals } = parseArgs({ allowPositionals: true });
const folders = positionals.length > 0 ? positionals : FOLDERS;
const examples = folders.flatMap((folder) => {
  const { tuned, search } = readQuestions(folder);
  const found = tuned.flatMap((asked) => exampleOf(asked, search(asked.question)) ?? []);
  console.log(`${basename(folder)}: ${found.length} questions`);
  return found;
});
const weights = learn(examples);
CLUES.forEach((clue, at) => {
  console.log(`${clue}: ${(weights[at] ?? 0).toFixed(2)}`);
});

/** Null where no sentence, or each, holds the answer. */
function exampleOf(asked: Asked, found: readonly Paragraph[]): Example | null {
  const candidates = candidatesOf(evidenceFor(found));
  const question = parseQuestion(asked.question, candidates);
  if (question.kind === "account") return null;
  const { aligned, usable } = readEvidence(candidates, question);
  const rows = cluesOf(usable, aligned, question).map((clues) => CLUES.map((clue) => clues[clue]));
  const held = usable.map(({ text }) => holdsAnyOf(text, asked.answers));
  const inPlace = usable.map(({ path }, at) => held[at] === true && path === `${asked.doc}.md`);
  const isAnswer = inPlace.includes(true) ? inPlace : held;
  return isAnswer.includes(true) && isAnswer.includes(false) ? { rows, isAnswer } : null;
}

/** By gradient ascent over clues of equal spread, with a penalty on large weights. */
function learn(all: readonly Example[]): number[] {
  const spreads = CLUES.map((_, at) =>
    spreadOf(all.flatMap(({ rows }) => rows.map((row) => row[at] ?? 0))),
  );
  const scaled = all.map(({ rows, isAnswer }) => ({
    isAnswer,
    rows: rows.map((row) => row.map((value, at) => value / (spreads[at] ?? 1))),
  }));
  let learnt = CLUES.map(() => 0);
  for (let step = 0; step < STEPS; step += 1) {
    const slope = learnt.map((weight) => -PENALTY * weight);
    for (const example of scaled) addSlope(slope, example, learnt);
    learnt = learnt.map((weight, at) => weight + (RATE * (slope[at] ?? 0)) / all.length);
  }
  return learnt.map((weight, at) => weight / (spreads[at] ?? 1));
}

/** What the clues are on average of the sentences that hold the answer, less what they are of all. */
function addSlope(slope: number[], { rows, isAnswer }: Example, learnt: readonly number[]): void {
  const odds = rows.map((row) =>
    Math.exp(row.reduce((sum, value, at) => sum + value * (learnt[at] ?? 0), 0)),
  );
  const total = odds.reduce((sum, one) => sum + one, 0);
  const ofAnswer = odds.reduce((sum, one, at) => sum + (isAnswer[at] === true ? one : 0), 0);
  rows.forEach((row, index) => {
    const odd = odds[index] ?? 0;
    const pull = (isAnswer[index] === true ? odd / ofAnswer : 0) - odd / total;
    row.forEach((value, at) => {
      slope[at] = (slope[at] ?? 0) + pull * value;
    });
  });
}

function spreadOf(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}
