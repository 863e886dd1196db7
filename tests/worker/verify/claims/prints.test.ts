import { expect, test } from "@jest/globals";
import { numberBesideFiles } from "../../../../src/worker/evidence/number.ts";
import { gradeClaims } from "../../../../src/worker/verify/claims/grade.ts";
import { sha256Of } from "../../../support/pipeline-world.ts";

const COUNTS = "/input/logs/tuesday.md:3\n/input/logs/monday.md:4\n";

/** The grade of a claim that cites what a tool printed in step 4. */
function gradeOf(text: string, claim: string): unknown {
  const output = {
    label: "output of shell, step 4",
    call: "grep -c FAILED /input/log",
    sha256: sha256Of(text),
    charsFull: text.length,
    text,
  };
  const evidence = numberBesideFiles({ passages: [], outputs: [output] }, 1);
  const question = "How many backups failed in these logs?";
  const [graded] = gradeClaims([{ text: claim, cites: [1] }], evidence, { question });
  return graded && [graded.grade, graded.reason];
}

test("what is said of a bare count is marked: the print says the number, and not of what", () => {
  expect(gradeOf("7\n", "7 backups failed.")).toEqual(["partly", "polarity"]);
  expect(gradeOf("     52 total\n", "There are 52 lines in total.")).toEqual(["partly", "words"]);
});

test("a line that says it carries it", () => {
  const lines = "02:10 backup 0 FAILED\n02:11 backup 1 FAILED\n";
  expect(gradeOf(lines, "Backup 1 failed at 02:11.")).toEqual(["supported", "carried"]);
});

test("another number is not carried, not even that of the step", () => {
  expect(gradeOf("7\n", "8 backups failed.")).toEqual(["unsupported", "figure"]);
  expect(gradeOf("7\n", "4 backups failed.")).toEqual(["unsupported", "figure"]);
});

test("the count behind the name of a file is a number", () => {
  expect(gradeOf(COUNTS, "In monday.md 4 backups failed.")).toEqual(["partly", "polarity"]);
  expect(gradeOf(COUNTS, "In monday.md 5 backups failed.")).toEqual(["unsupported", "figure"]);
});
