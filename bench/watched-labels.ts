// What a look at a watched folder of many files asks the database, on Postgres: the classifications that have ended since the rules
// were last asked, and what is to be moved. Each folder is of one kind: files that nobody classified, that wait for their
// classification, that were passed over by their label, that were worked by it, and that were classified since the last look. p50 and
// the longest of ten.
// node --import ./bench/register.js bench/watched-labels.ts [files, default 100000]
import type { Queryable } from "../src/shared/store/connection/database.ts";
import { moveDueFiles } from "../src/shared/store/index/watched-files.ts";
import { selectNow } from "../src/shared/store/index/embeddings.ts";
import { selectClassified } from "../src/shared/store/index/watched-labels.ts";
import { createFreshDatabase } from "./fresh-database.ts";

const LOOKS = 10;
/** As of one look. */
const MOST_DECIDED = 200;
const files = Number(process.argv.slice(2).find((arg) => /^\d+$/.test(arg)) ?? 100_000);

type Folder = {
  readonly name: string;
  /** State of the classification of each file; null where it has none. */
  readonly job: "succeeded" | "queued" | null;
  /** Whether the rules were asked about it, and whether there is a job by its label. */
  readonly asked: boolean;
  readonly worked: boolean;
};

const FOLDERS: readonly Folder[] = [
  { name: "unclassified", job: null, asked: false, worked: false },
  { name: "waiting", job: "queued", asked: false, worked: false },
  { name: "passed over", job: "succeeded", asked: true, worked: false },
  { name: "worked", job: "succeeded", asked: true, worked: true },
  { name: "fresh", job: "succeeded", asked: false, worked: false },
];

const { db, drop } = await createFreshDatabase();
try {
  for (const folder of FOLDERS) await fill(folder);
  await db.query("vacuum analyze");
  for (const { name } of FOLDERS) {
    const all = await timed(() => selectClassified(db, name, { limit: MOST_DECIDED, after: "" }));
    const since = await selectNow(db);
    const fresh = await timed(() => selectClassified(db, name, { limit: MOST_DECIDED, since }));
    const moved = await timed(() => moveDueFiles(db, name, () => Promise.reject(new Error(name))));
    console.log(
      `${name}, ${files} files: labels of all ${all}; of those since then ${fresh}; moves ${moved}`,
    );
  }
} finally {
  await drop();
}

async function timed(run: () => Promise<readonly unknown[]>): Promise<string> {
  const times: number[] = [];
  let found = 0;
  for (let look = 0; look < LOOKS; look += 1) {
    const startedAt = performance.now();
    found = (await run()).length;
    times.push(performance.now() - startedAt);
  }
  const sorted = times.toSorted((one, other) => one - other);
  const [p50, most] = [sorted[LOOKS / 2] ?? NaN, sorted.at(-1) ?? NaN];
  return `${found} found, p50 ${p50.toFixed(1)} ms, at most ${most.toFixed(1)} ms`;
}

/** Rows as looks and runs write them, without the triggers that count them. */
async function fill(folder: Folder): Promise<void> {
  await db.within("build").transaction(async (client) => {
    await client.query("set local session_replication_role = replica");
    const batch = await client.query(
      "insert into nightdesk_data.batches (name, state) values ($1, 'open') returning batch_id::text",
      [folder.name],
    );
    const { batch_id: batchId } = batch.rows[0] as { batch_id: string };
    if (folder.job !== null) await fillJobs(client, batchId, folder);
    await client.query(
      `insert into nightdesk_data.watched_files
         (source, sha256, path, bytes, inode, mtime_ns, seen_at, job_id, classified_at, label, label_job_id)
       select $1, encode(sha256(convert_to($1 || n, 'utf8')), 'hex'), $1 || '/' || n || '.pdf', 10000, n, 0, now() - make_interval(secs => n), j.job_id,
              case when $3 then j.finished_at end, case when $3 then 'letter' end, case when $4 then j.job_id end
         from generate_series(1, $2::integer) n
         left join nightdesk_data.jobs j on j.batch_id = $5::uuid and j.custom_id = n::text`,
      [folder.name, files, folder.asked, folder.worked, batchId],
    );
  });
}

async function fillJobs(client: Queryable, batchId: string, { name, job }: Folder): Promise<void> {
  await client.query(
    `insert into nightdesk_data.jobs (batch_id, custom_id, kind, input, input_sha256, state, run_id, finished_at)
     select $1::uuid, n::text, 'extract',
            jsonb_build_object('kind', 'extract', 'preset', 'classify', 'path', $2 || '/' || n || '.pdf',
                               'labels', array['invoice', 'letter']),
            encode(sha256(n::text::bytea), 'hex'), $4,
            case when $4 = 'succeeded' then gen_random_uuid() end,
            case when $4 = 'succeeded' then now() - make_interval(secs => n) end
       from generate_series(1, $3::integer) n`,
    [batchId, name, files, job],
  );
  if (job !== "succeeded") return;
  await client.query(
    `insert into nightdesk_data.runs (run_id, job_id, attempt, worker_id, state, summary, run_ms, finished_at)
     select run_id, job_id, 1, gen_random_uuid(), 'succeeded', '{"label": "letter"}', 1, finished_at
       from nightdesk_data.jobs where batch_id = $1::uuid`,
    [batchId],
  );
  await client.query(
    `insert into nightdesk_data.evidence
       (run_id, ordinal, kind, admitted, path, sha256, text_sha256, chars_full, chars_returned, truncated, start_char, end_char,
        line_start, line_end, preview)
     select run_id, 0, 'file', true, input->>'path', encode(sha256(convert_to($2 || custom_id, 'utf8')), 'hex'),
            repeat('a', 64), 10000, 10000, false, 0, 10000, 1, 100, repeat('text ', 40)
       from nightdesk_data.jobs where batch_id = $1::uuid`,
    [batchId, name],
  );
}
