import type { Database } from "../../../src/shared/store/connection/database.ts";
import { numberOf, rowsOf } from "./accounts.ts";
import type { MorningReport } from "./morning-report.ts";

type Count = { readonly state: string; readonly code: string | null; readonly jobs: number };

/** What the report of a batch that has ended should say, by the views that a user has. */
export async function reportBySql(db: Database, batch: string): Promise<MorningReport> {
  const counts = await rowsOf<Count>(
    db,
    `select state, error_code as code, count(*)::int as jobs from nightdesk.results where batch = $1
      group by 1, 2 order by 3 desc`,
    [batch],
  );
  const jobsIn = (state: string) => sum(counts.filter((row) => row.state === state));
  const slowest = await rowsOf<{ custom_id: string }>(
    db,
    "select custom_id from nightdesk.results where batch = $1 order by run_ms desc nulls last limit 10",
    [batch],
  );
  const repeats = await numberOf(
    db,
    `select count(distinct (r.job_id, r.attempt)) from nightdesk_data.runs r join nightdesk.results j using (job_id)
      where j.batch = $1 and r.attempt > 1`,
    [batch],
  );
  return {
    headline:
      `${jobsIn("succeeded")} of ${sum(counts)} jobs succeeded; ` +
      `${jobsIn("refused")} refused, ${jobsIn("failed")} failed.`,
    repeated: `${repeats} runs`,
    reused: undefined,
    tokens: await tokensOf(db, batch),
    // Failures first, then refusals, each with the most frequent first.
    failureGroups: ["failed", "refused"].flatMap((state) =>
      counts
        .filter((row) => row.state === state)
        .map(({ code, jobs }) => `${code}, ${jobs} ${jobs === 1 ? "job" : "jobs"} ${state}`),
    ),
    slowest: slowest.map(({ custom_id }) => custom_id),
  };
}

async function tokensOf(db: Database, batch: string): Promise<string> {
  const [row] = await rowsOf<{ read: number; written: number }>(
    db,
    `select sum(m.prompt_tokens)::int as read, sum(m.completion_tokens)::int as written
       from nightdesk.model_calls m join nightdesk.results j using (job_id)
      where j.batch = $1 and m.cached_from is null`,
    [batch],
  );
  const [read = "", written = ""] = [row?.read, row?.written].map((n) =>
    n?.toLocaleString("en-US"),
  );
  return `${read} read, ${written} written`;
}

const sum = (counts: readonly Count[]): number =>
  counts.reduce((total, { jobs }) => total + jobs, 0);
