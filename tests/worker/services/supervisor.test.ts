import { afterEach, expect, test } from "@jest/globals";
import type { FaultLog } from "../../../src/worker/loop.ts";
import { supervise } from "../../../src/worker/services/supervisor.ts";
import type { Service, Supervisor } from "../../../src/worker/services/supervisor.ts";
import { eventually, signal } from "../../conformance/signal.ts";

const NEVER_MS = 1_000_000;

const running: Supervisor[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((supervisor) => supervisor.stop()));
});

let said: string[] = [];
const faults: FaultLog = {
  broke: (what) => said.push(`broke: ${what}`),
  works: (what) => {
    if (said.at(-1) === `broke: ${what}`) said.push(`over: ${what}`);
  },
};

function start(...services: readonly Partial<Service>[]): Supervisor {
  said = [];
  const supervisor = supervise(
    services.map((service) => ({
      name: "service",
      trouble: "it could not be done",
      channels: [],
      run: () => Promise.resolve(NEVER_MS),
      ...service,
    })),
    faults,
  );
  running.push(supervisor);
  return supervisor;
}

test("a service runs at once, and again after the time that it asks for", async () => {
  let runs = 0;
  start({
    run: async () => {
      runs += 1;
      return runs < 3 ? 1 : NEVER_MS;
    },
  });
  await eventually("it has run three times", async () => runs === 3);
});

test("a notification runs those that listen to its channel, and a gap runs all", async () => {
  const runs = { jobs: 0, schedules: 0 };
  const count = (name: keyof typeof runs) => async () => {
    runs[name] += 1;
    return NEVER_MS;
  };
  const supervisor = start(
    { channels: ["jobs"], run: count("jobs") },
    { channels: ["schedules"], run: count("schedules") },
  );
  expect(supervisor.channels).toEqual(["jobs", "schedules"]);
  await eventually("both have run", async () => runs.jobs === 1 && runs.schedules === 1);
  supervisor.wake("schedules");
  await eventually("one has run again", async () => runs.schedules === 2);
  supervisor.wake();
  await eventually("both have run again", async () => runs.schedules === 3);
  expect(runs).toEqual({ jobs: 2, schedules: 3 });
});

test("a service that is woken while it runs runs once more, and never twice at a time", async () => {
  let inHand = 0;
  let runs = 0;
  const first = signal();
  const supervisor = start({
    channels: ["jobs"],
    run: async () => {
      runs += 1;
      inHand += 1;
      expect(inHand).toBe(1);
      if (runs === 1) await first.promise;
      inHand -= 1;
      return NEVER_MS;
    },
  });
  for (let i = 0; i < 5; i += 1) supervisor.wake("jobs");
  expect(runs).toBe(1);
  first.resolve();
  await eventually("it has run once more", async () => runs === 2);
  await supervisor.stop();
  expect(runs).toBe(2);
});

test("a service may wake itself", async () => {
  let runs = 0;
  start({
    run: async ({ wake }) => {
      runs += 1;
      if (runs < 4) wake();
      return NEVER_MS;
    },
  });
  await eventually("it has run four times", async () => runs === 4);
});

test("an error is logged and the service runs again, after rests that grow", async () => {
  const begunAt: number[] = [];
  start({
    trouble: "jobs could not be dispatched",
    mostRestMs: 500,
    run: async () => {
      begunAt.push(performance.now());
      if (begunAt.length < 4) throw new Error("the database is away");
      return NEVER_MS;
    },
  });
  await eventually("it works", async () => said.length === 4);
  expect(said).toEqual([
    ...[1, 2, 3].map(() => "broke: jobs could not be dispatched"),
    "over: jobs could not be dispatched",
  ]);
  const rests = begunAt.slice(1).map((at, index) => at - (begunAt[index] ?? 0));
  [250, 500, 500].forEach((least, index) => {
    expect(rests[index]).toBeGreaterThanOrEqual(least - 5);
  });
});

test("after it has worked again, the first error is rested for as long as ever", async () => {
  const begunAt: number[] = [];
  start({
    mostRestMs: 10_000,
    run: async () => {
      begunAt.push(performance.now());
      if ([1, 2, 4].includes(begunAt.length)) throw new Error("the database is away");
      return begunAt.length < 5 ? 1 : NEVER_MS;
    },
  });
  await eventually("it works", async () => begunAt.length === 5);
  // After two errors it would be a second.
  expect((begunAt[4] ?? 0) - (begunAt[3] ?? 0)).toBeLessThan(950);
});

test("a service that does not come to its end keeps no other from its work", async () => {
  const stuck = signal();
  let runs = 0;
  start(
    {
      run: async () => {
        await stuck.promise;
        return NEVER_MS;
      },
    },
    {
      run: async () => {
        runs += 1;
        return 1;
      },
    },
  );
  await eventually("the other goes on", async () => runs > 5);
  stuck.resolve();
});

test("a stop tells what runs, waits for it, and calls its end no fault", async () => {
  const begun = signal();
  let hasEnded = false;
  const supervisor = start({
    run: ({ stopping }) =>
      new Promise((_, reject) => {
        stopping.addEventListener("abort", () => {
          hasEnded = true;
          reject(new Error("broken off"));
        });
        begun.resolve();
      }),
  });
  await begun.promise;
  await supervisor.stop();
  expect(hasEnded).toBe(true);
  expect(said).toEqual([]);
});
