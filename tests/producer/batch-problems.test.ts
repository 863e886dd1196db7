import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { selectProblems } from "../../src/shared/views/batches.ts";
import { askJob, openBatchOf } from "../conformance/jobs.ts";
import { openDesk } from "./desk.ts";
import type { Desk } from "./desk.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
});
afterAll(() => desk.dispose());

/** Ends jobs so, in the order of their insertion; null leaves one queued. */
async function endedBatch(ends: readonly (readonly [string, string] | null)[]): Promise<string> {
  const { batchId, jobIds } = await openBatchOf(
    desk.database,
    ends.map((_, index) => askJob(`job ${index}`)),
  );
  for (const [index, end] of ends.entries()) {
    if (end === null) continue;
    const [state, code] = end;
    await desk.database.query(
      `update nightdesk_data.jobs set state = $2, error_code = $3, error_message = $4,
              waiting_for = case when $2 = 'parked' then 'host' end,
              finished_at = case when $2 = 'parked' then null else now() end where job_id = $1`,
      [jobIds[index], state, code, `${code} of job ${index}`],
    );
  }
  return batchId;
}

test("what did not succeed is counted by state and code, with the first five of each", async () => {
  const other = await endedBatch([["failed", "INTERNAL_ERROR"]]);
  const batchId = await endedBatch([
    ["cancelled", "CANCELLED"],
    null,
    ["failed", "TOOL_ERROR"],
    ["failed", "MODEL_TIMEOUT"],
    ["parked", "MODEL_UNREACHABLE"],
    ...Array.from({ length: 7 }, () => ["cancelled", "CANCELLED"] as const),
    ["failed", "TOOL_ERROR"],
  ]);
  expect(await selectProblems(desk.database, batchId)).toEqual([
    {
      state: "cancelled",
      code: "CANCELLED",
      jobs: 8,
      customIds: ["job 0", "job 5", "job 6", "job 7", "job 8"],
      message: "CANCELLED of job 0",
      model: null,
    },
    {
      state: "failed",
      code: "TOOL_ERROR",
      jobs: 2,
      customIds: ["job 2", "job 12"],
      message: "TOOL_ERROR of job 2",
      model: null,
    },
    expect.objectContaining({ code: "MODEL_TIMEOUT", jobs: 1, customIds: ["job 3"] }),
    expect.objectContaining({ state: "parked", code: "MODEL_UNREACHABLE", jobs: 1 }),
  ]);
  expect(await selectProblems(desk.database, other)).toHaveLength(1);
});

test("nothing is listed where nothing went wrong", async () => {
  expect(await selectProblems(desk.database, await endedBatch([null]))).toEqual([]);
});
