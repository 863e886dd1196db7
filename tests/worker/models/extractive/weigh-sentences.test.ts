import { expect, test } from "@jest/globals";
import { candidatesOf } from "../../../../src/worker/models/extractive/candidates.ts";
import {
  rankForQuestion,
  readEvidence,
} from "../../../../src/worker/models/extractive/rank-for-question.ts";
import { parseQuestion } from "../../../../src/worker/models/extractive/question.ts";
import { chancesOf } from "../../../../src/worker/models/extractive/weigh-sentences.ts";

const candidatesIn = (texts: readonly string[]) =>
  candidatesOf(
    texts.map((text, index) => ({
      number: index + 1,
      path: `note-${index + 1}.md`,
      title: null,
      headingPath: null,
      text,
    })),
  );

/** The chance of each sentence, likeliest first. */
function weigh(question: string, ...texts: string[]): { text: string; chance: number }[] {
  const candidates = candidatesIn(texts);
  const asked = parseQuestion(question, candidates);
  const { aligned, usable } = readEvidence(candidates, asked);
  const chances = chancesOf(usable, aligned, asked);
  return usable
    .map(({ text }, at) => ({ text, chance: chances[at] ?? 0 }))
    .sort((one, other) => other.chance - one.chance);
}

const shown = (question: string, ...texts: string[]): string[] =>
  rankForQuestion(candidatesIn(texts), question, 3).map(({ text }) => text);

test("the chances of all sentences together make one", () => {
  const chances = weigh("Who paints the crane?", "Ada paints the crane. Ben paints.", "A crane.");
  expect(chances.reduce((sum, { chance }) => sum + chance, 0)).toBeCloseTo(1);
});

test("a rare word of the question counts more than one that many sentences hold", () => {
  const [first] = weigh(
    "Which rope does the crane need for the kiln?",
    "The crane has a rope of steel. The crane stands still. The crane is blue. A kiln needs hemp.",
  );
  expect(first?.text).toBe("A kiln needs hemp.");
});

test("a sentence is likelier behind one that holds further words of the question", () => {
  const text =
    "Boats lie at the quay. The gauge reads two bar. Steam drives the big pump. A gauge reads four bar.";
  const chances = weigh("What does the gauge of the steam pump read?", text);
  const chanceOf = (said: string): number =>
    chances.find((one) => one.text === said)?.chance ?? Number.NaN;
  const [alone, behind] = [
    chanceOf("The gauge reads two bar."),
    chanceOf("A gauge reads four bar."),
  ];
  expect(behind).toBeGreaterThan(2 * alone);
});

test("the first piece of evidence is likelier than a later one that says as much", () => {
  const [first, second] = weigh("Who paints cranes?", "Ada paints cranes.", "Ben paints cranes.");
  expect(first?.text).toBe("Ada paints cranes.");
  expect(first?.chance).toBeGreaterThan(2 * (second?.chance ?? 1));
});

test("a few words that hold what was asked for are as likely as many", () => {
  const [first, second] = weigh(
    "How many minutes is the trip?",
    "On the trip two people change places every ten minutes. The trip: eight minutes.",
  );
  expect(second?.chance).toBeCloseTo(first?.chance ?? 0);
});

test("a reason is shown beside the sentence that shares more of the words", () => {
  const [fact, reason] = [
    "The yard road is closed till 17 October.",
    "The road is dug up because of the new water main.",
  ];
  expect(shown("Why is the yard road closed?", fact, reason)).toEqual([fact, reason]);
});

test("a further sentence is shown where it is about as likely, and not where it is much less so", () => {
  const question = "What do Ada and Ben carry to the northern ferry?";
  const said = "Ada carries salt to the northern ferry.";
  const near = "Ben carries grain and coal to the ferry at dusk.";
  expect(shown(question, `${said}\n\n${near}`)).toEqual([said, near]);
  const far = "The northern ferry is blue and lies at the quay all day.";
  expect(shown(question, `${said}\n\n${far}`)).toEqual([said]);
});

test("a sentence that repeats another is not shown beside it", () => {
  const said = "The night shift loads the northern ferry with grain.";
  const again = "The northern ferry the night shift loads with grain.";
  expect(shown("What does the night shift load the ferry with?", said, again)).toEqual([said]);
});

test("a sentence that holds what was asked for is shown before likelier ones that do not", () => {
  const crane = "crane of the northern harbour in Wiekhaven";
  const texts = ["was", "is", "will be", "may be"].map((verb) => `The ${crane} ${verb} painted.`);
  const named = "Ada Lind painted a crane in Wiekhaven harbour.";
  const said = shown(`Who painted the ${crane}?`, ...texts, named);
  expect(said).toContain(named);
});
