import { userName } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { ValueDecision } from "../../shared/store/index/write-backs.ts";
import { findValueReview, takeDecision } from "../../shared/views/value-reviews.ts";
import type { ValueReview } from "../../shared/views/value-reviews.ts";
import { textOf } from "./options.ts";

export async function assertValueReview(database: Database, writeId: string): Promise<ValueReview> {
  const review = await findValueReview(database, writeId);
  if (review !== undefined) return review;
  throw new Failure(
    "NOT_FOUND",
    `No value w${writeId} waits for a person, and nobody has decided on one. nightdesk reviews list --all shows all that wait or were decided on.`,
  );
}

/** Accepts, corrects or rejects a value. */
export async function decideValueReview(
  { invocation, terminal }: CommandContext,
  database: Database,
  writeId: string,
  said: Pick<ValueDecision, "decision" | "correction">,
): Promise<void> {
  const row = await assertValueReview(database, writeId);
  const reason = textOf(invocation.options, "reason") ?? null;
  const text = await takeDecision(database, row, { ...said, reason, decidedBy: userName() });
  if (terminal.isJson) await terminal.printJson({ review: row.review, ...said });
  else terminal.say(text);
}
