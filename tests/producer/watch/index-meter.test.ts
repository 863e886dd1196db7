import { describe, expect, test } from "@jest/globals";
import { createIndexMeter } from "../../../src/producer/watch/wait-for-index.ts";
import type { WaitingJob } from "../../../src/shared/store/jobs/waiting.ts";

const job = (values: Partial<WaitingJob>): WaitingJob => ({
  jobId: "0",
  customId: "index",
  kind: "index",
  state: "running",
  runId: null,
  code: null,
  message: null,
  dueInSeconds: 0,
  progress: null,
  holdReason: null,
  holdUntil: null,
  batchState: "open",
  ...values,
});
const NONE = { jobs: 0, ended: 0, due: 0, done: 0 };

describe("the line on an index that is made", () => {
  let now = 0;
  const read = (done: number, meter = createIndexMeter(() => now)) =>
    meter.read([job({ progress: { done, total: 2_000, chunks: done * 7 } })], NONE);

  test("counts documents and chunks while the sources are read", () => {
    expect(read(1_200)).toBe("index: 1,200 of 2,000 documents · 8,400 chunks");
    expect(createIndexMeter(() => now).read([job({})], NONE)).toBe("index: running");
  });

  test("estimates only after two seconds, and follows what becomes slower", () => {
    const meter = createIndexMeter(() => now);
    now = 0;
    read(100, meter);
    now = 1_000;
    expect(read(300, meter)).toBe("index: 300 of 2,000 documents · 2,100 chunks");
    now = 4_000;
    expect(read(500, meter)).toBe(
      "index: 500 of 2,000 documents · 3,500 chunks · 100/s · about 15 s left",
    );
    // It became a hundred times slower: two minutes later little is left of the fast beginning.
    for (let done = 501; done <= 620; done += 1) {
      now += 1_000;
      read(done, meter);
    }
    expect(read(620, meter)).toMatch(/ · 1\.0\/s · about (1[89]|2[0-4]) min left$/);
  });

  test("counts vectors over all jobs that share them", () => {
    const jobs = [job({ state: "succeeded" }), job({ kind: "embed" })];
    const meter = createIndexMeter(() => now);
    now = 0;
    expect(meter.read(jobs, { jobs: 8, ended: 1, due: 14_000, done: 2_100 })).toBe(
      "embed: 2,100 of 14,000 vectors · 1 of 8 jobs",
    );
    now = 10_000;
    expect(meter.read(jobs, { jobs: 8, ended: 2, due: 14_000, done: 4_100 })).toBe(
      "embed: 4,100 of 14,000 vectors · 2 of 8 jobs · 200/s · about 50 s left",
    );
  });

  test("says that a worker is waited for while none has begun", () => {
    const meter = createIndexMeter(() => now);
    expect(meter.read([job({ state: "queued" })], NONE)).toBe("index: waiting for a worker");
    const queued = job({ kind: "embed", state: "queued" });
    expect(meter.read([queued], { ...NONE, jobs: 1 })).toBe("embed: waiting for a worker");
  });
});
