import type { CommandContext } from "../../shared/commands/command-context.ts";
import { Failure } from "../../shared/failure.ts";
import type { NotifyInput } from "../../shared/job/job.ts";
import { summaryAlone } from "../../shared/job/run-result.ts";
import type { Answer } from "../../shared/job/run-result.ts";
import type { Queryable } from "../../shared/store/connection/database.ts";
import { findBatch } from "../../shared/views/batches.ts";
import { countOf } from "../../shared/views/quantity.ts";
import { openSources, writeBatch } from "../paperless/write-batch.ts";
import type { RunTrace } from "../run-trace.ts";

/** Time for one document: a few requests, each with some retries. */
const DOCUMENT_MS = 600_000;

/**
 * Writes the supported values of an ended batch to its sources with `write_back` at the end of a batch, like
 * `nightdesk write-back`. A batch that was reopened meanwhile is written at its next end.
 * @throws Failure SOURCE_UNAVAILABLE if the source does not show a sent value yet; and those of writeBatch
 */
export async function runWriteBack(
  { batch_id: batchId }: NotifyInput,
  { context, database }: { readonly context: CommandContext; readonly database: Queryable },
  trace: RunTrace,
  signal: AbortSignal,
): Promise<Answer> {
  const batch = await findBatch(database, batchId);
  if (batch === undefined || batch.finishedAt === null) return summaryAlone({ end: "superseded" });
  const sources = openSources(context, database, { which: "batch_end", signal });
  const { values } = await trace.step("notify", () => {
    trace.mayTake(DOCUMENT_MS);
    return writeBatch(database, sources, { ...batch, mode: "write" }, () => {
      trace.mayTake(DOCUMENT_MS);
    });
  });
  const count = (of: string): number => values.filter(({ state }) => state === of).length;
  const [written, withheld, pending] = [count("written"), count("withheld"), count("pending")];
  context.logger.info({ batch: batch.name, written, withheld, pending }, "batch written back");
  if (pending === 0) return summaryAlone({ end: "told", written, withheld });
  throw new Failure(
    "SOURCE_UNAVAILABLE",
    `${countOf(pending, "value")} of ${batch.name} ${pending === 1 ? "is" : "are"} not seen in paperless-ngx yet: nightdesk write-back ${batchId} names them.`,
  );
}
