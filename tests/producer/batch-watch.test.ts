import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { openDesk, pretendWorker } from "./desk.ts";
import type { Desk } from "./desk.ts";
import { insertFinishedBatch } from "../support/finished-batch.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterAll(() => desk.dispose());

const chat = { kind: "chat", prompt: "Hello?" } as const;

test("a batch that is watched until it has ended is shown then, with 3 where not all succeeded", async () => {
  await insertFinishedBatch(desk.database, {
    name: "mixed",
    jobs: [
      { customId: "a", input: chat, answer: "Hi." },
      { customId: "b", input: chat, state: "failed", code: "MODEL_TIMEOUT", message: "Late." },
    ],
  });
  const { code, stdout, stderr } = await desk.run("batch", "show", "mixed", "--watch");
  expect(code).toBe(3);
  expect(stderr).toContain(`Batch "mixed" has ended: 1 succeeded, 1 failed.`);
  expect(stdout).toContain("MODEL_TIMEOUT, 1 job failed: b");
});

test("one that all of succeeded ends with 0, and without --watch nothing is waited for", async () => {
  await insertFinishedBatch(desk.database, {
    name: "good",
    jobs: [{ customId: "a", input: chat, answer: "Hi." }],
  });
  expect((await desk.run("batch", "show", "good", "--wait")).code).toBe(0);
  expect((await desk.run("batch", "show", "mixed")).code).toBe(0);
});

test("one that is held ends with 75 where that is not to be waited for", async () => {
  await desk.run(
    "enqueue",
    await desk.write("h.jsonl", JSON.stringify(chat)),
    "--batch-name",
    "held",
  );
  await desk.database.query(
    "update nightdesk_data.batches set hold_reason = 'paused', paused_at = now() where name = 'held'",
  );
  const { code } = await desk.run("batch", "show", "held", "--watch", "--no-hold");
  expect(code).toBe(75);
});
