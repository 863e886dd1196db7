import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { parseRerunFilter } from "../../src/producer/selection/rerun.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { cancelBatch } from "../../src/shared/store/jobs/close-batches.ts";
import { FIRST_JOB, selectRerunPage } from "../../src/shared/store/jobs/reruns.ts";
import { timeTakenBy } from "../support/time-taken.ts";
import { askJob, openBatchOf } from "../conformance/jobs.ts";
import { databases, startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";

/** The longest paths that a system knows, each of which nearly fits the globs below. */
const PATHS = ["a".repeat(4_000), "a/".repeat(2_000), "ab".repeat(2_000), "aab/".repeat(1_000)];
const JOBS = 40;

/** As many wildcards, and as many characters, as are taken. */
const WORST = [
  `${"*a".repeat(100)}b`,
  `*a${"?".repeat(99)}b`,
  `${"**/a/".repeat(100)}b`,
  `${"**a".repeat(100)}b`,
  `${"**/*a".repeat(50)}b`,
  `${"?".repeat(100)}${"a".repeat(3_900)}`,
  `${"*a?".repeat(50)}${"ab/".repeat(1_300)}`,
];

describe.each(databases)("globs on %s", (name) => {
  let topology: Topology;
  let db: Database;
  let batchId: string;
  beforeAll(async () => {
    topology = await startTopology(name);
    db = await topology.connect();
    const jobs = Array.from({ length: JOBS }, (_, at) => {
      const path = PATHS[at % PATHS.length] ?? "";
      return askJob(`job ${at}`, { input: { kind: "summarize", path } });
    });
    ({ batchId } = await openBatchOf(db, jobs));
    await cancelBatch(db, batchId);
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const choose = async (glob: string): Promise<number> => {
    // The command line gives a list, which the type of options does not tell.
    const options = { where: [`path=${glob}`] as unknown as string };
    const filter = { ...parseRerunFilter({ options }, topology.context.config), stale: null };
    const page = { after: FIRST_JOB, limit: 2_000 };
    return (await selectRerunPage(db, batchId, filter, page)).chosen.length;
  };

  test("choose by the longest paths", async () => {
    expect(await choose("a*")).toBe(JOBS / 2);
    expect(await choose("**b")).toBe(JOBS / 4);
  });

  test.each(WORST)("%# of the worst look at 40 of them in less than 4 s", async (glob) => {
    expect(await timeTakenBy(() => choose(glob), 4_000)).toBeLessThan(4_000);
  });
});
