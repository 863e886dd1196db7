import { afterAll, beforeAll, expect, test } from "@jest/globals";
import {
  claimSource,
  endListing,
  findOpenSync,
  recordListing,
  recordLost,
  takePath,
} from "../../../../src/shared/store/index/remote-files.ts";
import { askJob, claimNext, countOf, expireLease, openBatchOf } from "../../../conformance/jobs.ts";
import { takeBackLostJobs } from "../../../../src/shared/store/jobs/dispatch.ts";
import { describeOnPostgres, openPostgres } from "../../../support/test-databases.ts";
import type { TestDatabase } from "../../../support/test-databases.ts";

describeOnPostgres("files of mirrors", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openPostgres();
  });
  afterAll(() => database.close());

  async function syncOf(source: string, more = {}) {
    const input = { kind: "sync", source, ...more } as const;
    const { jobIds, batchId } = await openBatchOf(database.db, [askJob("sync", { input })]);
    return { jobId: jobIds[0] ?? "", batchId };
  }
  const claim = (source: string, runId: string) =>
    claimSource(database.db, { source, runId, kind: "webdav", address: "https://h.net/" });

  test("are the work of one run at a time, until it ends or is lost", async () => {
    const [one, other] = [await syncOf("cloud"), await syncOf("cloud")];
    const first = (await claimNext(database.db, one.jobId)).runId;
    const second = (await claimNext(database.db, other.jobId)).runId;
    expect([await claim("cloud", first), await claim("cloud", first)]).toEqual([true, true]);
    expect(await claim("cloud", second)).toBe(false);
    expect(await claim("attic", second)).toBe(true);
    await expireLease(database.db, one.jobId);
    await takeBackLostJobs(database.db);
    expect(await claim("cloud", second)).toBe(true);
  });

  test("that were deleted are remembered for 90 days, and have no path meanwhile", async () => {
    const { runId } = await claimNext(database.db, (await syncOf("old")).jobId);
    await claim("old", runId);
    const run = { source: "old", runId };
    const listed = { version: "1", bytes: 2, refused: null };
    await recordListing(database.db, run, [
      { ...listed, id: "a.txt" },
      { ...listed, id: "A.txt" },
    ]);
    const take = (id: string) => takePath(database.db, "old", { id, path: id, key: "a.txt" });
    expect([await take("a.txt"), await take("A.txt")]).toEqual([true, false]);
    await recordLost(database.db, "old", ["a.txt"], "waiting");
    expect(await take("A.txt")).toBe(false);
    await recordLost(database.db, "old", ["a.txt"], "deleted");
    expect(await take("A.txt")).toBe(true);
    const later = {
      source: "old",
      runId: (await claimNext(database.db, (await syncOf("old")).jobId)).runId,
    };
    const left = async (days: number) => {
      await database.db.query(
        "update nightdesk_data.remote_files set changed_at = now() - make_interval(days => $1) where remote_id = 'a.txt'",
        [days],
      );
      await endListing(database.db, later);
      return countOf(database.db, "nightdesk_data.remote_files where remote_id = 'a.txt'");
    };
    expect([await left(89), await left(91)]).toEqual([1, 0]);
  });

  test("are brought up to date by a sync that waits already, but for one that accepts deletions", async () => {
    expect(await findOpenSync(database.db, "fresh")).toBeUndefined();
    await syncOf("fresh", { accept_deletions: true });
    expect(await findOpenSync(database.db, "fresh")).toBeUndefined();
    const { jobId, batchId } = await syncOf("fresh");
    expect(await findOpenSync(database.db, "fresh")).toMatchObject({ jobId, batchId });
    expect(await findOpenSync(database.db, "other")).toBeUndefined();
  });
});
