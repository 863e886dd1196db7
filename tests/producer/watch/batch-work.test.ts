import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createWorkReader } from "../../../src/producer/watch/wait-for-batch.ts";
import {
  selectPace,
  selectWorkLeft,
  selectWorkSpent,
} from "../../../src/shared/store/jobs/waiting.ts";
import { openDesk, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";

let desk: Desk;
let batchId = "";
let bytesOfInput = 0;

beforeAll(async () => {
  desk = await openDesk();
  for (const statement of [
    "insert into nightdesk_data.batches (name, state) values ('night', 'open'), ('other', 'open')",
    `insert into nightdesk_data.jobs (batch_id, custom_id, kind, input, input_sha256, size)
     select batch_id, 'j' || n, 'summarize', '{"kind":"summarize","path":"x.md"}', repeat('a', 64), n * 1000
       from nightdesk_data.batches, generate_series(1, 6) n`,
    `insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id, state, run_ms, prompt_tokens, completion_tokens,
            finished_at)
     select gen_random_uuid(), job_id, 1, gen_random_uuid(), 'succeeded', 1, 100, 20,
            clock_timestamp() - make_interval(secs => 40 - 10 * right(custom_id, 1)::int)
       from nightdesk_data.jobs where custom_id in ('j1', 'j2', 'j3')`,
    `update nightdesk_data.jobs j set state = 'succeeded', run_id = r.run_id, attempt = 1, finished_at = r.finished_at
       from nightdesk_data.runs r where r.job_id = j.job_id`,
  ]) {
    await desk.database.query(statement);
  }
  const [row] = await rowsOf(
    desk.database,
    `select batch_id, pg_column_size(j.input) as bytes
       from nightdesk_data.batches b join nightdesk_data.jobs j using (batch_id) where b.name = 'night' limit 1`,
  );
  batchId = String(row?.["batch_id"]);
  bytesOfInput = Number(row?.["bytes"]);
});
afterAll(() => desk.dispose());

describe("the work of a batch", () => {
  test("that is left is that of the files of its jobs which have not ended, and of no other batch", async () => {
    expect(await selectWorkLeft(desk.database, batchId)).toEqual([
      {
        kind: "summarize",
        affinity: "",
        jobs: 3,
        work: 4_000 + 5_000 + 6_000 + 3 * (1_200 + bytesOfInput),
      },
    ]);
  });

  test("that is done took the time since the run before it, a second of standing still at most", async () => {
    const of = (file: number) => 1_200 + bytesOfInput + file;
    const spent = await selectWorkSpent(desk.database, batchId);
    // Runs of a millisecond end two by two, one of each batch, every ten seconds: but for the first, they stood still.
    const [others, own] = spent;
    expect([others?.own, own?.own]).toEqual([false, true]);
    expect((others?.jobs ?? 0) + (own?.jobs ?? 0)).toBe(5);
    expect((others?.seconds ?? 0) + (own?.seconds ?? 0)).toBeLessThan(5 * 1.002);
    expect((others?.seconds ?? 0) + (own?.seconds ?? 0)).toBeGreaterThan(2);
    expect((others?.work ?? 0) + (own?.work ?? 0)).toBe(of(1_000) + 2 * of(2_000) + 2 * of(3_000));
    const perWork = 1 / of(1_000) + 2 / of(2_000) + 2 / of(3_000);
    expect((others?.per_work ?? 0) + (own?.per_work ?? 0)).toBeCloseTo(perWork, 10);
  });

  test("goes at the pace of what ended after the first of its last runs", async () => {
    const { tokens, seconds, share } = await selectPace(desk.database, batchId);
    expect(tokens).toBe(240);
    expect(seconds).toBeGreaterThan(29);
    // The other batch ended as many jobs meanwhile, of which one may have been the first.
    expect(share).toBeGreaterThan(0.39);
    expect(share).toBeLessThan(0.51);
  });

  test("is read after two seconds, and then only now and again", async () => {
    let now = 0;
    const reader = createWorkReader(desk.database, batchId, () => now);
    expect(await reader.read()).toBeUndefined();
    now = 2_000;
    const first = await reader.read();
    expect(first?.secondsLeft).toBeGreaterThan(0);
    expect(first?.tokensPerSecond).toBeGreaterThan(0);
    now = 3_999;
    expect(await reader.read()).toBe(first);
    now = 4_000;
    expect(await reader.read()).not.toBe(first);
  });
});
