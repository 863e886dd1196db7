import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { runBin } from "../../support/run-bin.ts";
import type { Ended } from "../../support/run-bin.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

const nightdesk = (words: readonly string[], stdin: string): Promise<Ended> =>
  runBin(words, { cwd: desk.workroot, stdin });

test("A question, a prompt and a task are read from stdin for -", async () => {
  const question = "Which ferry\nleaves first on Sundays?";
  expect((await nightdesk(["ask", "-"], `${question}\n`)).code).toBe(0);
  expect((await nightdesk(["chat", "-"], "  Say hello \n")).code).toBe(0);
  const task = ["investigate", "-", "--tools", "optional", "--preset", "readonly_safe"];
  expect((await nightdesk(task, "Compare the outages")).code).toBe(0);
  const { rows } = await desk.database.query(
    "select coalesce(input ->> 'question', input ->> 'prompt', input ->> 'task') as text from nightdesk_data.jobs order by created_at",
  );
  expect(rows).toEqual([
    { text: question },
    { text: "Say hello" },
    { text: "Compare the outages" },
  ]);
});

test.each([
  ["nothing", " \n", "The question on stdin is empty."],
  ["too much", "x".repeat(1_000_001), "The question on stdin is over 1,000,000 bytes."],
])("What is no question is refused in words: %s", async (_, stdin, message) => {
  const { code, stderr } = await nightdesk(["ask", "-"], stdin);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
});
