import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { Database, Queryable } from "../../../../src/shared/store/connection/database.ts";
import { deleteOldSlice } from "../../../../src/shared/store/jobs/retention.ts";
import { countOf } from "../../../conformance/jobs.ts";
import { databases, startTopology } from "../../../conformance/topologies.ts";
import type { Topology } from "../../../conformance/topologies.ts";

const HASH = "a".repeat(64);
const id = (name: string): string => `md5('${name}')::uuid`;
const [JOB, COPY, CHILD, REPEAT, RUN, OLD, CHECKS, YOUNG] = [
  "job",
  "copy",
  "child",
  "repeat",
  "run",
  "old",
  "checks",
  "young",
].map(id) as [string, string, string, string, string, string, string, string];

const job = (jobId: string, batchId: string, columns = "", values = "") =>
  `jobs (job_id, batch_id, custom_id, kind, input, input_sha256, finished_at${columns})
   values (${jobId}, ${batchId}, 'c' || ${jobId}, 'ask', '{}', '${HASH}', now()${values})`;

/** A job that left a row in each table that can hold one, its copy, its check, and a later job that repeats it. */
const ROWS: readonly string[] = [
  `batches (batch_id, name, state, finished_at) values (${OLD}, 'old', 'completed', now() - interval '40 days')`,
  `batches (batch_id, name, state, finished_at, origin, parent_id)
   values (${CHECKS}, 'checks', 'completed', now() - interval '40 days', 'verify', ${OLD})`,
  `batches (batch_id, name, state, finished_at) values (${YOUNG}, 'young', 'completed', now())`,
  job(JOB, OLD, ", state, run_id", `, 'succeeded', ${RUN}`),
  job(
    COPY,
    OLD,
    ", state, duplicate_of, error_code, error_message",
    `, 'cancelled', ${JOB}, 'DUPLICATE', 'x'`,
  ),
  job(CHILD, CHECKS, ", state, error_code, error_message", ", 'failed', 'X', 'x'"),
  job(
    REPEAT,
    YOUNG,
    ", state, rerun_of, error_code, error_message",
    `, 'failed', ${JOB}, 'X', 'x'`,
  ),
  `runs (run_id, job_id, attempt, worker_id, state, run_ms, finished_at) values (${RUN}, ${JOB}, 1, ${RUN}, 'succeeded', 1, now())`,
  `job_progress (job_id, run_id, progress) values (${JOB}, ${RUN}, '{}')`,
  `job_dependencies values (${JOB}, ${CHILD})`,
  `run_events (run_id, ordinal, step, duration_ms) values (${RUN}, 0, 's', 1)`,
  `grants (grant_id, job_id, preset, preset_sha256, tools, roots, limits) values (${id("grant")}, ${JOB}, 'p', '${HASH}', '{}', '{}', '{}')`,
  `steps (job_id, ordinal, run_id, kind, effect) values (${JOB}, 0, ${RUN}, 'tool', 'none')`,
  `tool_calls (run_id, ordinal, name, args, duration_ms, job_id, step, grant_id, args_sha256)
   values (${RUN}, 0, 't', '{}', 1, ${JOB}, 0, ${id("grant")}, '${HASH}')`,
  `decisions (decision_id, fingerprint, verdict, scope, job_id, decided_by) values (${id("decision")}, '${HASH}', 'approve', 'job', ${JOB}, 'ada')`,
  `approvals (job_id, step, fingerprint, tool, executor, args, preview, expires_at, state, decided_at, decision_id)
   values (${JOB}, 0, '${HASH}', 't', 'e', '{}', 'p', now(), 'approved', now(), ${id("decision")})`,
  `artifacts (sha256, bytes, content) values ('${HASH}', 1, 'x')`,
  `artifact_uses (job_id, step, stream, sha256, bytes, class) values (${JOB}, 0, 'stdout', '${HASH}', 1, 'evidence')`,
  `model_calls (job_id, run_id, pass, request_sha256, model, prompt_template, prompt_sha256, prompt, reply, done_reason, duration_ms)
   values (${JOB}, ${RUN}, 'first', '${HASH}', 'm', 't', '${HASH}', '{}', 'r', 'stop', 1)`,
  `call_reasoning (call_id, run_id, reasoning, chars) select call_id, run_id, 'r', 1 from nightdesk_data.model_calls`,
  `run_calls (run_id, ordinal, pass, call_id, origin) select run_id, 0, 'first', call_id, 'asked' from nightdesk_data.model_calls`,
  `evidence (run_id, ordinal, kind, admitted, path, sha256, text_sha256, chars_full, chars_returned, truncated, start_char, end_char,
             line_start, line_end, preview)
   values (${RUN}, 0, 'file', true, 'a.md', '${HASH}', '${HASH}', 1, 1, false, 0, 1, 1, 1, 'p')`,
  `quotes (run_id, ordinal, quote, class) values (${RUN}, 0, 'q', 'not_found')`,
  `figures (run_id, ordinal, kind, figure, stands_in, flagged) values (${RUN}, 0, 'number', '1', 'question', false)`,
  `claims (run_id, draft, ordinal, text, grade, fate, reason, stands) values (${RUN}, 0, 0, 't', 'unconfirmed', 'marked', 'unclear', true)`,
  `claim_checks (run_id, draft, claim, ordinal, rule, verdict, detail) values (${RUN}, 0, 0, 0, 'r', 'pass', 'd')`,
  `field_bindings (run_id, ordinal, pointer, value, state) values (${RUN}, 0, '/a', 'null', 'null')`,
  `summary_parts values (${RUN}, 'a.md', 0, 0, 0, 1, 1, 1, 's')`,
  ...[JOB, REPEAT].map(
    (asked) =>
      `checks (job_id, round, ordinal, draft_sha256, claim_number, claim, question, expects, how, state, check_job_id)
       values (${asked}, 0, 0, '${HASH}', 1, 'c', 'q', 'yes', 'model', 'yes', ${CHILD})`,
  ),
  `audits (job_id, round, readable, score, given) values (${JOB}, 0, true, 3, 3)`,
  `constraints (job_id, ordinal, what, needed, reason) values (${JOB}, 0, 'w', 'n', 'stagnated')`,
  `coverage (job_id, round, claim_number, claim, set_query, members, read) values (${JOB}, 0, 1, 'c', 'q', 1, 1)`,
  `draft_reviews (job_id, run_id, draft_sha256, draft, why) values (${JOB}, ${RUN}, '${HASH}', 'd', 'w')`,
  `job_vectors (job_id, ordinal, model, embedding) values (${JOB}, 0, 'm', '[1]')`,
  `write_backs (batch_id, job_id, source, remote_id, kind, name, pointer, value, state, reason)
   values (${OLD}, ${JOB}, 's', '1', 'tag', 't', '/tags/0', '"t"', 'withheld', 'unconfirmed')`,
  `watched_files (source, sha256, path, bytes, inode, mtime_ns, job_id, classified_at, label_job_id)
   values ('s', '${HASH}', 'a.md', 1, 1, 1, ${JOB}, now(), ${JOB})`,
];

/** Each foreign key, and whether its table is one of those that a deletion of jobs reaches. */
const FOREIGN_KEYS = `
  with recursive reached as (
    select 'nightdesk_data.jobs'::regclass::oid as relation
    union select c.conrelid from pg_constraint c join reached r on c.confrelid = r.relation where c.contype = 'f' and c.confdeltype = 'c')
  select c.conname as name, c.conrelid::regclass::text as child, c.confrelid::regclass::text as parent,
         c.confrelid in (select relation from reached) as is_reached,
         (select string_agg(format('c.%I = p.%I', a.attname, b.attname), ' and ')
            from unnest(c.conkey, c.confkey) as k (own, other)
            join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.own
            join pg_attribute b on b.attrelid = c.confrelid and b.attnum = k.other) as same,
         (select string_agg(format('c.%I is not null', a.attname), ' and ')
            from unnest(c.conkey) as k (own) join pg_attribute a on a.attrelid = c.conrelid and a.attnum = k.own) as given
    from pg_constraint c where c.contype = 'f' and c.connamespace = 'nightdesk_data'::regnamespace`;
type ForeignKey = {
  readonly name: string;
  readonly child: string;
  readonly parent: string;
  readonly is_reached: boolean;
  readonly same: string;
  readonly given: string;
};

async function foreignKeys(db: Queryable): Promise<readonly ForeignKey[]> {
  return (await db.query(FOREIGN_KEYS)).rows as ForeignKey[];
}

async function dangling(db: Queryable): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name, child, parent, same, given } of await foreignKeys(db)) {
    const lost = `${child} c where ${given} and not exists (select from ${parent} p where ${same})`;
    if ((await countOf(db, lost)) > 0) names.push(name);
  }
  return names;
}

async function fill(db: Database): Promise<void> {
  await db.transaction(async (transaction) => {
    await transaction.query("set local session_replication_role = replica");
    for (const row of ROWS) await transaction.query(`insert into nightdesk_data.${row}`);
    await transaction.query(
      `insert into nightdesk_data.batch_counts (batch_id, shard, total, succeeded, cancelled, failed)
       values (${OLD}, 0, 2, 1, 1, 0), (${CHECKS}, 0, 1, 0, 0, 1), (${YOUNG}, 0, 1, 0, 0, 1)`,
    );
  });
}

const RETENTION = { olderThanMs: 30 * 86_400_000, only: "any" } as const;

/** Slices until nothing is left: of the batch its job and the copy with it, of its checks one, the batch. */
async function pruneBy(db: Queryable): Promise<unknown[]> {
  const slices = [];
  for (;;) {
    const slice = await deleteOldSlice(db, RETENTION, 1);
    if (slice.kind === "busy" || slice.of === null) return slices;
    // Whoever is killed between two slices leaves a whole batch that is smaller.
    expect(await dangling(db)).toEqual([]);
    slices.push([slice.jobs, slice.batches]);
  }
}

describe.each(databases)("a deletion of jobs on %s", (name) => {
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

  async function expectOnlyTheRepeat(): Promise<void> {
    expect(await dangling(db)).toEqual([]);
    const left = new Set(
      (await foreignKeys(db)).flatMap((key) => (key.is_reached ? [key.child] : [])),
    );
    for (const table of [...left]) if ((await countOf(db, table)) === 0) left.delete(table);
    // The repeat and its check, and a file that is known by what it holds.
    expect([...left].sort()).toEqual(
      ["checks", "jobs", "watched_files"].map((table) => `nightdesk_data.${table}`),
    );
    expect(
      await countOf(
        db,
        "nightdesk_data.jobs where rerun_of is null and custom_id = 'c' || " + REPEAT,
      ),
    ).toBe(1);
    expect(await countOf(db, "nightdesk_data.batch_counts where total <> 0")).toBe(1);
  }

  beforeEach(async () => {
    await db.query(
      "truncate nightdesk_data.batches, nightdesk_data.watched_files, nightdesk_data.artifacts cascade",
    );
    await fill(db);
    // Of each foreign key that it reaches a row refers by it, or what follows proves nothing.
    for (const { name: key, child, given, is_reached: isReached } of await foreignKeys(db)) {
      if (isReached)
        expect([key, await countOf(db, `${child} c where ${given}`)]).not.toEqual([key, 0]);
    }
    expect(await dangling(db)).toEqual([]);
  });

  test("leaves nothing that refers to them, and lets their repeats go", async () => {
    expect(await pruneBy(db)).toEqual([[2, 0], [0, 0], [0, 1]]); // prettier-ignore
    await expectOnlyTheRepeat();
    // A trigger that is at rest meanwhile would not have done what it is for.
    const tables = [
      ...new Set(
        (await foreignKeys(db)).flatMap((key) => (key.is_reached ? [key.child, key.parent] : [])),
      ),
    ];
    const { rows } = await db.query(
      `select tgname, tgenabled from pg_trigger
        where not tgisinternal and tgtype & 8 <> 0 and tgrelid = any ($1::text[]::regclass[])`,
      [tables],
    );
    expect(rows).toEqual([{ tgname: "count_removed_jobs", tgenabled: "A" }]);
    // Foreign keys are at work again, in the same session.
    await expect(
      db.query(
        `insert into nightdesk_data.run_events (run_id, ordinal, step, duration_ms) values (${RUN}, 0, 's', 1)`,
      ),
    ).rejects.toMatchObject({ code: "23503" });
  });

  test.each([
    ["who is no superuser", ""],
    ["who may let foreign keys rest", "grant set on parameter session_replication_role to"],
  ])("does the same for %s", async (_who, grant) => {
    const role = `pruner_${topology.workroot.split("-").at(-1) ?? ""}`.toLowerCase();
    await db.query(`create role ${role}`);
    await db.query(`grant usage on schema nightdesk_data to ${role}`);
    await db.query(`grant all on all tables in schema nightdesk_data to ${role}`);
    if (grant !== "") await db.query(`${grant} ${role}`);
    try {
      await db.transaction(async (transaction) => {
        await transaction.query(`set local role ${role}`);
        expect(await pruneBy(transaction)).toEqual([[2, 0], [0, 0], [0, 1]]); // prettier-ignore
      });
      await expectOnlyTheRepeat();
    } finally {
      await db.query(`drop owned by ${role}; drop role ${role}`);
    }
  });
});
