import { expect, test } from "@jest/globals";
import { numberBesideFiles } from "../../../../src/worker/evidence/number.ts";
import { sha256Of } from "../../../support/pipeline-world.ts";
import { standingOf } from "./grades-of.ts";

const COUNTS = "/input/logs/tuesday.md:3\n/input/logs/monday.md:4\n";

/** How a claim stands that cites what a tool printed in step 4. */
function standing(text: string, claim: string): string {
  const output = {
    label: "output of shell, step 4",
    call: "grep -c FAILED /input/log",
    sha256: sha256Of(text),
    charsFull: text.length,
    text,
  };
  const evidence = numberBesideFiles({ passages: [], outputs: [output] }, 1);
  const question = "How many backups failed in these logs?";
  return standingOf(claim, evidence, question);
}

test("what is said of a bare count is left to a judge: the print says the number, and not of what", () => {
  expect(standing("7\n", "7 backups failed.")).toBe("open not_asked");
  expect(standing("     52 total\n", "There are 52 lines in total.")).toBe("open not_asked");
});

test("a line that says it is left to a judge too", () => {
  const lines = "02:10 backup 0 FAILED\n02:11 backup 1 FAILED\n";
  expect(standing(lines, "Backup 1 failed at 02:11.")).toBe("open not_asked");
});

test("another number is held back, even that of the step", () => {
  expect(standing("7\n", "8 backups failed.")).toBe("held back figure");
  expect(standing("7\n", "4 backups failed.")).toBe("held back figure");
});

test("the count behind the name of a file is a number", () => {
  expect(standing(COUNTS, "In monday.md 4 backups failed.")).toBe("open not_asked");
  expect(standing(COUNTS, "In monday.md 5 backups failed.")).toBe("held back figure");
});
