import { expect, test } from "@jest/globals";
import { expectedAnswer } from "../../../../src/worker/question/expected-answer.ts";
import {
  asksForAccount,
  questionTerms,
} from "../../../../src/worker/models/extractive/question.ts";

test.each([
  ["What did Marta think of the bell?", true],
  ["Summarize the discussion about buttons.", true],
  ["How did the board respond to the storm?", true],
  ["What was the impact of the frost?", true],
  ["How many bells are there?", false],
  ["How long did the discussion take?", false],
  ["Which colour is the door?", false],
  ["Who rang the bell?", false],
  ["When is pay day?", false],
])("%s asks for an account: %s", (question, expected) => {
  expect(asksForAccount(question)).toBe(expected);
});

test.each([
  ["Within which time are bottles due?", "within six hours", "call 555-0133"],
  ["How quickly must it be done?", "in at most twenty minutes", "by two people"],
  ["How many names are in the book?", "611 names are in it", "41 pages are blank"],
  ["How much is a share?", "a share is 250 EUR", "a share is dear"],
  ["When does it open?", "it opens on Monday", "it opens with a key"],
  ["Why is it shut?", "it is shut because of snow", "it is shut with a key"],
  ["Who rang?", "it was rung by Jonas", "it was rung by hand"],
])("%s prefers %j to %j", (question, fitting, other) => {
  const { fit } = expectedAnswer(question);
  expect(fit(fitting)).toBeGreaterThan(fit(other));
});

test("a clause with when asks for no time", () => {
  expect(expectedAnswer("What did he say when opening the door?").fit("on Monday")).toBe(1);
});

test("the frame of a question for an account is none of its terms", () => {
  expect([...questionTerms("What did the group think of the bell?").keys()]).toEqual(["bel"]);
  expect(questionTerms("Summarize the discussion.").size).toBe(1);
});

test("a text in place of a question has a bounded number of terms", () => {
  const text = Array.from({ length: 5000 }, (_, n) => `word${n}`).join(" ");
  expect(questionTerms(text).size).toBeLessThan(100);
});
