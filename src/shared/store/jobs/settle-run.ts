import { z } from "zod";
import { contradictsAnswer, countDropped, gradeOf, gradeOfFields } from "../../job/claims.ts";
import type { EvidenceSpan, ModelUse } from "../../job/run-result.ts";
import type { Settlement } from "../../job/settlement.ts";
import type { Queryable } from "../connection/database.ts";
import { anyRow } from "../connection/rows.ts";
import { CALL_COLUMNS, CALL_TYPES, callRowOf } from "./model-calls.ts";
import { runTable, tableOfRun } from "./run-tables.ts";
import type { RunRecord, RunTable } from "./run-tables.ts";
import { storeResult } from "./store-result.ts";
import { VERIFICATION } from "./verification.ts";

type SettledRun = {
  /** The number of other unfinished jobs of the batch at that moment. */
  readonly remaining: number;
};

const settledSchema = z.object({ remaining: z.coerce.number() });

/** The run that ends, and its version, configuration and roots. */
export type EndedRun = {
  readonly runId: string;
  readonly runMs: number;
  /** Version of Nightdesk. */
  readonly version: string;
  /** Hash of the configuration values that affect answers, 64 hex. */
  readonly configSha256: string;
  /** Absolute path of the configuration file. */
  readonly configFile: string;
  readonly roots: RunRoots;
};

/** Folders of a run: the absolute work root, and below it the readable folders and the indexed sources. */
type RunRoots = {
  readonly workroot: string;
  readonly allowed: readonly string[];
  readonly sources: Readonly<Record<string, string>>;
};

/**
 * Stores the whole result of a run in one statement: job, run, evidence, tool calls, the model calls that it used, events, checks
 * and claims of its answer, parts of its summary. Only while the job names this run; a run that lost its lease changes nothing.
 * @returns undefined when the run no longer owned the job
 * @throws Failure RESULT_UNSTORABLE when the result is too large, or has text that a database can't store
 */
export async function settleRun(
  db: Queryable,
  run: EndedRun,
  settlement: Settlement,
  record: RunRecord,
): Promise<SettledRun | undefined> {
  const children = CHILDREN.flatMap((group) => fillGroup(group, record));
  const { rows } = await storeResult(db, {
    text: settleWith(children),
    name: "settle_run",
    values: () => [
      run.runId,
      settlement.kind,
      "code" in settlement ? settlement.code : null,
      "message" in settlement ? settlement.message.slice(0, 4000) : null,
      "delayMs" in settlement ? settlement.delayMs / 1000 : 0,
      "host" in settlement ? settlement.host : null,
      JSON.stringify({ ...runColumns(settlement, record), ...endedColumns(run) }),
      "brokeOff" in settlement && settlement.brokeOff,
      settlement.kind === "parked" ? (settlement.waitingFor ?? null) : null,
      ...children.map((child) => JSON.stringify(child.rows)),
    ],
  });
  return settledSchema.optional().parse(rows[0]);
}

/** Whether the result of a run is stored, for use after `settleRun` lost its connection before the reply. */
export const isSettled = (db: Queryable, runId: string): Promise<boolean> =>
  anyRow(db, [runId])`
     select from nightdesk_data.runs where run_id = $1 and state not in ('running', 'lost')`;

const runColumns = (settlement: Settlement, record: RunRecord) => {
  const answer = settlement.kind === "succeeded" ? settlement.outcome : null;
  return {
    verification: verificationOf(settlement, record),
    answer: answer?.answer ?? null,
    scope: answer?.scope ?? null,
    citations: answer?.citations ?? [],
    summary: answer?.summary ?? null,
    grade: gradeFor(settlement, record),
    claims_dropped: answer === null ? 0 : countDropped(record.claims),
    model_first: modelOf(record, "first"),
    model_second: modelOf(record, "second"),
    models: record.models,
    memory_ids: record.memoryIds,
    cached_from: cachedFrom(record),
    prompt_tokens: record.usage.promptTokens,
    completion_tokens: record.usage.completionTokens,
    model_ms: record.modelMs,
  };
};

/** The state is pending only for a drafted run. A run that was about to wait but ends otherwise has an unverified answer: off. */
function verificationOf({ kind }: Settlement, { verification: { state } }: RunRecord): string {
  if (kind === "drafted") return "pending";
  return state === "pending" ? "off" : state;
}

function gradeFor(settlement: Settlement, { verification, claims, bindings }: RunRecord) {
  if (settlement.kind === "refused" && settlement.code === "UNRESOLVED") return "unresolved";
  if (settlement.kind !== "succeeded") return null;
  if (verification.state === "passed") return "verified";
  const grade = gradeOf(claims) ?? gradeOfFields(bindings);
  const isContradicted = verification.checks.some(contradictsAnswer);
  return isContradicted && grade === "supported" ? "unconfirmed" : grade;
}

/** The run that requested the last reply, if all replies were copied from other jobs. */
const cachedFrom = ({ replies }: RunRecord): string | null =>
  replies.every(({ origin }) => origin === "cached") ? (replies.at(-1)?.cachedFrom ?? null) : null;

const modelOf = ({ models }: RunRecord, pass: ModelUse["pass"]): string | null =>
  models.find((use) => use.pass === pass)?.model ?? null;

const endedColumns = ({ runMs, version, configSha256, configFile, roots }: EndedRun) => ({
  run_ms: runMs,
  version,
  config_sha256: configSha256,
  config_file: configFile,
  roots,
});

const SPAN =
  "number int, path text, start_char int, end_char int, line_start int, line_end int" as const;

/** Settlements after which the job is due again. */
const GOES_ON = "('retry', 'parked', 'handed_back', 'drafted', 'escalated')";
/** Settlements that use up no attempt. */
const FOR_FREE = "('parked', 'handed_back', 'drafted', 'escalated')";

// $1 run, $2 settlement, $3 code, $4 message, $5 delay in seconds, $6 host, $7 columns of the run, $8 whether a host broke off,
// $9 the person or event that it waits for.
const ENDED = `
job as (
  update nightdesk_data.jobs j
     -- A job that was to be cancelled does not go on.
     set state = case when $2::text not in ${GOES_ON} then $2::text
                      when cancel_requested then stopped.state
                      when $2::text = 'parked' then 'parked' else 'queued' end,
         attempt = attempt - case when $2::text in ${FOR_FREE} then 1 else 0 end,
         parks = parks + case $2::text when 'parked' then 1 else 0 end,
         broken_calls = broken_calls + case when $8::boolean then 1 else 0 end,
         losses = 0,
         due_at = case when $9::text is not null and not cancel_requested then 'infinity'
                       when $2::text in ${GOES_ON}
                       then clock_timestamp() + make_interval(secs => $5::double precision) else due_at end,
         tier = tier + case $2::text when 'escalated' then 1 else 0 end,
         lease_until = null, worker_id = null,
         waits_for = case when $2::text = 'drafted' and not cancel_requested then (
                       select count(*) from nightdesk_data.job_dependencies d
                         join nightdesk_data.jobs c on c.job_id = d.child_id
                        where d.parent_id = j.job_id and c.finished_at is null) else waits_for end,
         parked_host = case when $2::text = 'parked' and not cancel_requested then $6::text end,
         waiting_for = case when $2::text = 'parked' and not cancel_requested
                            then coalesce($9::text, case when $6::text is null then 'time' else 'host' end) end,
         cancel_requested = $2::text in ('cancelled', 'expired')
                            or cancel_requested and $2::text in ${GOES_ON},
         error_code = case when cancel_requested and $2::text in ${GOES_ON}
                           then stopped.code else $3 end,
         error_message = case when cancel_requested and $2::text in ${GOES_ON}
                              then stopped.message else $4 end,
         finished_at = case when cancel_requested or $2::text not in ${GOES_ON}
                            then clock_timestamp() end
    from (select batch_id,
                 case state when 'expired' then 'expired' else 'cancelled' end as state,
                 case state when 'expired' then 'DEADLINE_EXCEEDED' else 'CANCELLED' end as code,
                 case state when 'expired' then 'The deadline of the batch passed while it ran.'
                            else 'Cancelled while it ran.' end as message
            from nightdesk_data.batches) stopped
   where j.run_id = $1 and j.state = 'running' and stopped.batch_id = j.batch_id
  returning j.job_id, j.batch_id),
run as (
  update nightdesk_data.runs r
     set state = case $2::text when 'retry' then 'failed' else $2::text end,
         error_code = $3, error_message = $4, finished_at = clock_timestamp(),
         answer = c.answer, scope = c.scope, citations = c.citations, summary = c.summary,
         model_first = c.model_first, model_second = c.model_second,
         prompt_tokens = c.prompt_tokens, completion_tokens = c.completion_tokens,
         model_ms = c.model_ms, run_ms = c.run_ms, version = c.version, config_sha256 = c.config_sha256,
         config_file = c.config_file, roots = c.roots,
         grade = c.grade, verification = c.verification, claims_dropped = c.claims_dropped, models = c.models, memory_ids = c.memory_ids, cached_from = c.cached_from
    from job, jsonb_to_record($7::jsonb) as c (
         answer text, scope text, citations jsonb, summary jsonb, model_first text, model_second text,
         prompt_tokens int, completion_tokens int, model_ms double precision, run_ms double precision,
         version text, config_sha256 text, config_file text, roots jsonb, models jsonb, memory_ids uuid[],
         cached_from uuid, grade text, verification text, claims_dropped int)
   where r.run_id = $1)`;

const FIRST_CHILD = 10;

/** `remaining` is exact only up to 65 and only when no job waits; otherwise 65 means many. */
const settleWith = (children: readonly FilledTable[]): string => `
with ${[ENDED, ...children.map(({ insert }, index) => insert(`$${FIRST_CHILD + index}::jsonb`))].join(",")}
select case when exists (select from nightdesk_data.jobs o
                          where o.batch_id = job.batch_id and o.state in ('queued', 'parked')) then 65
            else (select count(*) from (
                    select from nightdesk_data.jobs o
                     where o.batch_id = job.batch_id and o.state = 'running' and o.job_id <> job.job_id limit 65) open)
       end as remaining
  from job`;

type FilledTable = Pick<RunTable, "insert"> & { readonly rows: readonly object[] };

/** All tables of a group, or none if it has no rows: few combinations, since the server prepares a statement for each. */
function fillGroup(group: readonly RunTable[], record: RunRecord): readonly FilledTable[] {
  const written = group.map(({ rowsOf, insert }) => ({ insert, rows: rowsOf(record) }));
  return written.some(({ rows }) => rows.length > 0) ? written : [];
}

const READING = [
  tableOfRun(
    "evidence",
    `ordinal int, kind text, admitted boolean, rejected_reason text, path text, source text, sha256 text,
     text_sha256 text, chars_full int, chars_returned int, truncated boolean, chunk_key text, heading_path text,
     start_char int, end_char int, line_start int, line_end int, score double precision, preview text,
     extractor text, locator jsonb, left_out jsonb, title text, retrieved_at timestamptz`,
    ({ evidence }) =>
      evidence.map((piece, ordinal) => {
        const { title, retrievedAt } = piece.page ?? { title: null, retrievedAt: null };
        return { ...piece, ordinal, title, retrievedAt, leftOut: piece.leftOut ?? {} };
      }),
  ),
  tableOfRun(
    "tool_calls",
    `ordinal int, name text, args jsonb, error_code text, error_message text, result jsonb, trailing_text text,
     duration_ms double precision`,
    ({ toolCalls }) => toolCalls.map((call, ordinal) => ({ ...call, ordinal })),
  ),
];

const REPLIES: readonly RunTable[] = [
  {
    rowsOf: (record) => uncommittedCalls(record),
    insert: (parameter) => `
made as (
  insert into nightdesk_data.model_calls (job_id, run_id, ${CALL_COLUMNS})
  select job.job_id, $1, c.* from job, jsonb_to_recordset(${parameter}) as c (${CALL_TYPES})
  on conflict (job_id, request_sha256) do update set run_id = excluded.run_id
  returning call_id, request_sha256)`,
  },
  runTable(
    "ordinal int, pass text, request_sha256 text, origin text",
    ({ replies }) => replies.map((reply, ordinal) => ({ ...reply, ordinal })),
    (_, rows) => `
kept as (
  select call_id, request_sha256 from made
   union all
  select m.call_id, m.request_sha256 from job join nightdesk_data.model_calls m using (job_id)
   where m.request_sha256 not in (select request_sha256 from made)),
used as (
  insert into nightdesk_data.run_calls (run_id, ordinal, pass, call_id, origin)
  select $1, c.ordinal, c.pass, kept.call_id, c.origin from ${rows} join kept using (request_sha256))`,
  ),
];

const EVENTS = [
  tableOfRun(
    "run_events",
    "ordinal int, step text, at_ms double precision, duration_ms double precision, detail jsonb",
    ({ events }) => events.map((event, ordinal) => ({ ...event, ordinal })),
  ),
];

const CHECKS = [
  tableOfRun("quotes", `ordinal int, quote text, class text, ${SPAN}`, ({ checks }) =>
    checks.quotes.map((found, ordinal) => ({ ...found, ordinal, ...placeOf(found) })),
  ),
  tableOfRun(
    "figures",
    `ordinal int, kind text, figure text, stands_in text, flagged boolean, ${SPAN}`,
    ({ checks }) =>
      checks.figures.map((found, ordinal) => {
        return { ...found, ordinal, figure: found.text, ...placeOf(found) };
      }),
  ),
];

const CLAIMS = [
  tableOfRun(
    "claims",
    `draft int, ordinal int, text text, cites int[], quote text, grade text, reason text, fate text, stands boolean,
     arithmetic text, carrier text, locator jsonb, other_places jsonb, ${SPAN}`,
    ({ claims }) =>
      numberClaims(claims).map(({ claim, ordinal }) => {
        const locator = claim.span?.locator ?? null;
        const otherPlaces = claim.otherSpans.map(placeColumns);
        return { ...claim, ordinal, locator, otherPlaces, ...placeOf(claim) };
      }),
  ),
  tableOfRun(
    "claim_checks",
    "draft int, claim int, ordinal int, rule text, verdict text, detail text",
    ({ claims }) =>
      numberClaims(claims).flatMap(({ claim: { draft, checks }, ordinal: claim }) =>
        checks.map((check, ordinal) => ({ ...check, draft, claim, ordinal })),
      ),
  ),
];

const BINDINGS = [
  runTable(
    `ordinal int, pointer text, state text, reason text, grade text, judge_says text, judge_detail text, quote text, locator jsonb, ${SPAN}, value jsonb`,
    ({ bindings }) =>
      bindings.map((found, ordinal) => {
        const { says = null, detail = null } = found.judged ?? {};
        const locator = found.span?.locator ?? null;
        const judged = { judgeSays: says, judgeDetail: detail };
        return { ...found, ordinal, ...judged, locator, ...placeOf(found) };
      }),
    (names, rows) => `
bindings as (
  insert into nightdesk_data.field_bindings (run_id, ${names})
  select $1, ${names.replace("value", "coalesce(value, 'null')")} from job, ${rows})`,
  ),
];

const PARTS = [
  tableOfRun(
    "summary_parts",
    `path text, level int, ordinal int, start_char int, end_char int, line_start int, line_end int, summary text`,
    ({ parts }) => parts,
  ),
];

const CHILDREN = [READING, REPLIES, EVENTS, CHECKS, CLAIMS, BINDINGS, PARTS, VERIFICATION];

/** Calls that were not committed on arrival, each request once. */
const uncommittedCalls = ({ replies }: RunRecord) =>
  [
    ...new Map(
      replies
        .filter(({ kept, origin }) => kept === "with_run" && origin === "asked")
        .map((reply) => [reply.requestSha256, reply]),
    ).values(),
  ].map((reply) =>
    callRowOf({
      ...reply,
      modelDigest: null,
      reply: { ...reply, toolCalls: [], doneReason: "stop", loadMs: 0 },
      refusal: null,
    }),
  );

/** The columns of a place in the evidence; all null without one. */
const placeOf = ({ span }: { readonly span: EvidenceSpan | null }): EvidenceSpan | NoSpan =>
  span ?? NO_SPAN;

type NoSpan = Readonly<Record<Exclude<keyof EvidenceSpan, "locator">, null>>;

const NO_SPAN: NoSpan = {
  ...{ number: null, path: null },
  ...{ startChar: null, endChar: null, lineStart: null, lineEnd: null },
};

const placeColumns = (span: EvidenceSpan) => ({
  number: span.number,
  path: span.path,
  start_char: span.startChar,
  end_char: span.endChar,
  line_start: span.lineStart,
  line_end: span.lineEnd,
  locator: span.locator ?? null,
});

type PlacedClaim = { readonly claim: RunRecord["claims"][number]; readonly ordinal: number };

/** Claims, each with its position in its draft. */
function numberClaims(claims: RunRecord["claims"]): readonly PlacedClaim[] {
  const counts = new Map<number, number>();
  return claims.map((claim) => {
    const ordinal = counts.get(claim.draft) ?? 0;
    counts.set(claim.draft, ordinal + 1);
    return { claim, ordinal };
  });
}
