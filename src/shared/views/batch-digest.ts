import type { Queryable } from "../store/connection/database.ts";
import { formatInZone } from "../schedules/time.ts";
import { installationZone } from "../schedules/windows.ts";
import { formatState, remedyOf, retryCommand } from "./batch-words.ts";
import { selectProblems } from "./batches.ts";
import type { BatchProgress, ProblemGroup } from "./batches.ts";
import { gradesText, selectGrades } from "./claims.ts";
import type { GradeCounts } from "./claims.ts";
import { selectBatchWaiting } from "./inbox.ts";
import type { BatchWaiting } from "./inbox.ts";
import { countOf, formatCount } from "./quantity.ts";
import { explainCode } from "./remedies.ts";
import { headline } from "./report-overview.ts";

type DigestData = {
  readonly batch: BatchProgress;
  readonly problems: readonly ProblemGroup[];
  readonly grades: GradeCounts;
  readonly waiting: BatchWaiting;
  /** dashboard.public_url */
  readonly dashboard: string | null;
};

/** Codes of refusals that a digest lists, the most frequent first. */
const MOST_REFUSALS = 5;

/**
 * The morning summary of a batch in at most 20 lines of plain text: counts, what needs a person, refusals by reason, and the link
 * to its page. Webhooks carry it to third-party services, so it contains no text of a document, a question or a model.
 */
export async function readBatchDigest(
  db: Queryable,
  batch: BatchProgress,
  dashboard: string | null,
): Promise<string> {
  const { batchId } = batch;
  const problems = await selectProblems(db, batchId);
  const grades = await selectGrades(db, batchId);
  const waiting = await selectBatchWaiting(db, batchId, 1);
  return digestLines({ batch, problems, grades, waiting, dashboard }).join("\n");
}

function digestLines(digested: DigestData): readonly string[] {
  const { batch, grades, dashboard } = digested;
  const graded = gradesText(grades);
  const needed = attentionLines(digested);
  return [
    `${batch.name}: ${headline(digested)}`,
    batch.finishedAt === null
      ? stateLine(batch)
      : `Ended ${formatInZone(batch.finishedAt, zoneOf(batch))}.`,
    ...(graded === "" ? [] : [`Answers: ${graded}.`]),
    ...(needed.length === 0 ? ["Nothing needs a person."] : ["Needs a person:", ...needed]),
    ...refusalLines(digested),
    dashboard === null
      ? `All of it: nightdesk batch report ${batch.batchId}`
      : `All of it: ${dashboard.replace(/\/+$/, "")}/batches/${batch.batchId}`,
  ];
}

const zoneOf = ({ windows, deskWindows }: BatchProgress): string =>
  installationZone(windows ?? deskWindows);

function stateLine(batch: BatchProgress): string {
  const remedy = remedyOf(batch);
  return `State: ${formatState(batch)}${remedy === undefined ? "." : `; ${remedy}`}`;
}

function attentionLines({ batch, problems, grades, waiting }: DigestData): readonly string[] {
  const { batchId, counts } = batch;
  const failed = problems
    .filter(({ state }) => state === "failed" || state === "expired")
    .map(({ code, jobs }) => `${code} ${formatCount(jobs)}`);
  const lines: readonly (readonly [number, string])[] = [
    [
      waiting.requests,
      `${countOf(waiting.requests, "call")} to approve: nightdesk approvals review --batch ${batchId}`,
    ],
    [waiting.answers, `${countOf(waiting.answers, "answer")} to look at: nightdesk reviews list`],
    [
      waiting.values,
      `${countOf(waiting.values, "value")} not written to paperless-ngx, to look at: nightdesk reviews list --batch ${batchId}`,
    ],
    [
      waiting.write_error === null ? 0 : 1,
      `the write-back has failed: nightdesk write-back ${batchId}`,
    ],
    [
      waiting.uncertain,
      `${countOf(waiting.uncertain, "call")} with an unknown outcome: nightdesk approvals list --uncertain`,
    ],
    [
      failed.length,
      `${formatCount(counts.failed + counts.expired)} failed or expired (${failed.slice(0, 3).join(", ")}): ${retryCommand(batch)}`,
    ],
    [
      grades.unresolved,
      `${countOf(grades.unresolved, "question")} left open: nightdesk batch rerun ${batchId} --unresolved`,
    ],
  ];
  return lines.flatMap(([count, text]) => (count === 0 ? [] : [`- ${text}`]));
}

function refusalLines({ problems }: DigestData): readonly string[] {
  const refused = problems.filter(({ state }) => state === "refused");
  const more = refused.slice(MOST_REFUSALS).reduce((sum, { jobs }) => sum + jobs, 0);
  return refused.length === 0
    ? []
    : [
        "Refused, by reason:",
        ...refused.slice(0, MOST_REFUSALS).map(({ code, jobs, model }) => {
          const { meaning, remedy } = explainCode(code, model);
          return `- ${formatCount(jobs)} ${code}: ${meaning} ${remedy}`;
        }),
        ...(more === 0 ? [] : [`- and ${formatCount(more)} for other reasons`]),
      ];
}
