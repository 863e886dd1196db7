import { userName } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import { decideValue } from "../../shared/store/index/write-backs.ts";
import type { ValueDecision } from "../../shared/store/index/write-backs.ts";
import {
  decidedText,
  selectValueReviews,
  whyNotDecided,
} from "../../shared/views/value-reviews.ts";
import type { ValueReview } from "../../shared/views/value-reviews.ts";
import { textOf } from "./options.ts";

/** The number of a value's row, where its review is named: `w17`. */
export const writeIdOf = (given: string): string | undefined => /^w(\d{1,18})$/i.exec(given)?.[1];

export async function findValueReview(database: Database, writeId: string): Promise<ValueReview> {
  const filter = { batchId: null, which: "all", writeId, limit: 1 } as const;
  const [review] = await selectValueReviews(database, filter);
  if (review !== undefined) return review;
  throw new Failure(
    "NOT_FOUND",
    `Nobody was asked about a value w${writeId}. nightdesk reviews list --all shows those that somebody was asked about.`,
  );
}

/** Accepts, corrects or rejects a value. Nothing is written by it: the next write-back of its batch does that. */
export async function decideValueReview(
  { invocation, terminal }: CommandContext,
  database: Database,
  writeId: string,
  said: Pick<ValueDecision, "decision" | "correction">,
): Promise<void> {
  const review = await findValueReview(database, writeId);
  const reason = textOf(invocation.options, "reason")?.trim() ?? "";
  const decision = { ...said, reason: reason === "" ? null : reason, decidedBy: userName() };
  const problem = whyNotDecided(review, said);
  if (problem !== undefined) throw new Failure("INPUT_INVALID", `Nothing was changed. ${problem}`);
  if (!(await decideValue(database, writeId, decision)))
    throw new Failure(
      "INPUT_INVALID",
      `Nothing was changed. Nobody is asked about ${review.review} any more.`,
    );
  if (terminal.isJson) await terminal.printJson({ review: review.review, ...said });
  else terminal.say(decidedText(review, said.decision));
}
