import { expect } from "@jest/globals";
import { numberOf } from "../accounts.ts";
import { AT_ONCE, IN_HAND } from "../fixture.ts";
import { patiently } from "../patience.ts";
import { act } from "../scenario.ts";
import type { Act } from "../scenario.ts";
import { askHostsNow, forgetBusyHosts, retryNow } from "../skip-ahead.ts";

/** What a model host can do to a night. */
export const TROUBLE: readonly Act[] = [
  act(
    "waits for a host that is down, and goes on when it is back",
    async ({ stage, night, share }) => {
      await stage.host.goDown();
      await night.isHeld("host");
      const down = await night.tonight();
      expect(down.parked).toBeGreaterThanOrEqual(3);
      await stage.host.comeBack();
      await askHostsNow(stage.db);
      await stage.gate.letThrough(share(0.06));
      await night.isFull();
      expect((await night.tonight()).state).toBe("running");
      expect(
        await numberOf(
          stage.db,
          "select count(*) from nightdesk_data.jobs where state = 'parked' and due_at > now()",
        ),
      ).toBe(0);
    },
  ),
  act("asks again for a reply that broke off in its middle", async ({ stage, night, share }) => {
    stage.model.dieOnce();
    await stage.gate.letThrough(share(0.06));
    expect(
      stage.host.chats().filter((request) => stage.model.met(request) === "dies"),
    ).toHaveLength(1);
    await retryNow(stage.db);
    await night.isFull();
  }),
  act(
    "asks less of a host that is busy, parks no job for it, and finds out what it can take",
    async ({ stage, night }) => {
      stage.host.setChats("busy");
      stage.gate.open();
      const busy = () => stage.host.chats().filter(({ status }) => status === 503).length;
      await patiently("all workers make a pause", async () => busy() === 2 * IN_HAND);
      await patiently("it gets fewer calls", async () => (await night.capacity()) < AT_ONCE);
      expect((await night.tonight()).running).toBe(2 * IN_HAND);
      expect(
        await numberOf(
          stage.db,
          "select count(*) from nightdesk_data.runs where error_code = 'MODEL_OVERLOADED'",
        ),
      ).toBe(0);
      stage.gate.shut();
      stage.host.setChats("ready");
      await patiently("all workers ask again", async () => {
        stage.pauses.advance(60_000);
        return stage.gate.waiting() > 0 && (await night.tonight()).running === 2 * IN_HAND;
      });
      // One by one, with all others on their way: only calls that share a full host say what it can take, and a gate that
      // stands open lets a fast machine work off the night before there are enough of them.
      await patiently("it gets as many calls at once as before", async () => {
        await forgetBusyHosts(stage.db);
        const capacity = await night.capacity();
        if (stage.gate.waiting() >= capacity) await stage.gate.letThrough(1);
        return capacity === AT_ONCE;
      });
      await night.isFull();
    },
  ),
];
