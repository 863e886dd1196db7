import { expect, test } from "@jest/globals";
import { extractiveModel } from "../../../../src/worker/models/extractive/extractive.ts";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { pieceOf } from "../../verify/claims/pieces-of.ts";

async function answer(question: string, text: string): Promise<string> {
  const model = extractiveModel(async (work, input) => work.run(input));
  const evidence = [{ number: 1, path: "a.md", title: null, headingPath: null, text }];
  const task = { purpose: "answer", question, evidence, sentences: 3 } as const;
  const request = { messages: [], task, maxTokens: 100, timeoutMs: 1000 };
  const result = await model.complete(request, new AbortController().signal);
  return result.kind === "reply" ? result.text : result.code;
}

const POLICY = `# Household policy

## Not covered
- The piano.
- Cash above 300 pounds.
`;
const FAQ = `# Questions about the pool

**May dogs come into the pool?**
On the last Sunday of September alone.

**Who has the key of the boiler room?**
Mrs Okafor, at the desk.
`;

test("an item below a heading that denies it is answered with the heading", async () => {
  expect(await answer("Is the piano covered?", POLICY)).toBe("Not covered: The piano. [1]");
});

test("a question of a page of questions is answered with what stands below it", async () => {
  expect(await answer("When may dogs come into the pool?", FAQ)).toMatch(
    /^May dogs come into the pool\? On the last Sunday of September alone\. \[1\]$/,
  );
});

test("a claim that says the heading and the item is supported, and the item alone is not", () => {
  const grades = gradeClaims(
    [
      { text: "Not covered: The piano.", cites: [1] },
      { text: "The piano.", cites: [1] },
    ],
    [pieceOf("policy.md", POLICY)],
    { question: "" },
  );
  expect(grades.map(({ grade }) => grade)).toEqual(["supported", "unconfirmed"]);
});
