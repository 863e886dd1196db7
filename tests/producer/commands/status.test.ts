import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { askAbout, investigationsOf } from "../../support/waiting-investigations.ts";
import { waitForReview } from "../../support/waiting-review.ts";
import { openDesk } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

test("nightdesk alone says that files could not be read, and what names them", async () => {
  expect((await desk.run("status")).stdout).not.toContain("could not be read");
  await desk.database.query(
    `insert into nightdesk_data.document_failures (source, path, error_code, error_message)
     values ('corpus', 'old.doc', 'FILE_FORMAT_INVALID', 'It is old.')`,
  );
  const { stdout } = await desk.run("status");
  expect(stdout).toContain("1 file could not be read; why: nightdesk index\n");
  expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(12);
});

test("nightdesk alone names the command for what waits: answers, then a call that a run waits for", async () => {
  await waitForReview(desk.database);
  expect((await desk.run("status")).stdout).toContain("Next:\n  nightdesk reviews list\n");
  const { jobIds } = await investigationsOf(desk.database, "calls", 1);
  await askAbout(desk.database, jobIds[0] ?? "");
  expect((await desk.run("status")).stdout).toContain("Next:\n  nightdesk approvals review\n");
});
