import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { claimJob } from "../../src/shared/store/jobs/claim-job.ts";
import { dispatchDueJobs, takeBackLostJobs } from "../../src/shared/store/jobs/dispatch.ts";
import { evaluateHolds } from "../../src/shared/store/jobs/holds.ts";
import { settleRun } from "../../src/shared/store/jobs/settle-run.ts";
import { selectBatchBudget, setBatchBudget } from "../../src/shared/store/hosts/budgets.ts";
import {
  chargeLostCalls,
  endCall,
  UNMADE_CALL,
  takeCall,
} from "../../src/shared/store/hosts/calls.ts";
import type { CallCost, CallEnd, TakenCall } from "../../src/shared/store/hosts/calls.ts";
import {
  claimProbe,
  countHostFailure,
  enterHost,
  postponeProbe,
  selectHosts,
  wakeForgottenHosts,
  wakeHost,
} from "../../src/shared/store/hosts/hosts.ts";
import type { Settlement } from "../../src/shared/job/settlement.ts";
import {
  askJob,
  EMPTY_RECORD,
  expireLease,
  MADE_WITH,
  openBatchOf,
  rowOf,
  WORKER,
} from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const HOST = "http://models:11434";
const NO_LIMITS = { tokens: null, calls: null, seconds: null };
const TONIGHT = { date: "2026-11-21", endsAt: new Date("2026-11-22T11:00:00Z") };
const COST: CallCost = { tokens: 100, night: TONIGHT, perBatch: NO_LIMITS, perNight: NO_LIMITS };
const ANSWERED: CallEnd = { answer: "answered", calls: 1, tokens: 60, seconds: 2 };

type Run = { readonly runId: string; readonly jobId: string; readonly batchId: string };

describe.each(databases)("pacing on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  beforeEach(async () => {
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.hosts");
    await db.query("delete from nightdesk_data.nights");
    await db.query("delete from nightdesk_data.reservations");
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  async function runs(count: number): Promise<Run[]> {
    const jobs = Array.from({ length: count }, (_, i) => askJob(`${i}`));
    const { batchId } = await openBatchOf(db, jobs);
    const claimed: Run[] = [];
    for (const delivery of await dispatchDueJobs(db, count)) {
      const job = await claimJob(db, delivery, WORKER);
      if (job !== undefined) claimed.push({ batchId, jobId: job.jobId, runId: job.runId });
    }
    return claimed;
  }
  const host = (parallel: number | null) =>
    enterHost(db, { host: HOST, provider: "ollama", parallel });
  const take = (run: Run, ticket: string = randomUUID(), cost: CallCost | null = COST) =>
    takeCall(db, { ticket, runId: run.runId, host: HOST }, cost);
  const outcomes = (taken: readonly TakenCall[]) => taken.map(({ outcome }) => outcome).sort();
  const only = (run: Run | undefined): Run => {
    if (run === undefined) throw new Error("no run");
    return run;
  };
  const one = async (sql: string, values: readonly unknown[] = []) =>
    (await db.query(sql, values)).rows[0] as Record<string, unknown>;
  const capacity = async () => (await selectHosts(db))[0]?.capacity;
  const holdOf = async ({ batchId }: Run) => {
    const batch = await one(
      "select hold_reason, hold_until from nightdesk_data.batches where batch_id = $1",
      [batchId],
    );
    return [batch["hold_reason"], batch["hold_until"]];
  };
  const park = (run: Run) => {
    const settlement: Settlement = {
      kind: "parked",
      code: "MODEL_UNREACHABLE",
      message: "down",
      delayMs: 60_000,
      host: HOST,
    };
    return settleRun(db, { runId: run.runId, runMs: 1, ...MADE_WITH }, settlement, EMPTY_RECORD);
  };
  const fail = (run: Run, most = 2) =>
    countHostFailure(db, {
      host: HOST,
      code: "MODEL_UNREACHABLE",
      message: "down",
      batchId: run.batchId,
      most,
      pauseMs: 5_000,
    });

  describe("slots", () => {
    test("are as many as the host serves at once, however many ask at the same time", async () => {
      await host(3);
      const all = await runs(6);
      const taken = await Promise.all(all.map((run) => take(run)));
      expect(taken.filter(({ outcome }) => outcome === "taken").length).toBe(3);
      expect((await one("select in_use, waiting from nightdesk.hosts"))["in_use"]).toEqual("3");
    });

    test("are of the provider that the configuration names now, for its probes", async () => {
      await host(2);
      await enterHost(db, { host: HOST, provider: "openai-compatible", parallel: 2 });
      expect((await selectHosts(db))[0]?.provider).toBe("openai-compatible");
    });

    test("are given in the order in which calls came", async () => {
      await host(1);
      const [a, b, c] = await runs(3);
      const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
      await take(only(a), first);
      await take(only(b), second);
      await take(only(c), third);
      await endCall(db, first, ANSWERED);
      expect((await take(only(c), third)).outcome).toBe("wait");
      expect((await take(only(b), second)).outcome).toBe("taken");
      await endCall(db, second, ANSWERED);
      expect((await take(only(c), third)).outcome).toBe("taken");
    });

    test("are not given up to one who comes later while another waits", async () => {
      await host(1);
      const [a, b, c] = await runs(3);
      const [first, second] = [randomUUID(), randomUUID()];
      await take(only(a), first);
      await take(only(b), second);
      await endCall(db, first, ANSWERED);
      expect((await take(only(c))).outcome).toBe("wait");
      await endCall(db, second, UNMADE_CALL);
    });

    test("of a run that lost its job are taken by the next, and what it asked for is charged", async () => {
      await host(1);
      const [a, b] = await runs(2);
      await take(only(a));
      await db.query(
        "update nightdesk_data.host_slots set taken_at = taken_at - interval '2 s' where ticket is not null",
      );
      const ticket = randomUUID();
      expect((await take(only(b), ticket)).outcome).toBe("wait");
      await expireLease(db, only(a).jobId);
      await db.query(
        `update nightdesk_data.reservations c set made_at = j.lease_until - interval '19 s'
           from nightdesk_data.jobs j where j.run_id = c.run_id`,
      );
      expect((await take(only(b), ticket)).outcome).toBe("taken");
      expect(await chargeLostCalls(db)).toBe(1);
      const budget = await selectBatchBudget(db, only(b).batchId);
      expect(budget).toMatchObject({
        used: { calls: 1, tokens: 100 },
        reserved: { calls: 1, tokens: 100 },
      });
      // Until its lease ended.
      expect(budget?.used.seconds).toBeCloseTo(19);
      const night = await one("select * from nightdesk_data.nights");
      expect(night).toMatchObject({ calls_used: "1", tokens_used: "100" });
    });

    test("are taken once by a call that asks twice, because the reply was lost", async () => {
      await host(2);
      const [a] = await runs(1);
      const ticket = randomUUID();
      expect(outcomes([await take(only(a), ticket), await take(only(a), ticket)])).toEqual([
        "taken",
        "taken",
      ]);
      expect((await one("select in_use from nightdesk.hosts"))["in_use"]).toBe("1");
    });

    test("are not given to a run that has lost its job", async () => {
      await host(1);
      const [a] = await runs(1);
      await park(only(a));
      expect((await take(only(a))).outcome).toBe("lost");
    });

    test("beyond a capacity that was lowered count until they are free", async () => {
      await host(4);
      const [a, b, c, d, e] = await runs(5);
      const tickets = await Promise.all(
        [a, b, c, d].map(async (run) => {
          const ticket = randomUUID();
          await take(only(run), ticket);
          return ticket;
        }),
      );
      const slots = await db.query(
        "select ticket from nightdesk_data.host_slots where ticket is not null order by slot",
      );
      const [lowest, next, above] = (slots.rows as { ticket: string }[]).map(
        ({ ticket }) => ticket,
      );
      expect(tickets).toHaveLength(4);
      // The host says that it is busy: two at once from now on, while slots 3 and 4 are still in use.
      await endCall(db, lowest ?? "", { ...UNMADE_CALL, answer: "busy" });
      expect(await capacity()).toBe(2);
      await endCall(db, next ?? "", ANSWERED);
      const waiting = randomUUID();
      expect((await take(only(e), waiting)).outcome).toBe("wait");
      await endCall(db, above ?? "", ANSWERED);
      expect((await take(only(e), waiting)).outcome).toBe("taken");
    });
  });

  describe("the capacity that is found", () => {
    /** Calls with every slot in use, until the capacity changes. */
    async function callsAt(width: number, seconds: number): Promise<void> {
      const all = await runs(width);
      for (let round = 0; round < 40; round += 1) {
        const tickets: string[] = [];
        for (const run of all) {
          const ticket = randomUUID();
          if ((await take(run, ticket)).outcome !== "taken") throw new Error("no slot");
          tickets.push(ticket);
        }
        for (const ticket of tickets)
          await endCall(db, ticket, { ...ANSWERED, tokens: 100, seconds });
        if ((await capacity()) !== width) break;
      }
      await db.query("delete from nightdesk_data.batches");
    }

    test("grows while that makes the host faster, and goes back by one when it does not", async () => {
      await host(null);
      expect(await capacity()).toBe(1);
      await callsAt(1, 1);
      expect(await capacity()).toBe(2);
      await callsAt(2, 1);
      expect(await capacity()).toBe(3);
      // Three share what two had.
      await callsAt(3, 1.5);
      expect((await selectHosts(db))[0]).toMatchObject({
        capacity: 2,
        capacityReason: "found: 3 at once gave 200.0 tokens/s, one fewer 200.0",
      });
    });

    test("is halved once by calls that the host was too busy for at the same time", async () => {
      await host(8);
      const all = await runs(8);
      const tickets = all.map(() => randomUUID());
      for (const [index, run] of all.entries()) await take(run, tickets[index]);
      for (const ticket of tickets) await endCall(db, ticket, { ...UNMADE_CALL, answer: "busy" });
      expect((await selectHosts(db))[0]).toMatchObject({ capacity: 4 });
    });
  });

  describe("a host that is down", () => {
    test("is given up after so many failures, and holds the batches that wait for it", async () => {
      await host(1);
      const [a, b] = await runs(2);
      const [other] = await runs(1);
      expect(await fail(only(a))).toBe("counted");
      expect(await holdOf(only(a))).toEqual([null, null]);
      expect(await fail(only(b))).toBe("opened");
      await park(only(b));
      expect(await holdOf(only(a))).toEqual(["host", expect.any(Date)]);
      expect(await holdOf(only(other))).toEqual([null, null]);
      expect((await take(only(other))).outcome).toBe("open");
      await evaluateHolds(db);
      expect(await holdOf(only(a))).toEqual(["host", expect.any(Date)]);
      expect(await holdOf(only(other))).toEqual([null, null]);
    });

    test("is asked by one worker at a time, after longer and longer pauses", async () => {
      await host(1);
      const [a] = await runs(1);
      await fail(only(a), 1);
      const [me, you] = [randomUUID(), randomUUID()];
      const due = () =>
        db.query("update nightdesk_data.hosts set next_probe_at = now() - interval '1 s'");
      expect(await claimProbe(db, me, [HOST])).toBeUndefined();
      await due();
      expect(await claimProbe(db, you, ["http://elsewhere"])).toBeUndefined();
      const claims = await Promise.all([me, you].map((prober) => claimProbe(db, prober, [HOST])));
      expect(claims.filter((claim) => claim !== undefined)).toEqual([
        { host: HOST, provider: "ollama", trial: null },
      ]);
      const prober = claims[0] === undefined ? you : me;
      for (const pause of [10, 20, 40, 80, 120, 120, 120]) {
        const { begun } = await one("select clock_timestamp()::text as begun");
        await postponeProbe(db, { prober, host: HOST }, { firstMs: 5_000, mostMs: 120_000 });
        const { rows } = await db.query(
          `select next_probe_at - $1::timestamptz >= p.pause and next_probe_at - clock_timestamp() <= p.pause as fits
             from nightdesk_data.hosts, make_interval(secs => $2) as p (pause)`,
          [begun, pause],
        );
        expect({ pause, rows }).toEqual({ pause, rows: [{ fits: true }] });
        await due();
        await claimProbe(db, prober, [HOST]);
      }
    });

    test("wakes all that is parked for it when it is back, without an attempt used up", async () => {
      await host(1);
      const [a, b] = await runs(2);
      await fail(only(a));
      await fail(only(b));
      await park(only(a));
      await park(only(b));
      await wakeHost(db, HOST);
      expect(await holdOf(only(a))).toEqual([null, null]);
      for (const run of [a, b]) {
        const row = await rowOf(db, only(run).jobId);
        expect(row).toMatchObject({ state: "parked", attempt: 0 });
        expect((await one("select $1::timestamptz <= now() as due", [row["due_at"]]))["due"]).toBe(
          true,
        );
      }
      expect((await selectHosts(db))[0]).toMatchObject({ state: "closed", nextTryAt: null });
    });

    test("is taken for up again by a call that succeeds, and its failures are forgotten", async () => {
      await host(2);
      const [a, b] = await runs(2);
      const ticket = randomUUID();
      await take(only(a), ticket);
      await fail(only(b), 1);
      await endCall(db, ticket, ANSWERED);
      expect(await one("select state, failures from nightdesk.hosts")).toEqual({
        state: "closed",
        failures: 0,
      });
    });

    test("rests as briefly as at first where it has answered a call since, and no sooner", async () => {
      await host(2);
      const [a, b] = await runs(2);
      const ticket = randomUUID();
      await take(only(a), ticket);
      const restsFor = async () => {
        await fail(only(b), 1);
        const { seconds } = await one(
          "select extract(epoch from next_probe_at - clock_timestamp())::float8 as seconds from nightdesk_data.hosts",
        );
        return Number(seconds);
      };
      expect(await restsFor()).toBeLessThanOrEqual(5);
      const prober = randomUUID();
      await db.query("update nightdesk_data.hosts set next_probe_at = now() - interval '1 s'");
      await claimProbe(db, prober, [HOST]);
      await postponeProbe(db, { prober, host: HOST }, { firstMs: 5_000, mostMs: 120_000 });
      await wakeHost(db, HOST);
      expect(await restsFor()).toBeGreaterThan(5);
      await endCall(db, ticket, ANSWERED);
      expect(await restsFor()).toBeLessThanOrEqual(5);
    });

    test("is not waited for when no worker is configured for it any more", async () => {
      await host(1);
      const [a] = await runs(1);
      await fail(only(a), 1);
      await wakeForgottenHosts(db, 600_000);
      expect((await selectHosts(db))[0]?.state).toBe("open");
      await db.query("update nightdesk_data.hosts set next_probe_at = now() - interval '11 min'");
      await wakeForgottenHosts(db, 600_000);
      expect((await selectHosts(db))[0]?.state).toBe("closed");
    });
  });

  describe("budgets", () => {
    test("are charged with the call that a worker died in, and with no hour in which nobody was there", async () => {
      await host(1);
      const [a] = await runs(1);
      await take(only(a));
      await db.query(
        `update nightdesk_data.reservations set made_at = now() - interval '1 hour 30 s'`,
      );
      await db.query(`update nightdesk_data.runs set started_at = now() - interval '1 hour 30 s'`);
      await db.query(
        `update nightdesk_data.jobs j set lease_until = c.made_at + interval '30 s'
           from nightdesk_data.reservations c where c.run_id = j.run_id`,
      );
      await takeBackLostJobs(db);
      expect(await chargeLostCalls(db)).toBe(1);
      const budget = await selectBatchBudget(db, only(a).batchId);
      expect(budget).toMatchObject({
        used: { calls: 1, tokens: 100 },
        reserved: { calls: 0, tokens: 0 },
      });
      expect(Math.round(budget?.used.seconds ?? 0)).toBe(30);
      expect(await chargeLostCalls(db)).toBe(0);
    });

    const calls = (limit: number): CallCost => ({
      ...COST,
      perBatch: { ...NO_LIMITS, calls: limit },
    });

    test("of calls let exactly so many through, and hold the batch at the next", async () => {
      await host(20);
      const all = await runs(10);
      const taken = await Promise.all(all.map((run) => take(run, randomUUID(), calls(3))));
      expect(outcomes(taken)).toEqual([
        ...Array<string>(7).fill("budget"),
        ...Array<string>(3).fill("taken"),
      ]);
      expect(await holdOf(only(all[0]))).toEqual(["budget", null]);
      await evaluateHolds(db);
      expect(await holdOf(only(all[0]))).toEqual(["budget", null]);
    });

    test("are charged with what a call cost, not with what was reserved", async () => {
      await host(1);
      const [a] = await runs(1);
      const ticket = randomUUID();
      await take(only(a), ticket);
      expect(await selectBatchBudget(db, only(a).batchId)).toMatchObject({
        used: { tokens: 0, calls: 0, seconds: 0 },
        reserved: { tokens: 100, calls: 1 },
      });
      await endCall(db, ticket, ANSWERED);
      await endCall(db, ticket, ANSWERED);
      expect(await selectBatchBudget(db, only(a).batchId)).toMatchObject({
        used: { tokens: 60, calls: 1, seconds: 2 },
        reserved: { tokens: 0, calls: 0 },
      });
    });

    test("are charged with each call, also where one run makes several", async () => {
      await host(1);
      const [a, b] = await runs(2);
      for (const run of [a, a, b]) {
        const ticket = randomUUID();
        await take(only(run), ticket);
        await endCall(db, ticket, { ...ANSWERED, money: 0.25 });
      }
      const used = { tokens: 180, calls: 3, seconds: 6, money: 0.75 };
      const none = { tokens: 0, calls: 0 };
      const ofBatch = await selectBatchBudget(db, only(a).batchId);
      expect(ofBatch).toMatchObject({ used, reserved: none });
      const ofNight = await one(
        `select json_build_object('tokens', tokens_used, 'calls', calls_used, 'seconds', seconds_used, 'money', money_used) as used,
                json_build_object('tokens', tokens_reserved, 'calls', calls_reserved) as reserved from nightdesk_data.nights`,
      );
      expect(ofNight).toEqual({ used, reserved: none });
    });

    test("go on when a call in flight cost less than it might have, and not before", async () => {
      await host(2);
      const [a, b] = await runs(2);
      const cost = { ...COST, perBatch: { ...NO_LIMITS, tokens: 150 } };
      const ticket = randomUUID();
      await take(only(a), ticket, cost);
      expect(await take(only(b), randomUUID(), cost)).toMatchObject({
        outcome: "budget",
        detail: { by: "batch", what: "tokens", limit: 150, used: 0, reserved: 100, needed: 100 },
      });
      await evaluateHolds(db);
      expect(await holdOf(only(b))).toEqual(["budget", null]);
      await endCall(db, ticket, ANSWERED);
      await evaluateHolds(db);
      expect(await holdOf(only(b))).toEqual(["budget", null]);
      await setBatchBudget(db, only(b).batchId, { tokens: 160 });
      await evaluateHolds(db);
      expect(await holdOf(only(b))).toEqual([null, null]);
      expect((await take(only(b), randomUUID(), cost)).outcome).toBe("taken");
    });

    test("of a batch's own win over the configuration's, and can be lifted", async () => {
      await host(4);
      const [a, b, c] = await runs(3);
      await setBatchBudget(db, only(a).batchId, { calls: 1 });
      expect((await take(only(a), randomUUID(), calls(50))).outcome).toBe("taken");
      expect((await take(only(b), randomUUID(), calls(50))).outcome).toBe("budget");
      await setBatchBudget(db, only(a).batchId, { calls: null });
      await evaluateHolds(db);
      expect(await holdOf(only(b))).toEqual([null, null]);
      expect((await take(only(c), randomUUID(), calls(1))).outcome).toBe("taken");
    });

    test("of a night hold every batch until the next one", async () => {
      await host(4);
      const [a] = await runs(1);
      const [b] = await runs(1);
      const cost = { ...COST, perNight: { ...NO_LIMITS, calls: 1 } };
      await take(only(a), randomUUID(), cost);
      expect((await take(only(b), randomUUID(), cost)).outcome).toBe("budget");
      expect(await holdOf(only(b))).toEqual(["budget", TONIGHT.endsAt]);
      await evaluateHolds(db, new Date("2026-11-22T02:00:00Z"));
      expect(await holdOf(only(b))).toEqual(["budget", TONIGHT.endsAt]);
      await evaluateHolds(db, new Date("2026-11-22T13:00:00Z"));
      expect(await holdOf(only(b))).toEqual([null, null]);
    });

    test("of seconds let calls begin while some are left", async () => {
      await host(1);
      const [a] = await runs(1);
      const cost = { ...COST, perBatch: { ...NO_LIMITS, seconds: 3 } };
      for (const expected of ["taken", "taken", "budget"]) {
        const ticket = randomUUID();
        expect((await take(only(a), ticket, cost)).outcome).toBe(expected);
        await endCall(db, ticket, ANSWERED);
      }
    });

    test("are not asked of a call that none counts", async () => {
      await host(1);
      const [a] = await runs(1);
      expect((await take(only(a), randomUUID(), null)).outcome).toBe("taken");
      expect(await selectBatchBudget(db, only(a).batchId)).toBeUndefined();
    });
  });
});
