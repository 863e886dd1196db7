import type { CommandContext } from "../../shared/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/db/database.ts";
import { selectVectors } from "../../shared/db/jobs/job-vectors.ts";
import { selectResult } from "../../shared/db/jobs/read-results.ts";
import type { JobResult, StoredCitation } from "../../shared/db/jobs/read-results.ts";
import type { WaitingJob } from "../../shared/db/jobs/read-waiting.ts";
import { Failure } from "../../shared/failure.ts";
import { line, styledState } from "../../shared/styled-text.ts";
import type { Line } from "../../shared/styled-text.ts";
import type { Terminal } from "../../shared/terminal.ts";
import { describeHold, holdRemedy } from "./describe-hold.ts";
import { formatDuration } from "./quantity.ts";
import { failureJson, successJson } from "./result-json.ts";

/** Prints how a single job ended, and gives the command's exit code. */
export async function printResult(
  { terminal, invocation }: CommandContext,
  database: Database,
  jobId: string,
): Promise<number> {
  const result = await selectResult(database, jobId);
  if (result === undefined)
    throw new Failure("NOT_FOUND", `Job ${jobId} is gone: its batch was deleted.`);
  const wantsJson = invocation.options["json"] === true;
  if (result.state !== "succeeded") {
    if (wantsJson) await terminal.printJson(failureJson(result));
    else for (const told of describeFailure(result)) terminal.say(told);
    return result.state === "refused" ? EXIT.refused : EXIT.error;
  }
  if (wantsJson)
    await terminal.printJson({ ...successJson(result), ...(await vectorsOf(database, result)) });
  else await printAnswer(terminal, result);
  return EXIT.ok;
}

/** Vectors of free text are given as `{vectors, vector_model}`; a job without them adds nothing. */
export async function vectorsOf(
  database: Database,
  result: JobResult,
): Promise<Record<string, unknown>> {
  if (result.vectors === 0) return {};
  const { model, vectors } = await selectVectors(database, result.job_id);
  return { vectors, vector_model: model };
}

/** The answer, its last line the scope footer, and then what its numbers stand for. */
async function printAnswer(terminal: Terminal, result: JobResult): Promise<void> {
  for (const answered of [...answerLines(result), ...describeCitations(result)])
    await terminal.print(answered);
  for (const warning of warnOfLinks(result)) terminal.say(warning);
}

const MOST_LINKS = 5;

/** The answer holds its links as they are written. One that nobody but the model brought up may carry what it read. */
export function warnOfLinks({ unfounded_links: links }: JobResult): readonly string[] {
  if (links.length === 0) return [];
  const more = links.length > MOST_LINKS ? ` and ${links.length - MOST_LINKS} more` : "";
  return [
    `Look before you follow what neither the question nor a document holds: ${links.slice(0, MOST_LINKS).join(", ")}${more}`,
  ];
}

/** The last line is the scope footer. */
export const answerLines = (result: JobResult): readonly string[] =>
  (result.answer ?? "").split("\n");

type Cited = Pick<JobResult, "citations" | "evidence">;
type Piece = JobResult["evidence"][number];

/**
 * What the numbers of an answer stand for, one a line. Copies of a document are one source: `[1] a.eml lines 1-4, also in
 * b.eml [2]`, and without a number where the copy was read and not cited.
 */
export function describeCitations({ citations, evidence }: Cited): readonly string[] {
  const told = new Set<StoredCitation>();
  return (citations ?? []).flatMap((citation) => {
    if (told.has(citation)) return [];
    const copies = copiesOf(citation, evidence).map((copy) => {
      const cited = citations?.find((other) => stands(other, copy) && sameLines(other, citation));
      if (cited !== undefined) told.add(cited);
      return `, also in ${copy.path}${cited === undefined ? "" : ` [${cited.number ?? "-"}]`}`;
    });
    return [describeCitation(citation) + copies.join("")];
  });
}

const stands = ({ path, chunkKey }: StoredCitation, piece: Piece): boolean =>
  piece.path === path && piece.chunk_key === (chunkKey ?? null);

const sameLines = (one: StoredCitation, other: StoredCitation): boolean =>
  one.lineStart === other.lineStart && one.lineEnd === other.lineEnd;

/** The same span of the same bytes, under other paths. */
function copiesOf(citation: StoredCitation, evidence: readonly Piece[]): readonly Piece[] {
  const piece = evidence.find((candidate) => stands(citation, candidate));
  if (piece === undefined) return [];
  const { path, sha256, start_char, end_char } = piece;
  return evidence.filter(
    (other) =>
      other.path !== path &&
      other.sha256 === sha256 &&
      other.start_char === start_char &&
      other.end_char === end_char,
  );
}

/** `[1] notes/brakes.md#Bleeding lines 10-14`, a dash for one by name, and what stands for nothing as it is spelled. */
function describeCitation(citation: StoredCitation): string {
  if (citation.resolved === false) return `[?] ${citation.path} stands for nothing that was read`;
  const heading = typeof citation.heading === "string" ? `#${citation.heading}` : "";
  const { lineStart, lineEnd } = citation;
  if (typeof citation.jobId === "string") {
    return `[${citation.number ?? "-"}] ${citation.path} job ${citation.jobId}`;
  }
  const lines =
    typeof lineStart !== "number" || typeof lineEnd !== "number"
      ? ""
      : lineStart === lineEnd
        ? ` line ${lineStart}`
        : ` lines ${lineStart}-${lineEnd}`;
  return `[${citation.number ?? "-"}] ${citation.path}${heading}${lines}`;
}

function describeFailure(result: JobResult): readonly Line[] {
  const how = result.state === "refused" ? "Refused" : `The job ${wordOf(result.state)}`;
  return [
    line`${styledState(result.state, how)}: ${result.error_code ?? ""}: ${result.error_message ?? ""}`,
    `What was done: nightdesk runs show ${result.job_id}`,
  ];
}

const wordOf = (state: JobResult["state"]): string =>
  state === "failed" ? "failed" : state === "cancelled" ? "was cancelled" : "expired";

/** Says why a single job waits and when it goes on, and gives the exit code for "try again later". */
export async function printDelay(
  { terminal, invocation }: CommandContext,
  job: WaitingJob,
  batch: string,
): Promise<number> {
  const code = job.code ?? (job.holdReason === "budget" ? "BUDGET_EXCEEDED" : null);
  if (invocation.options["json"] === true) {
    await terminal.printJson({
      ok: false,
      error_code: code,
      error_message: job.message ?? describeDelay(job),
      job_id: job.jobId,
      run_id: job.runId,
      batch,
      state: job.state,
      hold_reason: job.holdReason,
      hold_until: job.holdUntil,
      due_in_s: job.dueInSeconds,
    });
  } else {
    terminal.say(describeDelay(job));
    const remedy = holdRemedy({ ...job, name: batch });
    if (remedy !== undefined) terminal.say(`${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}`);
    terminal.say(`It stays queued. To wait for it: nightdesk batch wait ${JSON.stringify(batch)}`);
  }
  return EXIT.tryLater;
}

function describeDelay(job: WaitingJob): string {
  if (job.holdReason !== null) {
    return `The batch is ${describeHold(job)}.`;
  }
  const again =
    job.dueInSeconds === null ? "later" : `in ${formatDuration(job.dueInSeconds * 1_000)}`;
  return `Parked: ${job.code ?? ""}: ${job.message ?? ""} It is tried again ${again}.`;
}
