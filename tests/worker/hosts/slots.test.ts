import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { HostFailure } from "../../../src/shared/failure.ts";
import { createLogger } from "../../../src/shared/logger.ts";
import { startTrace } from "../../../src/worker/run-trace.ts";
import type { Database } from "../../../src/shared/store/connection/database.ts";
import { selectHosts } from "../../../src/shared/store/hosts/hosts.ts";
import { callInTurn } from "../../../src/worker/answer/call-model.ts";
import type { RecordedReply } from "../../../src/worker/evidence/types.ts";
import { createHashingEmbedder } from "../../../src/worker/embedders/hashing.ts";
import { choiceAmong, countHostFailures } from "../../../src/worker/hosts/host-state.ts";
import type { PacingSettings } from "../../../src/worker/hosts/pacing-settings.ts";
import { createPacing, paceEmbedder } from "../../../src/worker/hosts/pacing.ts";
import type { PacingParts } from "../../../src/worker/hosts/pacing.ts";
import type { Limiter } from "../../../src/worker/models/limiter.ts";
import { askJob, claimNext, countOf, openBatchOf } from "../../conformance/jobs.ts";
import { eventually } from "../../conformance/signal.ts";
import { databases, startTopology } from "../../conformance/topologies.ts";
import type { Topology } from "../../conformance/topologies.ts";

const NO_LIMITS = { tokens: null, calls: null, seconds: null };
const ESTIMATE = { promptTokens: 80, replyTokens: 20 };
const NEVER = new AbortController().signal;

const REPLY: RecordedReply = {
  reply: {
    kind: "reply",
    text: "yes",
    toolCalls: [],
    promptTokens: 30,
    completionTokens: 5,
    loadMs: 0,
    doneReason: "stop",
  },
  durationMs: 1000,
};

describe.each(databases)("turns on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let other: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    other = await topology.connect();
  });
  afterEach(async () => {
    await db.query("delete from nightdesk_data.batches");
    await db.query("delete from nightdesk_data.hosts");
  });
  afterAll(async () => {
    await Promise.all([db.end(), other.end()]);
    await topology.dispose();
  });

  const host = () => `http://${name}:1`;
  const settingsOf = (parallel: number): PacingSettings => ({
    models: [{ host: host(), provider: "ollama", parallel }],
    ...{ confirming: [], embedders: [], windows: [] },
    ...{ breakerFailures: 2, perBatch: NO_LIMITS, perNight: NO_LIMITS },
  });
  const pacing = (database: Database, parallel: number, parts: Partial<PacingParts> = {}) =>
    createPacing({ database, settings: settingsOf(parallel), ...parts });
  async function claimed(count: number): Promise<string[]> {
    const { jobIds } = await openBatchOf(
      db,
      Array.from({ length: count }, (_, i) => askJob(`${randomUUID()} ${i}`)),
    );
    const ids: string[] = [];
    for (const jobId of jobIds) ids.push((await claimNext(db, jobId)).runId);
    return ids;
  }
  const waiting = (count: number) =>
    eventually(
      `${count} calls wait`,
      async () => (await countOf(db, "nightdesk_data.host_waiters")) === count,
    );
  const paceOf = (of: ReturnType<typeof pacing>, runId: string | undefined): Limiter =>
    of.forModel(runId ?? "");

  test("of two workers go from one to the other as soon as a call ends, and say how long they waited", async () => {
    const [mine, yours] = await claimed(2);
    const first = await paceOf(pacing(db, 1), mine).acquireSlot(ESTIMATE, NEVER);
    expect(first.waitedMs).toBe(0);
    const second = paceOf(pacing(other, 1), yours).acquireSlot(ESTIMATE, NEVER);
    await waiting(1);
    await first.end({ kind: "not_made" });
    expect((await second).waitedMs).toBeGreaterThan(0);
    await (await second).end({ kind: "not_made" });
  });

  test("come to everybody in the order in which they came, on whatever worker", async () => {
    const here = pacing(db, 1);
    const there = pacing(other, 1);
    const runs = await claimed(5);
    const held = await paceOf(here, runs[0]).acquireSlot(ESTIMATE, NEVER);
    const order: number[] = [];
    const all: Promise<void>[] = [];
    for (const [index, runId] of runs.slice(1).entries()) {
      const limiter = paceOf(index % 2 === 0 ? here : there, runId);
      all.push(
        limiter.acquireSlot(ESTIMATE, NEVER).then((turn) => {
          order.push(index);
          return turn.end({ kind: "not_made" });
        }),
      );
      await waiting(index + 1);
    }
    await held.end({ kind: "not_made" });
    await Promise.all(all);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  test("are looked for twice by a call that waits: when it comes, and when it is told that it is next", async () => {
    const looks: unknown[] = [];
    const counting: Database = {
      ...other,
      query(text, values, name) {
        if (name === "take_call") looks.push(values?.[1]);
        return other.query(text, values, name);
      },
    };
    const here = pacing(db, 1);
    const there = pacing(counting, 1);
    const runs = await claimed(3);
    const held = await paceOf(here, runs[0]).acquireSlot(ESTIMATE, NEVER);
    const second = paceOf(there, runs[1]).acquireSlot(ESTIMATE, NEVER);
    await waiting(1);
    // It looks once more when its process begins to listen: what was said before is not known.
    await eventually("its process listens", async () => looks.length === 2);
    const third = paceOf(there, runs[2]).acquireSlot(ESTIMATE, NEVER);
    await waiting(2);
    await held.end({ kind: "not_made" });
    await (await second).end({ kind: "not_made" });
    await (await third).end({ kind: "not_made" });
    expect(looks.filter((runId) => runId === runs[2]).length).toBe(2);
  });

  test("of two calls that one run makes at the same time are two, and each of them is charged", async () => {
    const [runId] = await claimed(1);
    const pace = paceOf(pacing(db, 2), runId);
    const slots = [
      await pace.acquireSlot(ESTIMATE, NEVER),
      await pace.acquireSlot(ESTIMATE, NEVER),
    ];
    expect(await countOf(db, "nightdesk_data.host_slots where ticket is not null")).toBe(2);
    const ending = { promptTokens: 30, completionTokens: 5, durationMs: 1000 };
    for (const slot of slots) await slot.end({ kind: "answered", ...ending });
    const broken = await pace.acquireSlot(ESTIMATE, NEVER);
    await broken.end({ kind: "unanswered", promptTokens: 30, durationMs: 1000 });
    const { rows } = await db.query(
      "select calls_used::int as calls, tokens_used::int as tokens, seconds_used as seconds from nightdesk_data.batch_budgets",
    );
    expect(rows).toEqual([{ calls: 3, tokens: 100, seconds: 3 }]);
  });

  test("of an embedder are given back when its call fails", async () => {
    const [runId] = await claimed(1);
    const parts = { db, settings: settingsOf(1), logger: createLogger("silent", "json") };
    const embedder = paceEmbedder(
      { ...createHashingEmbedder(), embed: () => Promise.reject(new Error("cut")) },
      {
        limiter: paceOf(pacing(db, 1), runId),
        ...{ choice: choiceAmong(parts, null), mayTake: () => undefined },
      },
    );
    await expect(embedder.embed(["a text"], NEVER)).rejects.toThrow("cut");
    expect(await countOf(db, "nightdesk_data.host_slots where ticket is not null")).toBe(0);
  });

  test("end at a host that fails again and again, and not at one that says how long it is busy", async () => {
    const parts = { db, settings: settingsOf(1), logger: createLogger("silent", "json") };
    const fails = async (retryAfterMs: number | null) => {
      const failure = new HostFailure("MODEL_OVERLOADED", "busy", { host: host(), retryAfterMs });
      const run = () => Promise.reject(failure);
      await expect(countHostFailures({ batchId: randomUUID() }, parts, run)).rejects.toBe(failure);
      await choiceAmong(parts, null).failed(failure);
      return (await selectHosts(db)).map(({ state }) => state);
    };
    expect(await fails(1_000)).toEqual([]);
    expect(await fails(null)).toEqual(["open"]);
  });

  test("that are waited for end at once with the signal, and leave nothing behind", async () => {
    const here = pacing(db, 1);
    const runs = await claimed(2);
    const held = await paceOf(here, runs[0]).acquireSlot(ESTIMATE, NEVER);
    const stop = new AbortController();
    const second = paceOf(here, runs[1]).acquireSlot(ESTIMATE, stop.signal);
    await waiting(1);
    stop.abort(new Error("cancelled"));
    await expect(second).rejects.toThrow("cancelled");
    expect(await countOf(db, "nightdesk_data.host_waiters")).toBe(0);
    await held.end({ kind: "not_made" });
    expect(await countOf(db, "nightdesk_data.host_slots where ticket is not null")).toBe(0);
    expect(await countOf(db, "nightdesk_data.reservations")).toBe(0);
  });

  test("are not given to a run that was asked to stop and does not know it yet; the next has them when it ends", async () => {
    const here = pacing(db, 1);
    const runs = await claimed(2);
    await db.query("update nightdesk_data.jobs set cancel_requested = true where run_id = $1", [
      runs[0],
    ]);
    const stop = new AbortController();
    const first = paceOf(here, runs[0]).acquireSlot(ESTIMATE, stop.signal);
    await waiting(1);
    const second = paceOf(here, runs[1]).acquireSlot(ESTIMATE, NEVER);
    await waiting(2);
    expect(await countOf(db, "nightdesk_data.reservations")).toBe(0);
    stop.abort(new Error("cancelled"));
    await expect(first).rejects.toThrow("cancelled");
    await (await second).end({ kind: "not_made" });
  });

  describe("at a host that is busy", () => {
    const busy = new HostFailure("MODEL_OVERLOADED", "busy", { host: "http://h" });
    const paused: number[] = [];
    const calm = (parallel: number) =>
      pacing(db, parallel, {
        random: () => 1,
        sleep: async (milliseconds) => void paused.push(milliseconds),
      });
    const ask = (runId: string | undefined, replies: readonly (RecordedReply | Error)[]) => {
      const left = [...replies];
      paused.length = 0;
      return callInTurn(
        ESTIMATE,
        async () => {
          const next = left.shift();
          if (next === undefined || next instanceof Error)
            throw next ?? new Error("asked once more");
          return next;
        },
        { limiter: paceOf(calm(4), runId), trace: startTrace(), signal: NEVER },
      );
    };

    test("are taken again after a pause that grows, of fewer slots", async () => {
      const [runId] = await claimed(1);
      expect(await ask(runId, [busy, busy, REPLY])).toBe(REPLY);
      expect(paused).toEqual([1_000, 2_000]);
      expect((await selectHosts(db))[0]).toMatchObject({ capacity: 1 });
      const { rows } = await db.query(
        "select calls_used, tokens_used from nightdesk.budgets where scope = 'batch'",
      );
      expect(rows).toEqual([{ calls_used: "1", tokens_used: "35" }]);
    });

    test("are given up after four tries, so that the job is parked", async () => {
      const [runId] = await claimed(1);
      await expect(ask(runId, [busy, busy, busy, busy])).rejects.toBe(busy);
      expect(paused).toEqual([1_000, 2_000, 4_000]);
    });
  });
});
