import { z } from "zod";
import { REASON_WORDS } from "../../shared/job/claims.ts";
import { JOB_STATES } from "../../shared/job/job.ts";
import { formatLocator } from "../../shared/job/locator.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { BATCH_ORIGINS } from "../../shared/store/jobs/batches.ts";
import { selectApprovalGroups } from "../../shared/views/inbox.ts";
import type { ApprovalGroup } from "../../shared/views/inbox.ts";
import { findBatch, listBatches } from "../../shared/views/batches.ts";
import type { BatchProgress } from "../../shared/views/batches.ts";
import { selectJobState, selectQueueStats } from "../../shared/views/queue-stats.ts";
import { selectRunDetails } from "../../shared/views/runs.ts";
import type { RunDetail } from "../../shared/views/runs.ts";
import { selectHasPictures } from "../../shared/views/doubtful-figures.ts";
import type { QuotePicture } from "../../shared/views/doubtful-figures.ts";
import { searchResults } from "../../shared/views/search-results.ts";
import { cleanForDatabase } from "../../shared/terminal/styled-text.ts";
import { firstCodePoints } from "../text/clean-text.ts";
import { defineMcpTool, limitOf, notFound, resultShape, rowShape } from "./tool.ts";
import type { McpResult, McpTool } from "./tool.ts";

const MOST_ROWS = 200;
const SOME_ROWS = 20;
const MOST_CHARS = 20_000;
const cutText = (text: string): string => firstCodePoints(text, MOST_CHARS);

const idOf = (of: string) =>
  z.string().max(200).describe(`The id of a ${of}, or its first 8 characters.`);

const LIST_BATCHES = defineMcpTool({
  name: "list_batches",
  description: "Lists batches, newest first, with their jobs by state and why one is held.",
  args: z.strictObject({ limit: limitOf(MOST_ROWS) }),
  result: resultShape({
    count: z.int(),
    batches: z.array(
      rowShape({
        batch_id: z.string(),
        batch: z.string(),
        state: z.string(),
        hold_reason: z.string().nullable(),
        total: z.int(),
        created_at: z.string(),
        finished_at: z.string().nullable(),
      }),
    ),
  }),
  changes: "nothing",
  async run({ limit = SOME_ROWS }, context) {
    const batches = await listBatches(await context.database(), BATCH_ORIGINS, limit);
    return { count: batches.length, batches: batches.map(batchOf) };
  },
});

const batchOf = (batch: BatchProgress): McpResult => ({
  batch_id: batch.batchId,
  batch: batch.name,
  origin: batch.origin,
  state: batch.state,
  hold_reason: batch.holdReason,
  hold_until: batch.holdUntil,
  total: batch.total,
  ...batch.counts,
  created_at: batch.createdAt,
  finished_at: batch.finishedAt,
});

const GET_RUN = defineMcpTool({
  name: "get_run",
  description:
    "Gives a run, or all runs of a job: what was asked, what came of it, and by what evidence. Of a job that has not run: its state, and how many workers are alive.",
  args: z.strictObject({ id: idOf("run or a job") }),
  result: resultShape({
    job: rowShape({
      job_id: z.string(),
      state: z.enum(JOB_STATES),
      waiting_for: z.string().nullable(),
      hold_reason: z.string().nullable(),
      workers: z.int(),
    }),
    count: z.int(),
    runs: z.array(
      rowShape({
        run_id: z.string(),
        job_id: z.string(),
        kind: z.string(),
        error_code: z.string().nullable(),
        evidence: z.array(rowShape({ evidence_id: z.string(), admitted: z.boolean() })),
        untrusted_input: z.string(),
        answer_chars: z.int().nullable(),
        untrusted_answer: z.string().nullable(),
      }),
    ),
  }),
  changes: "nothing",
  async run({ id }, context) {
    const database = await context.database();
    const found = await findId(database, id, ["run", "job"]);
    const job = found === undefined ? undefined : await selectJobState(database, found);
    if (found === undefined || job === undefined)
      notFound("run or job", id, "search_results gives ids.");
    const runs = await selectRunDetails(database, found);
    return { job, count: runs.length, runs: runs.map(runOf) };
  },
});

const MOST_PIECES = 100;

const runOf = (run: RunDetail): McpResult => ({
  run_id: run.run_id,
  job_id: run.job_id,
  batch: run.batch,
  custom_id: run.custom_id,
  kind: run.kind,
  state: run.state,
  attempt: run.attempt,
  error_code: run.error_code,
  untrusted_error_message: run.error_message,
  model: run.model,
  started_at: run.started_at,
  finished_at: run.finished_at,
  run_ms: run.run_ms,
  prompt_tokens: run.prompt_tokens,
  completion_tokens: run.completion_tokens,
  scope: run.scope,
  counts: {
    steps: run.steps.length,
    tool_calls: run.tool_calls.length,
    model_calls: run.calls.length,
    evidence: run.evidence.length,
    claims: run.claims.length,
  },
  evidence: run.evidence.slice(0, MOST_PIECES).map((piece) => ({
    evidence_id: piece.evidence_id,
    kind: piece.kind,
    path: piece.path,
    sha256: piece.sha256,
    line_start: piece.line_start,
    line_end: piece.line_end,
    chars_returned: piece.chars_returned,
    left_out: piece.left_out,
    admitted: piece.admitted,
  })),
  untrusted_input: cutText(JSON.stringify(run.input)),
  answer_chars: run.answer?.length ?? null,
  untrusted_answer: run.answer === null ? null : cutText(run.answer),
});

const MOST_CLAIMS = 500;

const GET_CLAIMS = defineMcpTool({
  name: "get_claims",
  description:
    "Gives the statements of an answer, each with its grade, and the words of the document that carry it with their page or row, and where they were read from a picture their boxes and how sure its figures are; and those that were left out of it, each with the reason.",
  args: z.strictObject({ id: idOf("run or a job") }),
  result: resultShape({
    run_id: z.string(),
    count: z.int(),
    claims: z.array(
      rowShape({
        grade: z.string(),
        reason: z.string().nullable(),
        cites: z.array(z.int()),
        untrusted_place: z.string().nullable(),
        untrusted_text: z.string(),
        untrusted_carrier: z.string().nullable(),
      }),
    ),
    left_out: z.array(
      rowShape({ reason: z.string(), why: z.string(), untrusted_text: z.string() }),
    ),
  }),
  changes: "nothing",
  async run({ id }, context) {
    const database = await context.database();
    const found = await findId(database, id, ["run", "job"]);
    const runs = found === undefined ? [] : await selectRunDetails(database, found);
    const run = runs.at(-1) ?? notFound("run or job that ran", id, "search_results gives ids.");
    const claims = run.claims.filter(({ stands }) => stands).slice(0, MOST_CLAIMS);
    const pictures = await picturesOf(database, run, claims);
    return {
      run_id: run.run_id,
      count: run.claims.filter(({ stands }) => stands).length,
      claims: claims.map((claim, at) => ({
        grade: claim.grade,
        reason: claim.reason,
        cites: claim.cites,
        arithmetic: claim.arithmetic,
        path: claim.path,
        line_start: claim.line_start,
        line_end: claim.line_end,
        untrusted_place: claim.locator === null ? null : formatLocator(claim.locator),
        untrusted_text: claim.text,
        untrusted_carrier: claim.carrier,
        picture: pictureRow(pictures[at]),
      })),
      left_out: leftOutOf(run)
        .slice(0, MOST_CLAIMS)
        .map(({ reason, text }) => ({ reason, why: REASON_WORDS[reason], untrusted_text: text })),
    };
  },
});

/** The place of each claim's carrier on a picture; empty for a run that read no pictures. */
async function picturesOf(
  database: Database,
  { run_id: runId, evidence }: RunDetail,
  claims: RunDetail["claims"],
): Promise<readonly (QuotePicture | undefined)[]> {
  if (!(await selectHasPictures(database, runId))) return [];
  const { selectQuotePictures } = await import("../../shared/views/quote-pictures.ts");
  const quoted = claims.map(({ carrier, ...claim }) => ({ ...claim, quote: carrier }));
  return selectQuotePictures(database, evidence, quoted);
}

/** The place of a carrier that was read from a picture; null for any other. */
const pictureRow = (picture: QuotePicture | undefined): McpResult | null =>
  picture === undefined
    ? null
    : {
        ...picture,
        figures: picture.figures.map(({ text, second, ...figure }) => ({
          ...{ ...figure, untrusted_text: text, untrusted_second: second },
        })),
      };

/** The statements that were dropped from the draft on which the answer is based. */
function leftOutOf({ claims, claims_dropped: dropped }: RunDetail): RunDetail["claims"] {
  if (dropped === 0) return [];
  const answered = new Set(claims.filter(({ stands }) => stands).map(({ draft }) => draft));
  return claims.filter(({ fate, draft }) => fate === "dropped" && answered.has(draft));
}

const SEARCH_RESULTS = defineMcpTool({
  name: "search_results",
  description:
    "Finds jobs whose answer, custom_id or error code holds some characters, newest first.",
  args: z.strictObject({
    text: z.string().max(500).describe("Characters to look for; empty for the newest of all."),
    batch: z.string().max(300).optional().describe("Name or id of one batch."),
    state: z.enum(JOB_STATES).optional(),
    limit: limitOf(MOST_ROWS),
  }),
  result: resultShape({
    count: z.int(),
    results: z.array(
      rowShape({
        job_id: z.string(),
        custom_id: z.string(),
        untrusted_error_message: z.string().nullable(),
        untrusted_excerpt: z.string().nullable(),
      }),
    ),
  }),
  changes: "nothing",
  async run({ text, batch, state, limit = SOME_ROWS }, context) {
    const database = await context.database();
    const found = await searchResults(database, {
      text: cleanForDatabase(text),
      batchId: batch === undefined ? null : await batchIdOf(database, batch),
      state: state ?? null,
      limit,
    });
    return {
      count: found.length,
      results: found.map(({ excerpt, error_message, ...row }) => ({
        ...row,
        untrusted_error_message: error_message,
        untrusted_excerpt: excerpt,
      })),
    };
  },
});

async function batchIdOf(database: Database, named: string): Promise<string> {
  const id =
    (await findBatch(database, named))?.batchId ?? (await findId(database, named, ["batch"]));
  return id ?? notFound("batch", named, "list_batches gives names and ids.");
}

const QUEUE_STATS = defineMcpTool({
  name: "queue_stats",
  description:
    "Tells how many jobs wait, run and are parked, for what, and how many workers are alive.",
  args: z.strictObject({}),
  result: resultShape({}),
  changes: "nothing",
  run: async (_, context) => ({ ...(await selectQueueStats(await context.database())) }),
});

const LIST_APPROVALS = defineMcpTool({
  name: "list_approvals",
  description:
    "Lists calls of tools that wait for a person, equal ones together. They are decided by a person with `nightdesk approvals review`, never here.",
  args: z.strictObject({ limit: limitOf(MOST_ROWS) }),
  result: resultShape({
    count: z.int(),
    approvals: z.array(
      rowShape({
        approval_id: z.string(),
        fingerprint: z.string(),
        tool: z.string(),
        risks: z.array(z.string()),
        requests: z.int(),
        untrusted_preview: z.string(),
      }),
    ),
  }),
  changes: "nothing",
  async run({ limit = SOME_ROWS }, context) {
    const filter = { batchId: null, which: "waiting", limit } as const;
    const groups = await selectApprovalGroups(await context.database(), filter);
    return { count: groups.length, approvals: groups.map(approvalOf) };
  },
});

const approvalOf = (group: ApprovalGroup): McpResult => ({
  approval_id: group.approval_id,
  fingerprint: group.fingerprint,
  tool: group.tool,
  executor: group.executor,
  risks: group.risks,
  requests: group.requests,
  batches: group.batches,
  oldest_at: group.oldest_at,
  expires_at: group.expires_at,
  untrusted_preview: cutText(group.preview),
});

/** The tools that only read rows. */
export const ROW_TOOLS: readonly McpTool[] = [
  LIST_BATCHES,
  GET_RUN,
  GET_CLAIMS,
  SEARCH_RESULTS,
  QUEUE_STATS,
  LIST_APPROVALS,
];
