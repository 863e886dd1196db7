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
  ])("is one otherwise: %s", (text, question) => {
    expect(answer(text, question)).toBe(text);
  });
});
