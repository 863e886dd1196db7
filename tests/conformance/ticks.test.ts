import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { openTicks } from "../../src/shared/queue/tick-queue.ts";
import type { Tick, TickQueue } from "../../src/shared/queue/tick-queue.ts";
import { eventually } from "./signal.ts";
import { openTickStorage } from "./tick-queue.ts";
import type { TickStorage } from "./tick-queue.ts";
import { startTopology, topologies } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const NIGHTLY = { name: "nightly", cron: "30 2 * * *", timezone: "Europe/Berlin" };

describe.each(topologies)("ticks on %s", (name) => {
  let topology: Topology;
  let tickStorage: TickStorage;
  let ticks: TickQueue;
  const fail = (error: unknown) => {
    throw error;
  };
  beforeAll(async () => {
    topology = await startTopology(name);
    // The embedded database migrates when it starts.
    await (await topology.connect()).end();
    tickStorage = openTickStorage(topology);
    ticks = openTicks(tickStorage.storage, fail);
  });
  afterAll(async () => {
    await ticks.close();
    await tickStorage.close();
    await topology.dispose();
  });

  test("a scheduler is there with its next time, and gone when it is removed", async () => {
    await ticks.upsertScheduler(NIGHTLY);
    const [scheduler] = await ticks.schedulers();
    expect(scheduler).toMatchObject(NIGHTLY);
    expect(scheduler?.next?.getTime()).toBeGreaterThan(Date.now());
    expect(scheduler?.next?.getUTCMinutes()).toBe(30);
    await ticks.removeScheduler("nightly");
    expect(await ticks.schedulers()).toEqual([]);
  });

  test("one of two listeners hears a tick, with the time that it was planned for, and the next one waits", async () => {
    await ticks.upsertScheduler({ ...NIGHTLY, cron: "0 3 * * *" });
    await ticks.upsertScheduler(NIGHTLY);
    const [planned] = await ticks.schedulers();
    const heard: Tick[] = [];
    const other = openTicks(tickStorage.storage, fail);
    const listeners = [ticks, other].map((queue) =>
      queue.listen(async (tick) => {
        heard.push(tick);
      }),
    );
    await Promise.all(listeners.map((listener) => listener.ready()));
    expect(await tickStorage.hurry()).toBe(1);
    await eventually("the tick is heard", async () => heard.length > 0);
    await eventually("the next tick waits", async () => {
      const [next] = await ticks.schedulers();
      return (next?.next?.getTime() ?? 0) > (planned?.next?.getTime() ?? 0);
    });
    expect(heard).toEqual([{ schedule: "nightly", plannedAt: planned?.next }]);
    await Promise.all(listeners.map((listener) => listener.close()));
    await other.close();
  });

  test("a listener that throws hears the same tick again", async () => {
    await ticks.upsertScheduler({ ...NIGHTLY, name: "again" });
    const heard: number[] = [];
    const listener = ticks.listen(async ({ schedule, plannedAt }) => {
      if (schedule !== "again") return;
      heard.push(plannedAt.getTime());
      if (heard.length === 1) throw new Error("the database is away");
    });
    await listener.ready();
    await eventually("the first tick is heard twice", async () => {
      await tickStorage.hurry();
      return heard.filter((plannedAt) => plannedAt === heard[0]).length === 2;
    });
    await listener.close();
  });
});
