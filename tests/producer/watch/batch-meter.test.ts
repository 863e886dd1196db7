import { describe, expect, test } from "@jest/globals";
import { createBatchMeter } from "../../../src/producer/watch/wait-for-batch.ts";
import { formatProgress } from "../../../src/producer/watch/wait-for-jobs.ts";
import type { BatchProgress } from "../../../src/shared/views/batches.ts";
import type { WaitingJob } from "../../../src/shared/store/jobs/waiting.ts";

const batchOf = (succeeded: number, total: number): BatchProgress => ({
  batchId: "b",
  name: "night",
  origin: "file",
  state: "running",
  holdReason: null,
  holdUntil: null,
  pausedAt: null,
  windows: null,
  deskWindows: [],
  deadlineAt: null,
  priority: 0,
  total,
  counts: {
    queued: total - succeeded,
    running: 0,
    parked: 0,
    succeeded,
    refused: 0,
    failed: 0,
    cancelled: 0,
    expired: 0,
  },
  createdAt: new Date(0),
  finishedAt: null,
  pinned: null,
  outputs: { bytes: 0, cut: 0 },
});

/** The lines of a meter that sees so many jobs done at so many seconds. */
function linesOf(total: number, ...seen: readonly (readonly [number, number])[]): string[] {
  let now = 0;
  const meter = createBatchMeter(() => now);
  return seen.map(([seconds, done]) => {
    now = seconds * 1_000;
    return meter.read(batchOf(done, total));
  });
}

describe("the line on a batch", () => {
  test("tells the rate before the counts that a narrow terminal may cut, and no end of which nothing is known", () => {
    expect(linesOf(1_000, [0, 0], [10, 100]).at(-1)).toBe(
      "[##------------------] 100/1,000 · 10 jobs/s · 900 queued, 100 succeeded",
    );
  });

  test("does not count the time before the first job was done", () => {
    expect(linesOf(1_000, [0, 0], [60, 0], [61, 20]).at(-1)).toContain("20 jobs/s");
  });

  test("takes the rate of the last half minute", () => {
    const lines = linesOf(1_000, [0, 0], [10, 500], [35, 501], [45, 502]);
    expect(lines.at(-1)).toContain("0.1 jobs/s");
  });

  test("tells the time left from what is left to read and write, where that is known", () => {
    let now = 0;
    const meter = createBatchMeter(() => now);
    meter.read(batchOf(0, 1_000));
    now = 10_000;
    // The small files are done: a tenth of the jobs, a hundredth of the work.
    expect(meter.read(batchOf(100, 1_000), { secondsLeft: 990, tokensPerSecond: 250 })).toBe(
      "[##------------------] 100/1,000 · 10 jobs/s · 250 tokens/s · about 17 min left · 900 queued, 100 succeeded",
    );
  });

  test.each([
    [2, "about 5 s left"],
    [41, "about 40 s left"],
    [58, "about 1 min left"],
    [3_569, "about 59 min left"],
    [3_590, "about 1 h 0 min left"],
    [7_700, "about 2 h 10 min left"],
  ])("rounds %d seconds to what it knows", (secondsLeft, words) => {
    const line = createBatchMeter(() => 0).read(batchOf(5, 10), {
      secondsLeft,
      tokensPerSecond: 0,
    });
    expect(line).toContain(` · ${words} · `);
  });

  test("promises no end to a batch that is held", () => {
    const held = { ...batchOf(5, 10), state: "held" as const, holdReason: "paused" as const };
    const line = createBatchMeter(() => 0).read(held, { secondsLeft: 990, tokensPerSecond: 0 });
    expect(line).not.toContain("left");
    expect(line).toContain("held: paused");
  });

  test("tells no rate while nothing moves", () => {
    const lines = linesOf(10, [0, 5], [20, 5]);
    expect(lines.at(-1)).toBe("[##########----------] 5/10 · 5 queued, 5 succeeded");
  });
});

describe("the line on one job", () => {
  const job = (progress: Record<string, unknown> | null): readonly WaitingJob[] => [
    {
      jobId: "j",
      customId: "index",
      kind: "index",
      state: "running",
      runId: "r",
      code: null,
      message: null,
      dueInSeconds: 0,
      progress,
      holdReason: null,
      holdUntil: null,
      batchState: "open",
    },
  ];

  test("names a step once", () => {
    const progress = { done: 64, total: 1_383, unit: "documents" };
    expect(formatProgress(job({ phase: "index", ...progress }))).toBe(
      "index: 64 of 1,383 documents",
    );
    expect(formatProgress(job({ phase: "scanning", ...progress }))).toBe(
      "index: scanning 64 of 1,383 documents",
    );
    expect(formatProgress(job(null))).toBe("index: running");
  });
});
