import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { createRunJob } from "../../src/worker/jobs/run-job.ts";
import { startWorker } from "../../src/worker/start.ts";
import { describeOn } from "../support/describe-on.ts";
import { countOf } from "./jobs.ts";
import { eventually } from "./signal.ts";
import { startTopology } from "./topologies.ts";
import type { Topology } from "./topologies.ts";

const LABELS = ["invoice", "minutes"];
const RULES = [
  { job: { kind: "extract", preset: "classify", labels: LABELS } },
  { label: "invoice", job: { kind: "extract", preset: "people" } },
  { label: "minutes", job: { kind: "summarize", options: { length: "sentence" } } },
];
const FILES: Readonly<Record<string, string>> = {
  "bill.md":
    "# Invoice 2041\n\nThis invoice of Ana Lopez is due in 14 days. The invoice is for 12 pipes.\n",
  "desk.md":
    "# Minutes of the desk\n\nMinutes of Monday: the desk moves to the second floor in May.\n",
};

describeOn("embedded", "labels of watched files", (name) => {
  let topology: Topology;
  let db: Database;

  beforeAll(async () => {
    topology = await startTopology(name, {
      index: {
        sources: [
          { name: "inbox", root: "allowed/inbox", watch: { every_s: 1, rest_s: 1, rules: RULES } },
        ],
      },
    });
    db = await topology.connect();
    await mkdir(join(topology.workroot, "allowed", "inbox"), { recursive: true });
  });
  afterAll(async () => {
    await db.end();
    await topology.dispose();
  });

  const work = () =>
    startWorker(topology.context, 2, (database) => createRunJob(topology.context, database));

  test("each file is classified first and then worked by its label, once, also when the worker was stopped between", async () => {
    for (const [path, text] of Object.entries(FILES)) {
      await writeFile(join(topology.workroot, "allowed", "inbox", path), text);
    }
    const first = await work();
    await eventually(
      "both files are classified",
      async () =>
        (await countOf(
          db,
          "nightdesk_data.jobs where input->>'preset' = 'classify' and state = 'succeeded'",
        )) === 2,
    );
    await first.stop(0);
    const second = await work();
    await eventually(
      "both files are worked by their labels",
      async () =>
        (await countOf(db, "nightdesk.watched_files where label_state = 'succeeded'")) === 2,
    );
    // Two looks later there is no other job.
    const { rows: before } = await db.query("select looked_at from nightdesk.watches");
    const [{ looked_at: lookedAt }] = before as [{ looked_at: Date }];
    await eventually(
      "the folder was looked at twice more",
      async () =>
        (await countOf(db, "nightdesk.watches where looked_at > $1::timestamptz + interval '2 s'", [
          lookedAt,
        ])) === 1,
    );
    await second.stop(0);
    const { rows } = await db.query(
      `select input->>'path' as path, coalesce(input->>'preset', kind) as what, state
         from nightdesk_data.jobs where kind in ('extract', 'summarize') order by 1, seq`,
    );
    expect(rows).toEqual([
      { path: "allowed/inbox/bill.md", what: "classify", state: "succeeded" },
      { path: "allowed/inbox/bill.md", what: "people", state: "succeeded" },
      { path: "allowed/inbox/desk.md", what: "classify", state: "succeeded" },
      { path: "allowed/inbox/desk.md", what: "summarize", state: "succeeded" },
    ]);
  });
});
