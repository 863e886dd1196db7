import { describe, expect, test } from "@jest/globals";
import { candidatesOf } from "../../../../src/worker/models/extractive/candidates.ts";
import { rankForQuestion } from "../../../../src/worker/models/extractive/rank-for-question.ts";

const answer = (text: string, question: string): string => {
  const evidence = [
    { number: 1, path: "corpus/note.md", title: null, headingPath: null, text: `${text}\n` },
  ];
  return rankForQuestion(candidatesOf(evidence), question, 1)
    .map((candidate) => candidate.text)
    .join(" ");
};

const RETURNED =
  "The harbour board lost eight seats to the ferry list, and many of its speakers were not returned to the council.";
const OPENED = "Queen Margarethe II opened the new lock at Hafling on 9 October 2004.";
const WIDESPREAD =
  "Near the end of the nineteenth century, iron barges came into widespread use at Hafling.";
const KEEPERS =
  "In the wet summer of 1904 the upper lock at Hafling had twelve keepers, who were of the same family.";
const KEEPER =
  "Since the great Flood it has been Imke Brandt who is the keeper of the upper Lock V at Hafling.";
const CUT =
  "The beams at Hafling that were cut are older than the gate, and the beams that were not cut are younger.";
const ATTACKED = "The grey seals of Hafling attacked the nets of the eel fishers every winter.";

describe("a sentence with the words of a question", () => {
  test.each([
    ["denies what is asked", RETURNED, "Which of its speakers were returned to the council?"],
    ["affirms what is denied", ATTACKED, "Which nets did the grey seals of Hafling not attack?"],
    ["names another of the name", OPENED, "When did Queen Margarethe I open the lock at Hafling?"],
    [
      "has another number word",
      "Some hundred barges pass the lock at Hafling each summer.",
      "When do a thousand barges pass the lock at Hafling?",
    ],
    [
      "tells of another century",
      WIDESPREAD,
      "Which barges came into widespread use at Hafling around the end of the 20th century?",
    ],
    [
      "says the opposite of a word",
      "For want of money the harbour board at Hafling rejected the offer of the Wendel yard for a new lock gate of oak.",
      "Which offer for a new lock gate was accepted by the harbour board at Hafling?",
    ],
    [
      "is of another year than any in its file",
      KEEPERS,
      "How many keepers did the upper lock at Hafling have in the wet summer of 1911?",
    ],
    [
      "is of another number than any in its file",
      KEEPER,
      "Who has been the keeper of the upper Lock 8 at Hafling since the great Flood?",
    ],
  ])("is no answer where it %s", (_, text, question) => {
    expect(answer(text, question)).toBe("");
  });

  test.each([
    [RETURNED, "Whose speakers were not returned to the council?"],
    [ATTACKED, "Which nets did the grey seals of Hafling attack?"],
    [OPENED, "When did Queen Margarethe II open the lock at Hafling?"],
    [
      "The lock at Hafling was not opened until 1904.",
      "In which year was the lock at Hafling opened?",
    ],
    ["The lock at Hafling lacks a gate.", "What does the lock at Hafling not have?"],
    ["The key of lock No. 5 is red.", "Which key is that of lock No. 5?"],
    ["I can bring my dog to the lock.", "Can I bring my dog to the lock?"],
    [WIDESPREAD, "Which barges came into widespread use at Hafling in the 19th century?"],
    [CUT, "Are the beams at Hafling that were cut older than the gate?"],
    [KEEPERS, "How many keepers did the upper lock at Hafling have in the wet summer of 1904?"],
    [
      KEEPER,
      "Who has been the keeper at Hafling, since the great Flood, of the upper Lock in 1911?",
    ],
    [
      KEEPER,
      "Who has been the keeper of the upper Lock at Hafling since the great Flood at 17:45?",
    ],
    [KEEPER, "Who has been the keeper of the upper Lock 5 at Hafling since the great Flood?"],
    [
      "A passage of the lock at Hafling costs two euros for children under twelve.",
      "What does a passage of the lock at Hafling cost for a child of 7?",
    ],
    [
      "In the dry years there were two keepers at the lock of Hafling and few barges.",
      "How many keepers were there at the lock of Hafling in the dry years?",
    ],
  ])("is one otherwise: %s", (text, question) => {
    expect(answer(text, question)).toBe(text);
  });
});

test("a sentence that contradicts a question leaves those that match it no better without an answer", () => {
  const text = `${WIDESPREAD} Barges came to Hafling from the whole coast.`;
  expect(
    answer(text, "Which barges came into widespread use at Hafling in the 20th century?"),
  ).toBe("");
  expect(answer(text, "Which barges came to Hafling from the whole coast?")).not.toBe("");
});

test("another number contradicts in English alone", () => {
  const text =
    "Seit dem Hochwasser ist Imke Brandt die Wärterin der oberen Schleuse 5 in Hafling, und sie wohnt auch dort.";
  const question = "Wer ist seit dem Hochwasser die Wärterin der oberen Schleuse 8 in Hafling?";
  expect(answer(text, question)).toBe(text);
});

describe("a misspelt word of a question", () => {
  const text = "The measurement of the tide at Hafling is taken beside the northern pier.";

  test("is taken for the one in the evidence that differs in a letter", () => {
    expect(answer(text, "Where is the measurment taken?")).toBe(text);
  });

  test("is left as it is where two letters differ, and where it is a name", () => {
    expect(answer(text, "Where is the measrment taken?")).toBe("");
    expect(answer(text, "Where is the Measurment taken?")).toBe("");
  });
});
