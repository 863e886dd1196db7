import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  deleteOldSlice,
  markExported,
  pinBatch,
  selectOldBatches,
} from "../../../../src/shared/store/jobs/retention.ts";
import { askJob, openBatchOf } from "../../../conformance/jobs.ts";
import { describeOnPostgres, openPostgres } from "../../../support/test-databases.ts";
import type { TestDatabase } from "../../../support/test-databases.ts";

const OLD = { olderThanMs: 1_000, only: "any" } as const;

describeOnPostgres("batches that grow old", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());

  const batchOf = async (batchId: string) => {
    const { rows } = await database.db.query(
      "select pinned, exported_at from nightdesk_data.batches where batch_id = $1",
      [batchId],
    );
    return rows[0];
  };
  const end = (batchId: string, when: string) =>
    database.db.query(
      `with ended as (
         update nightdesk_data.jobs set state = 'cancelled', finished_at = now(), error_code = 'CANCELLED', error_message = 'x'
          where batch_id = $1)
       update nightdesk_data.batches set state = 'cancelled', finished_at = now() - $2::interval where batch_id = $1`,
      [batchId, when],
    );

  test("are written down as exported once they have ended, and stay pinned where that is for ever", async () => {
    const { batchId } = await openBatchOf(database.db, [askJob("a")]);
    await pinBatch(database.db, batchId, "until_exported");
    await markExported(database.db, batchId);
    expect(await batchOf(batchId)).toEqual({ pinned: "until_exported", exported_at: null });
    await end(batchId, "1 minute");
    await markExported(database.db, batchId);
    expect(await batchOf(batchId)).toEqual({ pinned: null, exported_at: expect.any(Date) });
    await pinBatch(database.db, batchId, "always");
    await markExported(database.db, batchId);
    expect(await batchOf(batchId)).toMatchObject({ pinned: "always" });
    await pinBatch(database.db, batchId, null);
  });

  test("take along those that are about them, which go at no time of their own", async () => {
    const [parent, child] = [
      (await openBatchOf(database.db, [askJob("asked")])).batchId,
      (await openBatchOf(database.db, [askJob("checks")])).batchId,
    ];
    await database.db.query(
      "update nightdesk_data.batches set parent_id = $1, origin = 'verify' where batch_id = $2",
      [parent, child],
    );
    await end(child, "1 minute");
    await end(parent, "0 seconds");
    const old = async () =>
      (await selectOldBatches(database.db, OLD, 10)).map(({ batchId }) => batchId);
    expect(await old()).not.toContain(child);
    await end(parent, "2 minutes");
    expect(await old()).toContain(parent);
    for (let slice = 0; slice < 9; slice += 1) await deleteOldSlice(database.db, OLD, 5);
    expect([await batchOf(parent), await batchOf(child)]).toEqual([undefined, undefined]);
  });
});
