import { resolve } from "node:path";
import { z } from "zod";
import { databaseCommand, userName } from "../../shared/commands/command-context.ts";
import type { CommandHandler, Invocation } from "../../shared/commands/command.ts";
import { readSmallFile } from "../../shared/config/read-small-file.ts";
import { Failure } from "../../shared/failure.ts";
import { writeAtomicFile } from "../../shared/files/atomic-file.ts";
import { formatTask } from "../../shared/job/kinds.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { decideReview } from "../../shared/store/jobs/draft-reviews.ts";
import type { ReviewDecision } from "../../shared/store/jobs/draft-reviews.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { questionOfField, selectFieldReviews } from "../../shared/views/field-reviews.ts";
import { reviewPage, reviewTable } from "../../shared/views/inbox-pages.ts";
import { assertCorrection, selectReviews } from "../../shared/views/inbox.ts";
import type { ReviewRow } from "../../shared/views/inbox.ts";
import {
  selectValueReviews,
  valuePage,
  valueTable,
  writeIdOf,
} from "../../shared/views/value-reviews.ts";
import type { ValueReview } from "../../shared/views/value-reviews.ts";
import { printList, printPage } from "../print/sections.ts";
import { cleanForDatabase } from "../../shared/terminal/styled-text.ts";
import { hintWorker } from "../watch/obstacles.ts";
import { batchOf } from "./approvals.ts";
import { assertValueReview, decideFieldReview, decideValueReview } from "./field-reviews.ts";
import { argumentOf, countOfOption, moreText, selectUpTo, textOf } from "./options.ts";

const DEFAULT_LIMIT = 50;
const MOST_EXPORTED = 100_000;
const MOST_ANSWER_BYTES = 1_000_000;

export const reviewsList = databaseCommand(async ({ terminal, invocation }, database) => {
  const { options } = invocation;
  const limit = countOfOption(options, "limit") ?? DEFAULT_LIMIT;
  const which = options["all"] === true ? "all" : "waiting";
  const batchId = await batchOf(database, invocation);
  const reviews = await selectUpTo(limit, (most) =>
    selectReviews(database, { batchId, which, limit: most }),
  );
  const fields = await selectUpTo(limit, (most) =>
    selectValueReviews(database, { batchId, which, limit: most }),
  );
  const [rows, values] = [reviews.rows, fields.rows];
  if (terminal.isJson) return terminal.printJson([...rows, ...values]);
  if (rows.length > 0) await printList(terminal, reviewTable(rows));
  if (values.length > 0) await printList(terminal, valueTable(values));
  if (reviews.hasMore || fields.hasMore) terminal.say(moreText("first", limit));
  terminal.say(waitingText(rows, values));
});

function waitingText(rows: readonly ReviewRow[], values: readonly ValueReview[]): string {
  const isWaiting = ({ state }: { readonly state: string }): boolean => state === "waiting";
  const counts = [
    [rows.filter(isWaiting).length, "answer", "JOB"],
    [values.filter(isWaiting).length, "value", "REVIEW"],
  ] as const;
  const waiting = counts.filter(([count]) => count > 0);
  if (waiting.length === 0) return "No answer and no value waits for somebody to look at it.";
  const count = waiting.reduce((sum, [each]) => sum + each, 0);
  const what = waiting.map(([each, noun]) => countOf(each, noun)).join(" and ");
  const ids = waiting.map(([, , id]) => id).join(" or ");
  return `${what} ${count === 1 ? "waits" : "wait"}. To decide: nightdesk reviews show ${ids}, then accept, correct or reject.`;
}

export const reviewsShow = databaseCommand(async ({ terminal, invocation }, database) => {
  const writeId = writeIdOf(argumentOf(invocation));
  if (writeId !== undefined) {
    const value = await assertValueReview(database, writeId);
    return terminal.isJson ? terminal.printJson(value) : printPage(terminal, valuePage(value));
  }
  const review = await findReview(database, argumentOf(invocation));
  if (terminal.isJson) await terminal.printJson(review);
  else await printPage(terminal, reviewPage(review));
});

async function findReview(database: Database, given: string): Promise<ReviewRow> {
  const jobId = await findId(database, given, ["job"]);
  const [review] =
    jobId === undefined
      ? []
      : await selectReviews(database, { batchId: null, which: "all", jobId, limit: 1 });
  if (review !== undefined) return review;
  throw new Failure(
    "NOT_FOUND",
    `No answer of a job ${JSON.stringify(given)} was given to anybody to look at. nightdesk reviews list --all shows those that were.`,
  );
}

export const reviewsAccept = decisionCommand("accepted", async () => null);

export const reviewsReject = decisionCommand("rejected", async (_, invocation) => {
  if ((textOf(invocation.options, "reason") ?? "").trim() !== "") {
    return null;
  }
  throw new Failure("USAGE_ERROR", 'Say why: --reason "...". It is what the job is refused with.');
});

export const reviewsCorrect = decisionCommand("corrected", async (review, invocation) => {
  const correction = (await correctionText(invocation)).trim();
  if (correction === "") {
    throw new Failure(
      "USAGE_ERROR",
      'Give the answer: --text "..." or --file FILE. To refuse it: nightdesk reviews reject.',
    );
  }
  assertCorrection(review, correction);
  return correction;
});

async function correctionText({ options, cwd }: Invocation): Promise<string> {
  const file = textOf(options, "file");
  if (file === undefined) return textOf(options, "text") ?? "";
  const read = await readSmallFile(resolve(cwd, file), MOST_ANSWER_BYTES);
  if (read.kind === "text") return cleanForDatabase(read.text);
  const why = read.kind === "missing" ? "is not there" : "can't be read";
  throw new Failure("INPUT_INVALID", `The file ${JSON.stringify(file)} ${why}.`);
}

/** @param correctionOf the answer in the person's own words; null if it is not corrected */
function decisionCommand(
  state: ReviewDecision["state"],
  correctionOf: (review: ReviewRow, invocation: Invocation) => Promise<string | null>,
): CommandHandler {
  return databaseCommand(async (context, database) => {
    const { invocation, terminal } = context;
    const field = textOf(invocation.options, "field");
    if (field !== undefined)
      return decideFieldReview(context, database, { decision: state, field });
    const writeId = writeIdOf(argumentOf(invocation));
    if (writeId !== undefined) {
      const correction = state === "corrected" ? (await correctionText(invocation)).trim() : null;
      return decideValueReview(context, database, writeId, { decision: state, correction });
    }
    const review = await findReview(database, argumentOf(invocation));
    const said = { state, correction: await correctionOf(review, invocation) };
    await decideAnswer(database, review.job_id, said, invocation);
    if (terminal.isJson) await terminal.printJson({ job_id: review.job_id, ...said });
    else terminal.say(`The answer is ${said.state}; its job goes on.`);
    await hintWorker(context, database);
  });
}

/** @throws Failure INPUT_INVALID if somebody decided first, or the job ended otherwise */
async function decideAnswer(
  database: Database,
  jobId: string,
  said: Pick<ReviewDecision, "state" | "correction">,
  { options }: Invocation,
): Promise<void> {
  const decided = await decideReview(database, jobId, {
    ...said,
    facts: z.array(z.string()).safeParse(options["fact"]).data ?? [],
    reason: textOf(options, "reason")?.trim() ?? null,
    decidedBy: userName(),
  });
  if (decided.kind === "decided") return;
  const by = decided.kind === "late" && decided.by !== null ? ` by ${decided.by}` : "";
  const how =
    decided.kind === "late" && decided.state !== "waiting"
      ? `It was ${decided.state}${by} before.`
      : "Its job does not wait any more.";
  throw new Failure("INPUT_INVALID", `Nothing was changed. ${how}`);
}

/** Exports people's decisions as questions for `eval`. */
export const reviewsExport = databaseCommand(async ({ terminal, invocation }, database) => {
  const file = resolve(invocation.cwd, argumentOf(invocation));
  const batchId = await batchOf(database, invocation);
  const filter = { batchId, which: "decided", limit: MOST_EXPORTED } as const;
  const rows = await selectReviews(database, filter);
  const fields = await selectFieldReviews(database, filter);
  const questions = [...rows.map(questionOf), ...fields.map(questionOfField)];
  const usable = questions.filter((question) => question !== null);
  const lines = usable.map((question) => `${JSON.stringify(question)}\n`);
  try {
    await writeAtomicFile(file, lines.join(""), "keep");
  } catch (error) {
    throw new Failure("INPUT_INVALID", `${file} can't be written: ${String(error)}.`, {
      cause: error,
    });
  }
  const left = questions.length - usable.length;
  terminal.say(
    `${countOf(usable.length, "question")} written to ${file}; ${countOf(left, "decision")} left out: of an answer without --fact or of another kind than ask, or of a field that was rejected or stands in other words than its value.`,
  );
});

/** Null for an answer for which nobody gave the facts of a right one. */
const questionOf = ({ job_id: id, kind, input, facts }: ReviewRow): object | null =>
  kind === "ask" && facts.length > 0
    ? { id, question: formatTask(kind, input), expected: facts.map((fact) => [fact]) }
    : null;
