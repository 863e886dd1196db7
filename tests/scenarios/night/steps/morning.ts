import { expect } from "@jest/globals";
import { progressOf } from "../accounts.ts";
import { patiently } from "../patience.ts";
import {
  expectNothingTwice,
  expectTakenOver,
  expectTrueCharges,
  expectTrueReport,
} from "../reckoning.ts";
import { act } from "../scenario.ts";
import type { Act } from "../scenario.ts";
import { retryNow } from "../skip-ahead.ts";

/** How it ends, what the rows say of it, and the same jobs once more. */
export const MORNING: readonly Act[] = [
  act("ends with every job accounted for", async ({ stage, night, script, jobs }) => {
    stage.gate.open();
    await patiently("the night is over", async () => {
      await retryNow(stage.db);
      return (await night.tonight()).state === "completed";
    });
    const { refused, ...counts } = script.expected;
    expect(await night.tonight()).toMatchObject({
      total: jobs,
      succeeded: counts.succeeded,
      refused: refused.FILE_NOT_FOUND + refused.FILE_EMPTY,
      failed: counts.failed,
      queued: 0,
      running: 0,
      parked: 0,
      cancelled: 0,
      expired: 0,
    });
  }),
  act("did nothing twice", ({ stage, script }) => expectNothingTwice(stage, script)),
  act("was charged with the calls that were made, and with no other", ({ stage, script }) =>
    expectTrueCharges(stage, script),
  ),
  act("is told in the morning as the rows tell it", ({ stage }) =>
    expectTrueReport(stage, "night"),
  ),
  act("is made again without asking the model, because nothing has changed", async ({ stage }) => {
    const asked = stage.host.chats().length;
    const states = ["--where", "state=succeeded", "--where", "state=refused"];
    await stage.nightdesk("batch", "rerun", "night", ...states, "--batch-name", "again");
    await patiently("it is over", async () => {
      return (await progressOf(stage.db, "again")).state === "completed";
    });
    expect(stage.host.chats()).toHaveLength(asked);
    await expectTakenOver(stage, "night", "again");
  }),
  act("added up whenever somebody looked", async ({ stage }) => {
    expect(stage.onlooker.looks()).toBeGreaterThan(50);
    expect(stage.onlooker.faults()).toEqual([]);
  }),
];
