import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { waitForLock } from "../../../src/shared/store/connection/locks.ts";
import { openDesk, pretendWorker, rowsOf } from "../desk.ts";
import type { Desk } from "../desk.ts";
import { answered, workByHand } from "../work-by-hand.ts";

let desk: Desk;
beforeAll(async () => {
  desk = await openDesk();
  await pretendWorker(desk.database);
});
afterAll(() => desk.dispose());

/** A batch of three jobs that ended so many days ago. */
async function oldBatch(name: string, days: number): Promise<void> {
  const file = await desk.write(`${name}.jsonl`, `{"kind":"ask","question":"Why?"}\n`.repeat(3));
  expect((await desk.run("enqueue", file, "--batch-name", name)).code).toBe(0);
  await workByHand(desk.database, 3, ({ customId }) => answered(customId));
  await desk.database.query(
    "update nightdesk_data.batches set finished_at = now() - make_interval(days => $2::int) where name = $1",
    [name, days],
  );
}

const names = async () =>
  (await rowsOf(desk.database, "select name from nightdesk_data.batches order by 1")).map(
    (row) => row["name"],
  );
const prune = async (...args: readonly string[]) => {
  const { code, stdout, stderr } = await desk.run("batch", "prune", ...args, "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Record<string, unknown>;
};

describe("batch prune", () => {
  test("beside a worker that deletes does not say that there is nothing to delete", async () => {
    const { stderr } = await desk.database.transaction(async (db) => {
      await waitForLock(db, "retention");
      return desk.run("batch", "prune", "--older-than", "30d");
    });
    expect(stderr).toBe(
      "A worker deletes old batches at this moment; what is left is for it to do.\n",
    );
  });

  test("deletes old batches with everything of theirs, and no other", async () => {
    await oldBatch("old", 40);
    await oldBatch("young", 20);
    const dry = await prune("--older-than", "30d", "--dry-run");
    expect(dry).toMatchObject({
      deleted_batches: 0,
      batches: [expect.objectContaining({ batch: "old", jobs: 3 })],
    });
    expect(await prune("--older-than", "30d")).toMatchObject({
      deleted_batches: 1,
      deleted_jobs: 3,
      batches: [expect.objectContaining({ batch: "old", jobs: 3 })],
    });
    expect(await names()).toEqual(["young"]);
    const left = await rowsOf(
      desk.database,
      "select (select count(*)::int from nightdesk_data.runs) as runs, (select sum(total)::int from nightdesk_data.batch_counts) as counted, (select count(distinct run_id)::int from nightdesk_data.evidence) as with_evidence",
    );
    expect(left).toEqual([{ runs: 3, counted: 3, with_evidence: 3 }]);
  });

  test("leaves alone what has not ended, and what is being added to", async () => {
    await oldBatch("reopened", 40);
    await desk.database.query(
      "update nightdesk_data.jobs set state = 'queued', due_at = 'infinity', finished_at = null, run_id = null where job_id = (select min(job_id::text)::uuid from nightdesk_data.jobs join nightdesk_data.batches using (batch_id) where name = 'reopened')",
    );
    expect(await prune("--older-than", "30d")).toMatchObject({ deleted_batches: 0, batches: [] });
    await desk.database.query("delete from nightdesk_data.batches where name = 'reopened'");
  });

  test("lets a job outlive the one that it repeats", async () => {
    await oldBatch("first", 40);
    expect((await desk.run("batch", "rerun", "first", "--where", "kind=ask")).code).toBe(0);
    await prune("--older-than", "30d");
    const [row] = await rowsOf(
      desk.database,
      "select count(*)::int as jobs, count(rerun_of)::int as repeats from nightdesk.results where batch like 'first rerun%'",
    );
    expect(row).toEqual({ jobs: 3, repeats: 0 });
  });

  test("lets go of the repeats of a slice itself, and leaves none to the foreign key", async () => {
    await oldBatch("origin", 40);
    expect((await desk.run("batch", "rerun", "origin", "--where", "kind=ask")).code).toBe(0);
    // What a foreign key does happens in its own trigger: one level deeper.
    await desk.database.query(
      `create table nightdesk_data.depths (depth integer);
       create function nightdesk_data.note_depth() returns trigger language plpgsql as $$
       begin
         insert into nightdesk_data.depths values (pg_trigger_depth());
         return new;
       end $$;
       create trigger note_depth before update of rerun_of on nightdesk_data.jobs
         for each row execute function nightdesk_data.note_depth()`,
    );
    try {
      await prune("--older-than", "30d");
      expect(await rowsOf(desk.database, "select depth from nightdesk_data.depths")).toEqual(
        Array.from({ length: 3 }, () => ({ depth: 1 })),
      );
    } finally {
      await desk.database.query(
        `drop function nightdesk_data.note_depth cascade; drop table nightdesk_data.depths`,
      );
    }
  });

  test.each(["30", "d", "30 d", "-1d", "1y"])("does not take %s for an age", async (age) => {
    const { code, stderr } = await desk.run("batch", "prune", `--older-than=${age}`);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining("12h, 30d or 4w"),
    });
  });

  test("asks for an age where the configuration keeps all", async () => {
    const { code, stderr } = await desk.run("batch", "prune");
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("--older-than") });
  });
});

describe("a pinned batch", () => {
  test("stays until it is unpinned", async () => {
    await oldBatch("pinned", 40);
    expect((await desk.run("batch", "pin", "pinned")).stderr).toContain("is kept");
    expect(await prune("--older-than", "30d")).toMatchObject({ deleted_batches: 0 });
    expect(await desk.run("batch", "unpin", "pinned")).toMatchObject({
      code: 0,
      stderr:
        'Batch "pinned" is pinned no more; it is kept all the same, as runs.keep_days deletes none.\n',
    });
    expect(await prune("--older-than", "30d")).toMatchObject({ deleted_batches: 1 });
  });

  test("until it is exported goes after its export", async () => {
    await oldBatch("exported", 40);
    await desk.run("batch", "pin", "exported", "--until-exported");
    expect(await prune("--older-than", "30d")).toMatchObject({ deleted_batches: 0 });
    expect((await desk.run("batch", "export", "exported")).code).toBe(0);
    expect(await prune("--older-than", "30d")).toMatchObject({ deleted_batches: 1 });
  });

  test("by runs.pin_until_exported is every batch of a file that was never exported", async () => {
    await oldBatch("by-config", 40);
    const config = await desk.write(
      "keep.yaml",
      stringify({
        extends: "./nightdesk.yaml",
        runs: { keep_days: 30, pin_until_exported: true },
      }),
    );
    const byConfig = () => prune("--config", config);
    expect(await byConfig()).toMatchObject({ deleted_batches: 0 });
    await desk.run("batch", "export", "by-config");
    expect(await byConfig()).toMatchObject({ deleted_batches: 1 });
  });

  test("counts no export from before the batch ended again", async () => {
    await oldBatch("ended-again", 40);
    const config = await desk.write(
      "keep-again.yaml",
      stringify({
        extends: "./nightdesk.yaml",
        runs: { keep_days: 30, pin_until_exported: true },
      }),
    );
    const byConfig = () => prune("--config", config);
    const again = (set: string) =>
      desk.database.query(`update nightdesk_data.batches set ${set} where name = 'ended-again'`);
    await desk.run("batch", "export", "ended-again");
    await again(
      "exported_at = now() - interval '40 days', finished_at = now() - interval '35 days'",
    );
    expect(await byConfig()).toMatchObject({ deleted_batches: 0 });
    await again("exported_at = finished_at");
    expect(await byConfig()).toMatchObject({ deleted_batches: 1 });
  });
});
