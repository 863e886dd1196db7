import { describe, expect, test } from "@jest/globals";
import type { CitableBlock } from "../../../../src/worker/evidence/number.ts";
import { unitsOf } from "../../../../src/worker/verify/claims/units.ts";
import { readFramed } from "../../../corpora/frames/read-framed.ts";
import { standingOf } from "./grades-of.ts";
import { pieceOf } from "./pieces-of.ts";

const blockOf = (text: string, path = "notes/a.md"): CitableBlock => pieceOf(path, text);

describe("what a passage does not state", () => {
  test.each([
    ["what its heading denies", "## Not covered\n\n- The piano.\n- The boat.", "denied"],
    [
      "what the line above its list denies",
      "These may not enter the hall:\n\n- dogs on a lead",
      "denied",
    ],
    ["a question", "## Fees\n\nIs the piano insured?", "asked"],
    [
      "what is answered with no",
      "## Fees\n\nIs the piano insured?\n\nNo. Only the organ is.",
      "denied",
    ],
    ["a task", "## Work\n\n- [ ] The fence is painted.", "open"],
    ["a proposal", "## Proposals\n\n- The fence is painted.", "open"],
    ["what is struck out", "## Fees\n\n~~The fee is 20 EUR.~~", "struck"],
    ["an option", "## Roof\n\nOption A: The roof is of slate.", "option"],
    ["an example", "## Fees\n\nExample: Ann pays 20 EUR.", "example"],
    ["hearsay", "## Fees\n\nMany believe that the fee is 20 EUR.", "reported"],
    ["what is taken back", "## Fees\n\nThe fee is 20 EUR. That was wrong.", "reported"],
  ])("is %s", (_, text, frame) => {
    expect(unitsOf(blockOf(text)).map((unit) => unit.frame)).toContain(frame);
  });

  test.each([
    ["a heading that tells when", "## When the freezer did not start\n\n- The fuse was blown."],
    ["a number", "## No. 7\n\n- The piano."],
    ["prose under a denial", "## Card terminal without a line\n\nIt stores 50 payments."],
    ["steps for a fault", "If the pump does not start:\n\n- Open the valve."],
    ["a task that is done", "## Open points\n\n- [x] The fence is painted."],
    ["what is answered with yes", "Is the piano insured? Yes. It is insured."],
  ])("is not %s", (_, text) => {
    expect(unitsOf(blockOf(text)).map((unit) => unit.frame)).not.toEqual(
      expect.arrayContaining([expect.any(String)]),
    );
  });

  test.each([
    ["The piano of the club is covered by the policy.", "unconfirmed x3 frame"],
    ["By the policy the piano of the club is covered.", "held back polarity"],
    ["The piano of the club is not covered by the policy.", "open not_asked"],
  ])(
    "is left to a judge of a claim that says so, and of none that leaves it out: %s",
    (claim, standing) => {
      const block = blockOf(
        "# Policy\n\n## Not covered\n\n- The piano of the club is covered by the policy.\n",
      );
      const [unit] = unitsOf(block).filter(({ kind }) => kind === "sentence");
      expect(unit?.frame).toBe("denied");
      expect(standingOf(claim, [block])).toBe(standing.replace("x3", "unconfirmed unconfirmed"));
    },
  );

  test("counts for nothing against a claim that names it", () => {
    const denied = blockOf("# Policy\n\n## Not covered\n\n- The piano.\n- The boat of the club.\n");
    expect(standingOf("The boat of the club is not covered.", [denied])).toBe("open not_asked");
    expect(standingOf("The boat of the club is covered.", [denied])).toMatch(
      /^(?:held back|framed) /,
    );
    const task = blockOf("# Work\n\n- [ ] The fence behind the shed is painted.\n");
    expect(standingOf("The fence behind the shed was painted.", [task])).toBe("framed frame");
    expect(standingOf("It is still open that the fence behind the shed is painted.", [task])).toBe(
      "open not_asked",
    );
    const option = blockOf("# Roof\n\nOption A: The roof of the hall is of slate.\n");
    expect(standingOf("The roof of the hall is made of slate.", [option])).toBe("framed frame");
    expect(standingOf("By option A the roof of the hall is of slate.", [option])).toBe(
      "open not_asked",
    );
  });

  test("a part that is struck out is no part of its sentence", () => {
    const block = blockOf("# Bread\n\n- The dough takes ~~20 g~~ 12 g of salt.\n");
    expect(standingOf("The dough takes 12 g of salt.", [block])).toBe("open not_asked");
    expect(standingOf("The dough takes 20 g of salt.", [block])).toMatch(/^(?:held back|framed) /);
  });

  // Nobody read the kept third to write a rule.
  test.each([
    [false, 35, 150],
    [true, 19, 74],
  ])("few wrong claims of the labelled ones are left to a judge (kept: %s)", (kept, most, of) => {
    const bad = readFramed().filter(
      ({ claim, passage }) => passage.kept === kept && claim.verdict === "bad",
    );
    expect(bad).toHaveLength(of);
    const standings = bad.map(({ claim, passage }) =>
      standingOf(claim.claim, [blockOf(passage.text, passage.path)]),
    );
    expect(standings.filter((standing) => /^verbatim|^supported/.test(standing))).toEqual([]);
    expect(standings.filter((standing) => standing.startsWith("open")).length).toBeLessThanOrEqual(
      most,
    );
  });
});
