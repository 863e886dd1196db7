import type { Database } from "../shared/store/connection/database.ts";
import { findProgramBatch } from "../shared/store/programs/batches.ts";
import type { ProgramBatch } from "../shared/store/programs/batches.ts";
import type { Token } from "../shared/store/programs/tokens.ts";
import { findBatches, selectTokens } from "../shared/views/batches.ts";
import type { BatchProgress } from "../shared/views/batches.ts";
import { publicId, secondsOf } from "../shared/views/openai-lines.ts";
import { notFound } from "./failures.ts";
import { BATCH, ERROR_FILE, FILE, OUTPUT_FILE, rowId } from "./ids.ts";

/** A batch of a program with its progress, which is undefined while its lines are read, and if they were refused. */
export type OwnBatch = {
  readonly batch: ProgramBatch;
  readonly progress: BatchProgress | undefined;
  /** It was cancelled or expired, and some of its jobs still run. */
  readonly isClosing: boolean;
  /** Tokens of an ended batch; undefined before its end, in lists, and if no host reported tokens. */
  readonly tokens?: Awaited<ReturnType<typeof selectTokens>>;
};

export async function withProgress(
  database: Database,
  batches: readonly ProgramBatch[],
): Promise<readonly OwnBatch[]> {
  const found = await findBatches(
    database,
    batches.flatMap(({ batchId }) => batchId ?? []),
  );
  const byId = new Map(found.map((progress) => [progress.batchId, progress]));
  return batches.map((batch) => {
    const progress = batch.batchId === null ? undefined : byId.get(batch.batchId);
    const open = progress?.counts ?? { queued: 0, running: 0, parked: 0 };
    const isClosing =
      progress !== undefined &&
      ["cancelled", "expired"].includes(progress.state) &&
      open.queued + open.running + open.parked > 0;
    return { batch, progress, isClosing };
  });
}

/** @throws Refused 404 */
export async function ownBatch(database: Database, token: Token, id: string): Promise<OwnBatch> {
  const programBatchId = rowId(BATCH, id);
  const batch =
    programBatchId === undefined
      ? undefined
      : await findProgramBatch(database, token.tokenId, programBatchId);
  const [own] = batch === undefined ? [] : await withProgress(database, [batch]);
  if (own === undefined) throw notFound("batch", id);
  const { progress } = own;
  if (progress?.finishedAt == null) return own;
  return { ...own, tokens: await selectTokens(database, progress.batchId) };
}

type Status =
  | ("validating" | "failed" | "in_progress" | "finalizing")
  | ("completed" | "expired" | "cancelling" | "cancelled");

/** One of OpenAI's eight states, because typed clients know no others. The field `nightdesk` has the hold reason. */
function statusOf({ batch, progress, isClosing }: OwnBatch): Status {
  if (batch.failedAt !== null) return "failed";
  switch (progress?.state) {
    case undefined:
    case "loading":
      return "validating";
    case "queued":
    case "running":
    case "held":
      return "in_progress";
    case "completed":
      return "completed";
    case "cancelled":
      return isClosing ? "cancelling" : "cancelled";
    case "expired":
      return isClosing ? "finalizing" : "expired";
  }
}

const timeOf = (time: Date | null | undefined): number | null =>
  time == null ? null : secondsOf(time);

/** A batch in the format of OpenAI's clients. */
export function batchObject(own: OwnBatch): { readonly id: string } & Record<string, unknown> {
  const { batch, progress } = own;
  const status = statusOf(own);
  const finishedAt = timeOf(progress?.finishedAt);
  const at = (wanted: readonly Status[]) => (wanted.includes(status) ? finishedAt : null);
  const isCancelled: readonly Status[] = ["cancelling", "cancelled"];
  return {
    ...{ id: publicId(BATCH, batch.programBatchId), object: "batch", endpoint: batch.endpoint },
    ...{ errors: errorsOf(batch), input_file_id: publicId(FILE, batch.fileId ?? "") },
    ...{ completion_window: batch.completionWindow, status, ...resultFilesOf(own) },
    ...{ created_at: secondsOf(batch.createdAt), failed_at: timeOf(batch.failedAt) },
    in_progress_at: timeOf(progress?.createdAt),
    ...{ expires_at: timeOf(progress?.deadlineAt), finalizing_at: at(["finalizing"]) },
    ...{ completed_at: at(["completed"]), expired_at: at(["expired"]) },
    ...{ cancelling_at: at(isCancelled), cancelled_at: at(["cancelled"]) },
    ...{ request_counts: countsOf(progress), usage: usageOf(own), metadata: batch.metadata },
    nightdesk: {
      ...{ state: progress?.state ?? status, reason: progress?.holdReason ?? null },
      until: progress?.holdUntil?.toISOString() ?? null,
      ...{ batch: progress?.name ?? null, batch_id: batch.batchId },
    },
  };
}

const usageOf = ({ tokens }: OwnBatch) =>
  tokens === undefined
    ? null
    : {
        ...{ input_tokens: tokens.read, input_tokens_details: { cached_tokens: 0 } },
        ...{ output_tokens: tokens.written, output_tokens_details: { reasoning_tokens: 0 } },
        total_tokens: tokens.read + tokens.written,
      };

const errorsOf = ({ errors, endpoint }: ProgramBatch) =>
  errors === null
    ? null
    : {
        object: "list",
        data: errors.map(({ line, message }) => ({
          ...{ code: "invalid_request", line, message },
          param: line === null ? "input_file_id" : endpoint,
        })),
      };

function countsOf(progress: BatchProgress | undefined) {
  if (progress === undefined) return { total: 0, completed: 0, failed: 0 };
  const { total, counts } = progress;
  const failed = counts.refused + counts.failed + counts.cancelled + counts.expired;
  return { total, completed: counts.succeeded, failed };
}

type ResultFiles = Readonly<Record<"output_file_id" | "error_file_id", string | null>>;

/** Results exist once a batch has ended: from then on each reading returns the same. */
export function resultFilesOf({ batch, progress, isClosing }: OwnBatch): ResultFiles {
  const { completed, failed } = countsOf(progress);
  const isEnded = progress?.finishedAt != null && !isClosing;
  const idOf = (prefix: string, lines: number) =>
    isEnded && lines > 0 ? publicId(prefix, batch.programBatchId) : null;
  return {
    output_file_id: idOf(OUTPUT_FILE, completed),
    error_file_id: idOf(ERROR_FILE, failed),
  };
}
