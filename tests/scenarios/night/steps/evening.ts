import { expect } from "@jest/globals";
import { secondBefore } from "../fake-time.ts";
import { AT_ONCE, IN_HAND } from "../fixture.ts";
import { act } from "../scenario.ts";
import type { Act } from "../scenario.ts";

/** The window opens, the host is slow, a worker dies. */
export const EVENING: readonly Act[] = [
  act("waits for its window", async ({ stage, night, script, jobs }) => {
    stage.time.set(secondBefore(stage.time.opens));
    await night.enqueue("night", script.lines);
    await stage.startWorker();
    await night.isHeld("window");
    expect(await night.tonight()).toMatchObject({
      state: "held",
      hold_until: stage.time.opens,
      total: jobs,
      queued: jobs,
    });
    expect(stage.host.chats()).toEqual([]);
  }),
  act(
    "begins as it opens, and asks no more at once of a slow host than it serves",
    async ({ stage, night, share }) => {
      await stage.startWorkerProcess();
      await stage.setTime(stage.time.opens);
      await stage.gate.letThrough(share(0.06));
      await night.isFull();
      expect(stage.host.mostAtOnce("/api/chat")).toBe(AT_ONCE);
      expect((await night.tonight()).state).toBe("running");
    },
  ),
  act(
    "loses nothing of a worker that is killed with replies on their way",
    async ({ stage, night, share }) => {
      await stage.killWorkerProcess();
      expect(stage.killed).toHaveLength(IN_HAND);
      await stage.startWorker();
      await stage.gate.letThrough(share(0.06));
      await night.isFull();
    },
  ),
];
