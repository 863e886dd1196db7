import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { exportBatch } from "../../src/producer/export/export-batch.ts";
import { exportFormOf } from "../../src/producer/export/export-form.ts";
import { openDesk, rowsOf } from "../producer/desk.ts";
import type { Desk } from "../producer/desk.ts";

const JOBS = 10_000;
const PIECES = 5;
const MOST_GROWTH_BYTES = 10_000_000;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  for (const statement of [
    "insert into nightdesk_data.batches (name, state) values ('night', 'open')",
    `insert into nightdesk_data.jobs (batch_id, custom_id, kind, input, input_sha256)
     select batch_id, 'q' || n, 'ask', jsonb_build_object('kind', 'ask', 'question', repeat('why ', 100)),
            repeat('a', 64)
       from nightdesk_data.batches, generate_series(1, ${JOBS}) n`,
    `insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id, state, answer, run_ms, finished_at)
     select gen_random_uuid(), job_id, 1, gen_random_uuid(), 'succeeded', repeat('because ', 200), 1, now()
       from nightdesk_data.jobs`,
    `update nightdesk_data.jobs j set state = 'succeeded', run_id = r.run_id, attempt = 1, started_at = now(), finished_at = now()
       from nightdesk_data.runs r where r.job_id = j.job_id`,
    `insert into nightdesk_data.evidence (run_id, ordinal, kind, admitted, path, sha256, text_sha256, chars_full, chars_returned,
            truncated, start_char, end_char, line_start, line_end, preview)
     select run_id, n, 'file', true, 'allowed/corpus/a.md', repeat('b', 64), repeat('b', 64), 9, 9, false, 0, 9, 1, 2, repeat('x', 800)
       from nightdesk_data.runs, generate_series(0, ${PIECES - 1}) n`,
  ]) {
    await desk.database.query(statement);
  }
});
afterAll(() => desk.dispose());

test("a batch of 10,000 jobs with 50,000 pieces of evidence is exported in memory that does not grow with it", async () => {
  const [batch] = await rowsOf(desk.database, "select batch_id from nightdesk_data.batches");
  const heap: number[] = [];
  let lines = 0;
  let bytes = 0;
  const take = async (line: string) => {
    lines += 1;
    bytes += line.length;
    if (lines % 1_000 !== 0) return;
    collectGarbage();
    heap.push(process.memoryUsage().heapUsed);
  };
  const { output } = await exportBatch(
    desk.database,
    String(batch?.["batch_id"]),
    {
      form: exportFormOf("native", "night", ""),
      sinks: { output: take, errors: take },
      outputs: "ids",
    },
    () => undefined,
  );
  expect({ output, lines }).toEqual({ output: JOBS, lines: JOBS });
  // Otherwise the bound would say nothing.
  expect(bytes).toBeGreaterThan(3 * MOST_GROWTH_BYTES);
  expect(Math.max(...heap) - (heap[0] ?? 0)).toBeLessThan(MOST_GROWTH_BYTES);
});
