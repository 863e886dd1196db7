import { expect } from "@jest/globals";
import { callsOf, progressOf } from "../accounts.ts";
import { secondBefore } from "../fake-time.ts";
import { IN_HAND } from "../fixture.ts";
import { extraLines } from "../night-jobs.ts";
import { patiently } from "../patience.ts";
import { act } from "../scenario.ts";
import type { Act } from "../scenario.ts";

/** What stops a night, and lets it go on. */
export const HOLDS: readonly Act[] = [
  act(
    "takes nothing at the end of its window, and lets what runs finish",
    async ({ stage, night }) => {
      await stage.setTime(stage.time.closes);
      await patiently("it is held", async () => (await night.tonight()).hold_reason === "window");
      const { succeeded, running } = await night.tonight();
      expect(running).toBe(2 * IN_HAND);
      stage.gate.open();
      await night.isHeld("window");
      const morning = await night.tonight();
      expect(morning).toMatchObject({
        succeeded: succeeded + running,
        hold_until: stage.time.opensAgain,
      });

      const asked = stage.host.chats().length;
      stage.gate.shut();
      await stage.setTime(secondBefore(stage.time.opensAgain));
      expect(await night.tonight()).toEqual(morning);
      expect(stage.host.chats()).toHaveLength(asked);
      await stage.setTime(stage.time.opensAgain);
      await night.isFull();
    },
  ),
  act(
    "is held when its budget is used up, to the call, and goes on when it is raised",
    async ({ stage, night, jobs, share }) => {
      const limit = (await callsOf(stage.db, "night")) + share(0.08);
      await stage.nightdesk("batch", "budget", "night", "--calls", `${limit}`);
      stage.gate.open();
      await night.isHeld("budget");
      expect(await callsOf(stage.db, "night")).toBe(limit);
      stage.gate.shut();
      await stage.nightdesk("batch", "budget", "night", "--calls", `${limit + 2 * jobs}`);
      await night.isFull();
    },
  ),
  act(
    "is paused for another batch, which a command cancels: what had finished stays",
    async ({ stage, night, share }) => {
      await stage.nightdesk("batch", "pause", "night");
      stage.gate.open();
      await night.isHeld("paused");
      stage.gate.shut();
      const done = share(0.02);
      // What is left fills all hands.
      const extra = Math.max(share(0.06), done + 2 * IN_HAND);
      await night.enqueue("extra", extraLines(extra));
      await stage.gate.letThrough(done);
      await patiently(
        "what went on is stored",
        async () => (await progressOf(stage.db, "extra")).succeeded === done,
      );
      // What takes their places has asked by then: a call that is cut off on its way is charged, and no host has seen it.
      await night.isFull("extra");
      await stage.nightdesk("batch", "cancel", "extra");
      await patiently("no reply is on its way", async () => stage.gate.waiting() === 0);
      await patiently(
        "nothing runs",
        async () => (await progressOf(stage.db, "extra")).running === 0,
      );
      expect(await progressOf(stage.db, "extra")).toMatchObject({
        state: "cancelled",
        succeeded: done,
        cancelled: extra - done,
      });
      await stage.nightdesk("batch", "resume", "night");
      await night.isFull();
    },
  ),
];
