import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
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

test("a report has each statement beside the words that carry it, and counts what was left out", async () => {
  const { stdout: written } = await desk.run("batch", "report", batch);
  for (const path of written.trim().split("\n")) {
    const form = await readFile(join(desk.workroot, path), "utf8");
    for (const words of [
      "partly, doubt",
      "It is always blue.",
      "It is blue.",
      "1 partly",
      "1 statement was left out of 1 answer",
    ])
      expect(form).toContain(words);
    expect(form).not.toContain("It costs 17.");
  }
});

test("a terminal names what is not carried as it stands, and what stands there", async () => {
  const asked = desk.run("ask", "How many?", "--wait");
  await workByHand(desk.database, 1, () => answered("It holds ten [1]."), CHECKED_RECORD);
  const { stdout: shown } = await asked;
  expect(shown).toContain(
    "partly, doubt: It is always blue.\n  allowed/corpus/a.md line 2: It is blue.\n",
  );
  expect(shown).not.toContain("supported:");
});

test("JSON and exports have the grade and the statements that the answer holds", async () => {
  const { stdout: exported } = await desk.run("batch", "export", batch);
  expect(JSON.parse(exported)).toMatchObject({
    grade: "partly",
    claims_dropped: 1,
    claims: [
      { text: "It holds ten.", grade: "supported", cites: [1], path: "allowed/corpus/a.md" },
      { text: "It is always blue.", grade: "partly", reason: "cue", quote: "It is blue." },
    ],
  });
});
