import { expect, test } from "@jest/globals";
import { outputText } from "../../../src/shared/views/steps.ts";

const given = (text: string, evidence: readonly object[]): Buffer =>
  Buffer.from(JSON.stringify({ text, facts: {}, evidence }));
const printed = (text: string): object => ({
  kind: "output",
  output: { call: "2 + 2", sha256: "a".repeat(64), charsFull: text.length, text },
});

test("a result is its text, and each piece under its path", () => {
  const reading = { path: "a.md", text: "Words of a." };
  expect(outputText("result", given("1 file", [{ kind: "file", reading }]))).toBe(
    "1 file\n\na.md\nWords of a.",
  );
});

test("what a tool printed is shown once", () => {
  expect(outputText("result", given("2 + 2 = 4", [printed("4")]))).toBe("2 + 2 = 4");
  expect(outputText("result", given("exit 0", [printed("7 FAILED")]))).toBe("exit 0\n\n7 FAILED");
  expect(outputText("stdout", Buffer.from("7 FAILED\n"))).toBe("7 FAILED\n");
});
