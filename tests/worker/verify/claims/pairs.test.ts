import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import type { ClaimGrade } from "../../../../src/worker/verify/claims/grade.ts";
import { pieceOf } from "./pieces-of.ts";

type LabelledPair = {
  readonly id: string;
  readonly evidence: string;
  readonly claim: string;
  readonly verdict: "good" | "bad";
};

const FOLDER = new URL("../../../corpora/claims/pairs/", import.meta.url);
const pairs = [1, 2, 3, 4].flatMap((round) =>
  readFileSync(new URL(`round-${round}.jsonl`, FOLDER), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as LabelledPair),
);

const gradeOf = ({ evidence, claim }: LabelledPair): ClaimGrade | undefined =>
  gradeClaims([{ text: claim, cites: [1] }], [pieceOf("notes/a.md", evidence)], { question: "" })[0]
    ?.grade;

const idsOf = (verdict: LabelledPair["verdict"], grade: ClaimGrade): string[] =>
  pairs.filter((pair) => pair.verdict === verdict && gradeOf(pair) === grade).map(({ id }) => id);

// A rule of which the sentence says when it held, an invented noun behind everything else, and what version 2 of a list said.
test("of 475 bad claims beside their evidence three are supported", () => {
  expect(pairs.filter(({ verdict }) => verdict === "bad")).toHaveLength(475);
  expect(idsOf("bad", "supported")).toEqual(["2-de-10", "3-en-40", "4-en-25"]);
});

test("of 395 good claims a sixth is supported, and what is computed unsupported", () => {
  expect(pairs.filter(({ verdict }) => verdict === "good")).toHaveLength(395);
  expect(idsOf("good", "supported").length).toBeGreaterThanOrEqual(65);
  expect(idsOf("good", "unsupported").length).toBeLessThanOrEqual(10);
});
