import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { KINDS } from "../../src/shared/job/job.ts";
import { kindOf } from "../../src/shared/job/kinds.ts";
import { insertDependencies } from "../../src/shared/store/jobs/dependencies.ts";
import type { NewJob } from "../../src/shared/store/jobs/insert-jobs.ts";
import { countOf, openBatchOf } from "../conformance/jobs.ts";
import { eventually } from "../conformance/signal.ts";
import { startTopology, topologies } from "../conformance/topologies.ts";
import { ENGINES } from "../support/engines.ts";
import { startBin } from "../support/run-bin.ts";

// A night on two model servers, one of them behind a key. Where TEST_LLAMA_SERVER names it they are llama.cpp's own, with a
// model of random weights: nothing here is about what it says, all of it about what becomes of each job.

const TOPOLOGY = "postgres";
/** A third before one of the hosts dies, some while it is away, the rest when it is back; of each kind several. */
const JOBS = 150;
const KEY = "sk-night-0123456789";
const FILES = 12;
/** On a machine that is busy with other things. */
const WITHIN_MS = 600_000;

/** Kinds of which there is one; the digest is of a few of the chats. */
const ONLY: Readonly<Record<number, NewJob["input"]>> = {
  5: { kind: "investigate", task: "Which ferry leaves first?", limits: { steps: 2, time_s: 60 } },
  15: {
    kind: "check",
    task: "When does ferry 1 leave?",
    claim: "Ferry 1 leaves at 7:30.",
    question: "Does ferry 1 leave at 7:30?",
    paths: ["allowed/corpus/note-1.md"],
  },
  25: { kind: "digest", title: "some of the chats", level: "batch" },
};
const DIGEST = "job-25";
const DIGESTED = ["job-6", "job-7", "job-8"];

/** All that call a model or an embedder; `index` is of the batch before it. */
const KINDS_OF_THE_NIGHT = KINDS.filter(
  (kind) => kind !== "index" && kind !== "examine" && kindOf(kind).calls.length > 0,
).sort();

const inputOf = (at: number): NewJob["input"] => {
  const path = `allowed/corpus/note-${at % FILES}.md`;
  const only = ONLY[at];
  if (only !== undefined) return only;
  switch (at % 10) {
    case 0:
      return { kind: "ask", question: `When does ferry ${at % FILES} leave?` };
    case 1:
      return { kind: "ask", question: `What does note-${at % FILES}.md say of ferry ${at}?` };
    case 2:
      return { kind: "summarize", path, options: { length: "sentence" } };
    case 3:
      return { kind: "extract", path, preset: "actions" };
    case 4:
      return { kind: "embed", text: `ferry ${at}` };
    default:
      return { kind: "chat", prompt: `Say ${at}`, max_tokens: 12, temperature: 1, seed: at };
  }
};

const jobs = (): NewJob[] =>
  Array.from({ length: JOBS }, (_, at) => ({
    customId: `job-${at}`,
    input: inputOf(at),
    inputSha256: randomUUID().replaceAll("-", "").repeat(2),
    priority: 0,
  }));

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const engine = ENGINES.at(-1);
if (engine === undefined) throw new Error("no engine");

(topologies.includes(TOPOLOGY) ? describe : describe.skip)(
  `a night of ${JOBS} jobs of all kinds on two of ${engine.name}, on ${TOPOLOGY}`,
  () => {
    test(
      "ends each job once, though one of them dies in the middle and comes back",
      async () => {
        const open = await engine.start({ slots: 2 });
        closing.push(() => open.close());
        const keyed = await engine.start({ slots: 2, key: KEY });
        closing.push(() => keyed.close());
        const models = ["m"];
        const topology = await startTopology(TOPOLOGY, {
          model: {
            provider: "hosts",
            name: "m",
            num_ctx: 2048,
            max_tokens: 24,
            breaker_failures: 2,
          },
          hosts: [
            { name: "open", kind: "llama-server", url: open.url, parallel: 2, models },
            {
              name: "keyed",
              kind: "llama-server",
              url: keyed.url,
              key_env: "KEY",
              parallel: 2,
              models,
            },
          ],
          queue: { backend: "postgres", concurrency: 6 },
          runs: { reuse: "never" },
          log: { level: "warn" },
        });
        closing.push(() => topology.dispose());
        const folder = join(topology.workroot, "allowed", "corpus");
        mkdirSync(folder, { recursive: true });
        for (let at = 0; at < FILES; at += 1) {
          writeFileSync(
            join(folder, `note-${at}.md`),
            `# Ferry ${at}\n\nFerry ${at} leaves at ${6 + at}:30. Jo asked Kim to check the ropes by Friday.\n`,
          );
        }
        const db = await topology.connect();
        closing.push(() => db.end());
        const index: NewJob = {
          customId: "index",
          input: { kind: "index" },
          inputSha256: "b".repeat(64),
          priority: 10,
        };
        const { batchId: first } = await openBatchOf(db, [index]);
        const { batchId } = await db.transaction(async (tx) => {
          const batch = await openBatchOf(tx, jobs());
          const idOf = (customId: string) => batch.jobIds[Number(customId.slice(4))] ?? "";
          await insertDependencies(
            tx,
            DIGESTED.map((child) => ({ parentId: idOf(DIGEST), childId: idOf(child) })),
          );
          return batch;
        });
        const jobsLeft = () =>
          countOf(db, "nightdesk_data.jobs where batch_id = $1 and finished_at is null", [batchId]);

        const worker = startBin(["worker"], { cwd: topology.workroot, env: { KEY } });
        closing.push(async () => {
          worker.kill("SIGTERM");
          await worker.ended;
        });
        await eventually(
          "a third is done",
          async () => (await jobsLeft()) < JOBS * 0.67,
          WITHIN_MS,
        );
        await keyed.goDown();
        const before = await jobsLeft();
        await eventually(
          "the other one goes on",
          async () => (await jobsLeft()) < before - JOBS / 10,
          WITHIN_MS,
        );
        await keyed.comeBack();
        await db.query(
          "update nightdesk_data.hosts set next_probe_at = clock_timestamp() where state = 'open'",
        );
        await eventually("nothing is left", async () => (await jobsLeft()) === 0, WITHIN_MS);

        const { rows } = await db.query(
          "select kind, state, error_code, count(*)::int as jobs from nightdesk_data.jobs where batch_id = $1 group by 1, 2, 3 order by 1, 2, 3",
          [batchId],
        );
        const ended = rows as readonly {
          readonly kind: string;
          readonly state: string;
          readonly error_code: string | null;
          readonly jobs: number;
        }[];
        expect(ended.reduce((sum, each) => sum + each.jobs, 0)).toBe(JOBS);
        expect([...new Set(ended.map(({ kind }) => kind))]).toEqual(KINDS_OF_THE_NIGHT);
        expect(ended.every(({ state }) => ["succeeded", "refused", "failed"].includes(state))).toBe(
          true,
        );
        const { rows: asked } = await db.query(
          "select distinct kind from nightdesk_data.model_calls join nightdesk_data.jobs using (job_id) where batch_id = $1 order by 1",
          [batchId],
        );
        expect(asked).toEqual(
          KINDS_OF_THE_NIGHT.filter((kind) => kind !== "embed").map((kind) => ({ kind })),
        );
        // Random weights write what no schema and no evidence holds: that is a fault of the answer, and no other is one.
        const faults = ended.filter(
          ({ state, error_code }) => state === "failed" && error_code !== "MODEL_OUTPUT_INVALID",
        );
        expect(faults).toEqual([]);
        expect(
          await countOf(
            db,
            "nightdesk.results where batch_id = $1 and kind in ('chat', 'embed') and state <> 'succeeded'",
            [batchId],
          ),
        ).toBe(0);
        // One result a job, by one run of it; no attempt was used up by the death of a host.
        expect(
          await countOf(
            db,
            "(select job_id from nightdesk_data.runs join nightdesk_data.jobs using (job_id) where batch_id = $1 and runs.state in ('succeeded', 'refused', 'failed') group by job_id having count(*) <> 1) doubled",
            [batchId],
          ),
        ).toBe(0);
        expect(
          await countOf(db, "nightdesk.host_nights where calls > 20 and name in ('open', 'keyed')"),
        ).toBe(2);
        expect(
          await countOf(
            db,
            "nightdesk.results where batch_id = $1 and kind = 'index' and state = 'succeeded'",
            [first],
          ),
        ).toBe(1);
      },
      WITHIN_MS + 60_000,
    );
  },
);
