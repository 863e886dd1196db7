import type { CommandContext } from "../../shared/commands/command-context.ts";
import { EXIT } from "../../shared/commands/report-failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { readResults, selectResult, selectVectors } from "../../shared/views/results.ts";
import type { JobResult } from "../../shared/views/results.ts";
import type { WaitingJob } from "../../shared/store/jobs/waiting.ts";
import { Failure } from "../../shared/failure.ts";
import {
  layOutLines,
  line,
  plainText,
  styledState,
  quoteForShell,
} from "../../shared/terminal/styled-text.ts";
import type { Line } from "../../shared/terminal/styled-text.ts";
import type { Terminal } from "../../shared/terminal/terminal.ts";
import { WAITS_FOR_PEOPLE } from "../../shared/views/inbox-pages.ts";
import {
  citedText,
  isCopy,
  isOfPiece,
  outdatedLines,
  unreadLines,
} from "../../shared/views/citations.ts";
import type { StoredCitation } from "../../shared/views/citations.ts";
import { claimLines, claimsJson, leftOutJson, leftOutLines } from "../../shared/views/claims.ts";
import { decisionText, unboundText } from "../../shared/views/field-blocks.ts";
import { formatHold, holdRemedy } from "../../shared/views/batch-words.ts";
import { formatDuration } from "../../shared/views/quantity.ts";
import { printExtractions } from "./extractions.ts";
import { lineOf } from "./sections.ts";

/** Prints the result of a single job, and returns the command's exit code. */
export async function printResult(
  { terminal }: CommandContext,
  database: Database,
  jobId: string,
): Promise<number> {
  const result = await selectResult(database, jobId);
  if (result === undefined)
    throw new Failure("NOT_FOUND", `Job ${jobId} is gone: its batch was deleted.`);
  if (result.state !== "succeeded") {
    if (terminal.isJson) await terminal.printJson(failureJson(result));
    else for (const text of formatFailure(result)) terminal.say(text);
    return result.state === "refused" ? EXIT.refused : EXIT.error;
  }
  if (terminal.isJson)
    await terminal.printJson({ ...successJson(result), ...(await vectorsOf(database, result)) });
  else if (isTable(result, terminal)) {
    await printExtractions(terminal, database, result.batch_id);
    await printAnswer(terminal, { ...result, answer: result.scope });
  } else await printAnswer(terminal, result);
  return EXIT.ok;
}

/** Whether the fields of an extraction are shown as a table: on a terminal, where JSON is hard to read. */
const isTable = ({ kind, state }: JobResult, { dataColumns }: Terminal): boolean =>
  kind === "extract" && state === "succeeded" && dataColumns !== undefined;

/** The vectors of an embed job for free text; a job without vectors adds nothing. */
async function vectorsOf(database: Database, result: JobResult): Promise<Record<string, unknown>> {
  if (result.vectors === 0) return {};
  const { model, vectors } = await selectVectors(database, result.job_id);
  return { vectors, vector_model: model };
}

/** Prints the answer, whose last line is the scope footer, and then its citations. */
async function printAnswer(terminal: Terminal, result: JobResult): Promise<void> {
  const lines = [...answerLines(result), ...evidenceLines(result)];
  for (const shown of layOutLines(lines, terminal.dataColumns)) await terminal.print(shown);
  for (const warning of warningsOf(result)) terminal.say(warning);
  const verified = verificationText(result);
  if (verified !== null) terminal.say(verified);
}

/** The citations of an answer, its unconfirmed statements, and the statements that were left out. */
const evidenceLines = (result: JobResult): readonly string[] => [
  ...formatCitations(result),
  ...claimLines(result.claims),
  ...leftOutLines(result.claims_left_out),
];

const warningsOf = (result: JobResult): readonly string[] => [
  ...passedOverLines(result),
  ...outdatedLines(result.outdated),
  ...unreadLines(result.evidence),
  ...fieldLines(result),
  ...warnOfLinks(result),
];

const FIELD_STATES: Readonly<Record<string, string>> = {
  bound: "In doubt",
  unbound: "Not found in the document",
  null: "Left out",
};

/** `Left out /total: its quote does not stand in the document.`, or `Decided on /total: corrected to 149.32 by ada.` */
const fieldLines = (result: JobResult): readonly string[] => [
  ...fieldsInDoubt(result).map(
    ({ pointer, state, reason, doubt = null }) =>
      `${FIELD_STATES[state] ?? state} ${pointer}: ${unboundText(reason, doubt)}.`,
  ),
  ...decidedFields(result).map(
    (field) => `Decided on ${field.pointer}: ${decisionText(field) ?? ""}.`,
  ),
];

const decidedFields = ({ bindings }: JobResult) =>
  bindings.filter(({ decision }) => decision !== null);

/** Doubtful, unsupported and left-out values, without those that people decided on. */
const fieldsInDoubt = ({ bindings }: JobResult) =>
  bindings.flatMap(({ pointer, state, reason, grade, doubt, picture, decision }) =>
    reason === null || grade === "supported" || decision !== null
      ? []
      : [
          {
            pointer,
            state,
            reason,
            grade,
            ...(doubt === null ? {} : { doubt }),
            ...(picture === undefined ? {} : { picture }),
          },
        ],
  );

/** `Passed over prices-2025.md: prices-2026.md is newer.` */
const passedOverLines = ({ passed_over: older }: JobResult): readonly string[] =>
  older.map(({ path, newer }) => `Passed over ${path}: ${newer} is newer.`);

/** The outcome of the verification of an answer; null if it was not verified. */
function verificationText({ verification, job_id: id }: JobResult): string | null {
  switch (verification) {
    case "passed":
      return "Verified: it passed its checks.";
    case "failed":
      return `Not verified: it did not pass its checks. What they found: nightdesk runs show ${id}`;
    case "unverified":
      return `Not verified: no model judged it, or its verdict could not be read. What was done: nightdesk runs show ${id}`;
    case "off":
    case "pending":
    case null:
      return null;
  }
}

const MOST_LINKS = 5;

/** Warns of links in the answer that only the model brought up: such a URL may carry text that the model has read. */
function warnOfLinks({ unfounded_links: links }: JobResult): readonly string[] {
  if (links.length === 0) return [];
  const more = links.length > MOST_LINKS ? ` and ${links.length - MOST_LINKS} more` : "";
  return [
    `Check these links before you follow them; neither the question nor a document has them: ${links.slice(0, MOST_LINKS).join(", ")}${more}`,
  ];
}

/** The last line is the scope footer. */
const answerLines = (result: JobResult): readonly string[] => (result.answer ?? "").split("\n");

type Cited = Pick<JobResult, "citations" | "evidence" | "claims">;
type Piece = JobResult["evidence"][number];

/**
 * The citations of an answer, one per line, with their page or row. Copies of a document are one source:
 * `[1] a.eml lines 1-4, also in b.eml [2]`, without the second number if the copy was read and not cited.
 */
export function formatCitations({ citations, evidence, claims }: Cited): readonly string[] {
  const printed = new Set<StoredCitation>();
  return (citations ?? []).flatMap((citation) => {
    if (printed.has(citation)) return [];
    const copies = copiesOf(citation, evidence).map((copy) => {
      const cited = citations?.find(
        (other) => isOfPiece(other, copy) && sameLines(other, citation),
      );
      if (cited !== undefined) printed.add(cited);
      return `, also in ${copy.path}${cited === undefined ? "" : ` [${cited.number ?? "-"}]`}`;
    });
    // A citation by name has a dash, and an unresolved one a question mark.
    const mark = citation.resolved === false ? "?" : (citation.number ?? "-");
    const text = lineOf(citedText(citation, evidence, claims), IN_WORDS);
    return [`[${mark}] ${plainText(text)}${copies.join("")}`];
  });
}

const IN_WORDS = { zone: null, ids: "whole", lines: "words" } as const;

const sameLines = (one: StoredCitation, other: StoredCitation): boolean =>
  one.lineStart === other.lineStart && one.lineEnd === other.lineEnd;

function copiesOf(citation: StoredCitation, evidence: readonly Piece[]): readonly Piece[] {
  const piece = evidence.find((candidate) => isOfPiece(citation, candidate));
  if (piece === undefined) return [];
  return evidence.filter((other) => isCopy(piece, other));
}

function formatFailure(result: JobResult): readonly Line[] {
  const how = result.state === "refused" ? "Refused" : `The job ${wordOf(result.state)}`;
  return [
    line`${styledState(result.state, how)}: ${result.error_code ?? ""}: ${result.error_message ?? ""}`,
    ...leftOutLines(result.claims_left_out),
    `What was done: nightdesk runs show ${result.job_id}`,
  ];
}

const wordOf = (state: JobResult["state"]): string =>
  state === "failed" ? "failed" : state === "cancelled" ? "was cancelled" : "expired";

/** Prints why a single job waits and when it goes on, and returns the exit code for "try again later". */
export async function printDelay(
  { terminal }: CommandContext,
  job: WaitingJob,
  batch: string,
): Promise<number> {
  if (terminal.isJson) {
    await terminal.printJson({ ok: false, ...delayJson(job, batch) });
  } else {
    terminal.say(formatDelay(job));
    const remedy = holdRemedy({ ...job, name: batch });
    if (remedy !== undefined) terminal.say(`${remedy.charAt(0).toUpperCase()}${remedy.slice(1)}`);
    terminal.say(`It stays queued. To wait for it: nightdesk batch wait ${quoteForShell(batch)}`);
  }
  return EXIT.tryLater;
}

/** A job that waits, as JSON. */
export const delayJson = (job: WaitingJob, batch: string): Readonly<Record<string, unknown>> => ({
  error_code: job.code ?? (job.holdReason === "budget" ? "BUDGET_EXCEEDED" : null),
  error_message: job.message ?? formatDelay(job),
  job_id: job.jobId,
  run_id: job.runId,
  batch,
  state: job.state,
  hold_reason: job.holdReason,
  hold_until: job.holdUntil,
  due_in_s: job.dueInSeconds,
});

function formatDelay(job: WaitingJob): string {
  if (job.holdReason !== null) {
    return `The batch is ${formatHold(job)}.`;
  }
  return `Parked: ${job.code ?? ""}: ${job.message ?? ""} ${formatGoingOn(job)}`;
}

function formatGoingOn({ code, dueInSeconds }: WaitingJob): string {
  if (code !== null && WAITS_FOR_PEOPLE.includes(code))
    return "It goes on when somebody has answered.";
  if (dueInSeconds === null) return "It is tried again later.";
  const again = dueInSeconds <= 0 ? "now" : `in ${formatDuration(dueInSeconds * 1_000)}`;
  return `It is tried again ${again}.`;
}

/** The JSON of a successful job: keys are a contract. */
export const successJson = (result: JobResult): Record<string, unknown> => ({
  ok: true,
  ...identityJson(result),
  kind: result.kind,
  state: result.state,
  ...answerJson(result),
  models: { first: result.model_first, second: result.model_second },
  ...costJson(result),
});

/** The JSON of a job without success: the typed failure, and the ids to look it up. */
const failureJson = (result: JobResult): Record<string, unknown> => ({
  ok: false,
  error_code: result.error_code,
  error_message: result.error_message,
  ...identityJson(result),
  kind: result.kind,
  state: result.state,
  ...leftOutJson(result.claims_left_out),
  ...duplicateJson(result),
});

/** The JSON of a job in `batch export`. */
export const exportJson = (result: JobResult): Record<string, unknown> => ({
  custom_id: result.custom_id,
  job_id: result.job_id,
  kind: result.kind,
  state: result.state,
  error_code: result.error_code,
  error_message: result.error_message,
  ...duplicateJson(result),
  input: result.input,
  ...answerJson(result),
  model: result.model_second ?? result.model_first,
  ...costJson(result),
});

/** The result of a job and its evidence; rare lists only if they are not empty. */
const answerJson = (result: JobResult) => ({
  answer: result.answer,
  scope: result.scope,
  citations: (result.citations ?? []).map(citationJson),
  evidence: result.evidence,
  ...(result.passed_over.length === 0 ? {} : { passed_over: result.passed_over }),
  ...claimsJson(result),
  ...(result.summary === null ? {} : { summary: result.summary }),
  ...(fieldsInDoubt(result).length === 0 ? {} : { fields_in_doubt: fieldsInDoubt(result) }),
  ...(decidedFields(result).length === 0 ? {} : { fields_decided: decidedFields(result) }),
  ...(result.steps.length === 0 ? {} : { steps: result.steps }),
});

/** The job that has the result of a copy; nothing for any other job. */
const duplicateJson = ({ duplicate_of: of }: JobResult) =>
  of === null ? {} : { duplicate_of: of };

const identityJson = (result: JobResult) => ({
  job_id: result.job_id,
  run_id: result.run_id,
  batch_id: result.batch_id,
});

const citationJson = (citation: StoredCitation) => ({
  ...(typeof citation.jobId === "string" ? { job_id: citation.jobId } : {}),
  path: citation.path,
  heading: citation.heading ?? null,
  chunk_key: citation.chunkKey ?? null,
  line_start: citation.lineStart ?? null,
  line_end: citation.lineEnd ?? null,
  ...(typeof citation.quote === "string" ? { quote: citation.quote } : {}),
  ...(typeof citation.number === "number" ? { number: citation.number } : {}),
  ...(citation.resolved === false ? { resolved: false } : {}),
});

/** Tokens, and whole milliseconds: queued until the last run began, in the model, and in total from queueing to the end. */
const costJson = (result: JobResult) => ({
  usage: {
    prompt_tokens: result.prompt_tokens ?? 0,
    completion_tokens: result.completion_tokens ?? 0,
  },
  timing_ms: {
    queued: rounded(result.queued_ms),
    model: rounded(result.model_ms),
    total: rounded(result.total_ms),
  },
});

const rounded = (milliseconds: number | null): number | null =>
  milliseconds === null ? null : Math.round(milliseconds);

/**
 * Prints every result of a batch: for people under its custom_id, or as a line of JSON. On a terminal, extractions
 * are one table after all other results.
 */
export async function printBatchResults(
  { terminal }: CommandContext,
  database: Database,
  batchId: string,
): Promise<void> {
  let tables = 0;
  for await (const result of readResults(database, batchId)) {
    if (terminal.isJson) {
      await terminal.printJson({ custom_id: result.custom_id, ...resultJson(result) });
      continue;
    }
    if (isTable(result, terminal)) tables += 1;
    else {
      for (const shown of layOutLines(formatResult(result), terminal.dataColumns))
        await terminal.print(shown);
    }
    for (const warning of warningsOf(result)) terminal.say(`${result.custom_id}: ${warning}`);
  }
  if (tables > 0) await printExtractions(terminal, database, batchId);
}

export const resultJson = (result: JobResult): Record<string, unknown> =>
  result.state === "succeeded" ? successJson(result) : failureJson(result);

const formatResult = (result: JobResult): readonly Line[] => [
  `== ${result.custom_id}`,
  ...(result.state === "succeeded"
    ? [...answerLines(result), ...evidenceLines(result)]
    : [
        line`${styledState(result.state)}: ${result.error_code ?? ""}: ${result.error_message ?? ""}`,
      ]),
  "",
];
