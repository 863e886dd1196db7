import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import {
  deleteUnusedSlice,
  expireOutputsSlice,
  FIRST_CONTENT,
  selectBatchOutputs,
} from "../../src/shared/store/investigations/artifacts.ts";
import { selectOutput } from "../../src/shared/store/investigations/steps.ts";
import type { NewArtifact } from "../../src/shared/store/investigations/steps.ts";
import {
  claimInvestigation,
  giveOutput,
  resultOf,
  settleInvestigation,
  sha256Of,
} from "../support/investigated-job.ts";
import { countOf } from "./jobs.ts";
import { databases, startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const stateOf = (text: string): NewArtifact => {
  const content = Buffer.from(text);
  return { stream: "state", sha256: sha256Of(content), content, class: "state" };
};
const NO_GRACE = { limit: 100, graceSeconds: 0 };

describe.each(databases)("on %s", (name) => {
  let topology: Topology;
  let db: Database;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const expireAll = (jobId: string) =>
    db.query(
      "update nightdesk_data.artifact_uses set expires_at = now() - interval '1 s' where job_id = $1 and class = 'output'",
      [jobId],
    );
  const isKept = async (sha256: string) =>
    (await countOf(db, "nightdesk_data.artifacts where sha256 = $1", [sha256])) === 1;
  const collect = async (): Promise<void> => {
    while ((await expireOutputsSlice(db, 1)).kind === "expired") {
      const due = await countOf(
        db,
        `nightdesk_data.artifact_uses u join nightdesk_data.jobs j using (job_id) where u.removed_at is null
            and j.finished_at is not null and (u.class = 'state' or u.class = 'output' and u.expires_at <= now())`,
      );
      if (due === 0) break;
    }
    for (let after: string | null = FIRST_CONTENT; after !== null;) {
      const slice = await deleteUnusedSlice(db, after, { limit: 2, graceSeconds: 0 });
      if (slice.kind === "busy") throw new Error("nobody else collects");
      after = slice.next;
    }
  };

  test("nothing of a job that has not ended is removed, whatever its time", async () => {
    const run = await claimInvestigation(db);
    await giveOutput(db, run, 0, resultOf(`open ${run.jobId}`));
    await giveOutput(db, run, 1, stateOf(`state ${run.jobId}`));
    await expireAll(run.jobId);
    await collect();
    expect(await selectOutput(db, run.jobId, 0, "result")).toBeDefined();
    expect(await isKept(stateOf(`state ${run.jobId}`).sha256)).toBe(true);
  });

  test("of a job that has ended its state goes first, then outputs in time, evidence never", async () => {
    const run = await claimInvestigation(db);
    const evidence = resultOf("", [{ path: "a.md", text: run.jobId }]);
    const [output, state] = [resultOf(`output ${run.jobId}`), stateOf(`archive ${run.jobId}`)];
    await giveOutput(db, run, 0, evidence);
    await giveOutput(db, run, 1, output);
    await giveOutput(db, run, 2, state);
    await settleInvestigation(db, run);
    await expireAll(run.jobId);
    expect(await expireOutputsSlice(db, 1)).toMatchObject({
      outputs: 1,
      bytes: state.content.length,
    });
    const { rows } = await db.query(
      "select class from nightdesk.artifacts where job_id = $1 and removed_at is not null",
      [run.jobId],
    );
    expect(rows).toEqual([{ class: "state" }]);
    await collect();
    expect(
      await Promise.all([evidence, output, state].map(({ sha256 }) => isKept(sha256))),
    ).toEqual([true, false, false]);
    // What it was stays: its size, its id, and when it went.
    const left = await countOf(
      db,
      "nightdesk.artifacts where job_id = $1 and sha256 = $2 and bytes = $3 and removed_at is not null",
      [run.jobId, output.sha256, output.content.length],
    );
    expect(left).toBe(1);
    expect(await selectBatchOutputs(db, run.jobId)).toEqual({
      bytes: evidence.content.length,
      cut: 0,
    });
  });

  test("bytes that two jobs gave stay while one of them keeps them", async () => {
    const [one, other] = [await claimInvestigation(db), await claimInvestigation(db)];
    const shared = resultOf(`shared ${one.jobId}`);
    for (const run of [one, other]) await giveOutput(db, run, 0, shared);
    for (const run of [one, other]) {
      await settleInvestigation(db, run);
      expect(await isKept(shared.sha256)).toBe(true);
      await expireAll(run.jobId);
      await collect();
    }
    expect(await isKept(shared.sha256)).toBe(false);
  });

  test("bytes of a deleted job go with the next walk, and those just written do not", async () => {
    const run = await claimInvestigation(db);
    const output = resultOf(`deleted ${run.jobId}`);
    await giveOutput(db, run, 0, output);
    await db.query("delete from nightdesk_data.jobs where job_id = $1", [run.jobId]);
    await deleteUnusedSlice(db, FIRST_CONTENT, { limit: 1_000, graceSeconds: 3_600 });
    expect(await isKept(output.sha256)).toBe(true);
    await deleteUnusedSlice(db, FIRST_CONTENT, { ...NO_GRACE, limit: 1_000 });
    expect(await isKept(output.sha256)).toBe(false);
  });

  test("a step that gives bytes which are just being deleted has them, in any order of the two", async () => {
    // Longer than a statement may take on a busy machine.
    const GRACE = { limit: 1_000, graceSeconds: 60 };
    for (let round = 0; round < 25; round += 1) {
      const [before, run] = [await claimInvestigation(db), await claimInvestigation(db)];
      const output = resultOf(`raced ${run.jobId}`);
      await giveOutput(db, before, 0, output);
      await db.query("delete from nightdesk_data.jobs where job_id = $1", [before.jobId]);
      await db.query(
        "update nightdesk_data.artifacts set used_at = now() - interval '1 h' where sha256 = $1",
        [output.sha256],
      );
      const writes = giveOutput(db, run, 0, output);
      const deletes = Array.from({ length: 3 }, () => deleteUnusedSlice(db, FIRST_CONTENT, GRACE));
      await Promise.all([writes, ...deletes]);
      expect(await selectOutput(db, run.jobId, 0, "result")).toEqual(output.content);
    }
  });

  test("a content that a step holds is passed over, not waited for", async () => {
    const [before, run] = [await claimInvestigation(db), await claimInvestigation(db)];
    const output = resultOf(`held ${run.jobId}`);
    await giveOutput(db, before, 0, output);
    await db.query("delete from nightdesk_data.jobs where job_id = $1", [before.jobId]);
    const others = await topology.connect();
    try {
      await db.transaction(async (transaction) => {
        await transaction.query(
          "select from nightdesk_data.artifacts where sha256 = $1 for update",
          [output.sha256],
        );
        if (name !== "embedded")
          await deleteUnusedSlice(others, FIRST_CONTENT, { ...NO_GRACE, limit: 1_000 });
      });
      expect(await isKept(output.sha256)).toBe(true);
    } finally {
      await others.end();
    }
  });

  test("what a batch keeps counts up with each step", async () => {
    const run = await claimInvestigation(db);
    expect(await selectBatchOutputs(db, run.jobId)).toEqual({ bytes: 0, cut: 0 });
    const output = resultOf("once");
    await giveOutput(db, run, 0, output);
    await giveOutput(db, run, 1, output);
    expect(await selectBatchOutputs(db, run.jobId)).toEqual({
      bytes: 2 * output.content.length,
      cut: 0,
    });
  });
});
