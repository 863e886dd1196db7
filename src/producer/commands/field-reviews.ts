import { userName } from "../../shared/commands/command-context.ts";
import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import type { Database } from "../../shared/store/connection/database.ts";
import type { ValueDecision } from "../../shared/store/index/write-backs.ts";
import { findId } from "../../shared/store/jobs/find-id.ts";
import type { FieldDecision } from "../../shared/store/jobs/field-reviews.ts";
import { fieldName } from "../../shared/views/field-blocks.ts";
import { selectFieldsOf, takeFieldDecision } from "../../shared/views/field-reviews.ts";
import type { FieldReview } from "../../shared/views/field-reviews.ts";
import { findValueReview, takeDecision } from "../../shared/views/value-reviews.ts";
import type { ValueReview } from "../../shared/views/value-reviews.ts";
import { argumentOf, textOf } from "./options.ts";

type NamedDecision = Pick<FieldDecision, "decision"> & {
  /** The value of `--field`: `total`, or `total=149.32` for a correction. */
  readonly field: string;
};

/** Accepts, corrects or rejects one field of an extraction. */
export async function decideFieldReview(
  { invocation, terminal }: CommandContext,
  database: Database,
  { decision, field: named }: NamedDecision,
): Promise<void> {
  const { options } = invocation;
  const { field, given } = await findField(database, argumentOf(invocation), named);
  const isMisplaced = decision !== "corrected" && given !== "";
  if (isMisplaced || ["text", "file", "fact"].some((name) => options[name] !== undefined))
    throw new Failure(
      "USAGE_ERROR",
      "--field goes with --reason alone, and has a value where it is corrected: reviews correct JOB --field NAME=VALUE.",
    );
  const reason = textOf(options, "reason") ?? null;
  const said = { decision, given, reason, decidedBy: userName() };
  const text = await takeFieldDecision(database, field, said);
  const { job_id, pointer } = field;
  if (terminal.isJson) await terminal.printJson({ job_id, pointer, decision, said: text });
  else terminal.say(text);
}

const MOST_NAMED = 20;

/** Finds the field that `--field` names: the longest matching name, because a name may contain an equals sign. */
async function findField(
  database: Database,
  job: string,
  said: string,
): Promise<{ readonly field: FieldReview; readonly given: string }> {
  const jobId = await findId(database, job, ["job"]);
  const fields = jobId === undefined ? [] : await selectFieldsOf(database, jobId);
  const [best] = fields
    .flatMap((field) => [field.pointer, fieldName(field.pointer)].map((name) => ({ field, name })))
    .filter(({ name }) => said === name || said.startsWith(`${name}=`))
    .sort((one, other) => other.name.length - one.name.length);
  if (best !== undefined) return { field: best.field, given: said.slice(best.name.length + 1) };
  if (fields.length === 0)
    throw new Failure(
      "NOT_FOUND",
      `${JSON.stringify(job)} is no extraction that has succeeded with values. nightdesk runs list shows the ids.`,
    );
  const names = fields.slice(0, MOST_NAMED).map(({ pointer }) => fieldName(pointer));
  throw new Failure(
    "NOT_FOUND",
    `Extraction ${JSON.stringify(job)} has no field ${JSON.stringify(said)}. It has ${names.join(", ")}${fields.length > names.length ? ", …" : ""}.`,
  );
}

export async function assertValueReview(database: Database, writeId: string): Promise<ValueReview> {
  const review = await findValueReview(database, writeId);
  if (review !== undefined) return review;
  throw new Failure(
    "NOT_FOUND",
    `No value w${writeId} waits for a person, and nobody has decided on one. nightdesk reviews list --all shows all that wait or were decided on.`,
  );
}

/** Accepts, corrects or rejects a value that a write-back withheld. */
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
