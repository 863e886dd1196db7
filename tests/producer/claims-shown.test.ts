import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { claimBlocks, storedClaim } from "../../src/shared/views/claims.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import { openDesk } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { CHECKED_RECORD } from "./runs-by-hand.ts";
import { answered, workByHand } from "./work-by-hand.ts";

let desk: Desk;
let stdout = "";
let stderr = "";
let batch = "";
beforeAll(async () => {
  desk = await openDesk();
  const file = await desk.write("q.jsonl", '{"kind":"ask","question":"How many?"}');
  const enqueued = desk.run("enqueue", file, "--batch-name", "graded", "--wait");
  await workByHand(desk.database, 1, () => answered("It holds ten [1]."), CHECKED_RECORD);
  ({ stdout, stderr } = await enqueued);
  batch = "graded";
});
afterAll(() => desk.dispose());

test("the end of a batch says how many statements were left out, and how to read which", () => {
  expect(stdout + stderr).toMatch(
    /1 statement was left out of 1 answer\. Which: nightdesk sql "select .* from claims where .*"/,
  );
});

const LEFT_OUT = "It costs 17. (a figure, date or unit of it is not there)";

test("a report has each statement beside the words that carry it, and what was left out with its reason", async () => {
  const { stdout: written } = await desk.run("batch", "report", batch);
  for (const path of written.trim().split("\n")) {
    const form = await readFile(join(desk.workroot, path), "utf8");
    for (const words of [
      "unconfirmed",
      "It is always blue.",
      "It is blue.",
      "1 unconfirmed",
      "1 statement was left out of 1 answer",
      "Left out of the answer",
      LEFT_OUT,
    ])
      expect(form).toContain(words);
  }
});

test("the share of an answer that was read in part says how many statements it leaves out", () => {
  const claim = storedClaim.parse({
    ...{ text: "It holds ten.", grade: "supported", reason: "computed", cites: [1] },
    ...{ arithmetic: null, number: 1, path: "a.md", line_start: 1, line_end: 1 },
    ...{ locator: null, quote: "ten", other_places: [] },
  });
  const [note] = claimBlocks([claim, claim], 45, "brief");
  expect(note).toEqual({
    kind: "note",
    text: "Statements: 2 of 2 supported; 43 more are not counted here.",
  });
});

test("a terminal names what is not carried as it stands, and what stands there", async () => {
  const asked = desk.run("ask", "How many?", "--wait");
  await workByHand(desk.database, 1, () => answered("It holds ten [1]."), CHECKED_RECORD);
  const { stdout: shown } = await asked;
  expect(shown).toContain(
    "Statements: 1 of 2 supported, 1 unconfirmed\n" +
      "unconfirmed: It is always blue. (an examined model does not find it there)\n  allowed/corpus/a.md line 2: It is blue.\n",
  );
  expect(shown).not.toContain("\nsupported:");
  expect(shown).toContain(`left out: ${LEFT_OUT}\n`);
});

test("JSON and exports have the grade and the statements that the answer holds", async () => {
  const { stdout: exported } = await desk.run("batch", "export", batch);
  expect(JSON.parse(exported)).toMatchObject({
    grade: "unconfirmed",
    claims_dropped: 1,
    claims_left_out: [
      {
        text: "It costs 17.",
        reason: "figure",
        why: "a figure, date or unit of it is not there",
      },
    ],
    claims: [
      { text: "It holds ten.", grade: "supported", cites: [1], path: "allowed/corpus/a.md" },
      { text: "It is always blue.", grade: "unconfirmed", reason: "judge", quote: "It is blue." },
    ],
  });
});

test("a refusal names the statements of which the evidence carried none", async () => {
  const unsupported: Settlement = {
    kind: "refused",
    code: "ANSWER_UNSUPPORTED",
    message: "Nothing carries it.",
  };
  const record = {
    ...CHECKED_RECORD,
    claims: CHECKED_RECORD.claims.filter(({ fate }) => fate === "dropped"),
  };
  const refuse = async (...flags: readonly string[]) => {
    const asked = desk.run("ask", `How many with ${flags.length} flags?`, "--wait", ...flags);
    await workByHand(desk.database, 1, () => unsupported, record);
    return asked;
  };
  const { stdout: shown, stderr: said, code } = await refuse();
  expect(code).toBe(4);
  expect(shown + said).toContain(`left out: ${LEFT_OUT}\n`);
  const { stdout: json } = await refuse("--json");
  expect(JSON.parse(json)).toMatchObject({
    error_code: "ANSWER_UNSUPPORTED",
    claims_left_out: [{ text: "It costs 17.", reason: "figure" }],
  });
});
