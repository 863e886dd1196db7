import type { Database } from "../shared/store/connection/database.ts";
import { storeResultBytes, recordResultsRead } from "../shared/store/programs/batches.ts";
import type { Token } from "../shared/store/programs/tokens.ts";
import { markExported } from "../shared/store/jobs/retention.ts";
import { openAiLine, publicId, secondsOf, vectorsOf } from "../shared/views/openai-lines.ts";
import type { Written } from "../shared/views/openai-lines.ts";
import { readResults } from "../shared/views/results.ts";
import { ownBatch, resultFilesOf } from "./batch-object.ts";
import type { OwnBatch } from "./batch-object.ts";
import type { Api } from "./api.ts";
import { notFound } from "./failures.ts";
import { BATCH, ERROR_FILE, OUTPUT_FILE, rowId } from "./ids.ts";

/** Whether an id is one of results, which are not stored as a file but written from rows on each request. */
export const isResultFile = (id: string): boolean =>
  id.startsWith(OUTPUT_FILE) || id.startsWith(ERROR_FILE);

type Ended = {
  readonly own: OwnBatch;
  readonly batchId: string;
  readonly finishedAt: Date;
  readonly to: Written["to"];
};

/** @throws Refused 404 for a batch that is missing, of another token, or has not ended */
async function endedBatch(database: Database, token: Token, id: string): Promise<Ended> {
  const prefix = id.startsWith(OUTPUT_FILE) ? OUTPUT_FILE : ERROR_FILE;
  const programBatchId = rowId(prefix, id);
  if (programBatchId === undefined) throw notFound("file", id);
  const own = await ownBatch(database, token, publicId(BATCH, programBatchId));
  const { progress } = own;
  if (progress?.finishedAt == null || own.isClosing) throw notFound("file", id);
  return {
    ...{ own, batchId: progress.batchId, finishedAt: progress.finishedAt },
    to: prefix === OUTPUT_FILE ? "output" : "errors",
  };
}

/** The lines of a batch for one of its two files, in the order of its jobs. */
async function* linesOf(
  database: Database,
  batchId: string,
  to: Written["to"] | "both",
): AsyncGenerator<Written, void> {
  for await (const result of readResults(database, batchId)) {
    const written = openAiLine(result, await vectorsOf(database, result));
    if (written !== undefined && (to === "both" || written.to === to)) yield written;
  }
}

/** The results as a file. Memory holds one page of rows at a time. */
export async function resultFileContent(
  { database }: Api,
  token: Token,
  id: string,
): Promise<AsyncGenerator<string, void>> {
  const { own, batchId, finishedAt, to } = await endedBatch(database, token, id);
  const { output_file_id: output, error_file_id: errors } = resultFilesOf(own);
  const isOnlyOne = output === null || errors === null;
  return (async function* lines() {
    for await (const { text } of linesOf(database, batchId, to)) yield `${text}\n`;
    const { programBatchId } = own.batch;
    const isOtherRead = await recordResultsRead(database, programBatchId, { file: to, finishedAt });
    if (isOnlyOne || isOtherRead) await markExported(database, batchId);
  })();
}

/** The object of a result file. Its bytes are counted once after each end of its batch. */
export async function resultFileObject(
  { database }: Api,
  token: Token,
  id: string,
): Promise<object> {
  const ended = await endedBatch(database, token, id);
  const counted = await bytesOf(database, ended);
  return {
    ...{ id, object: "file", bytes: counted[ended.to], created_at: secondsOf(ended.finishedAt) },
    filename: `${publicId(BATCH, ended.own.batch.programBatchId)}_${ended.to === "output" ? "output" : "error"}.jsonl`,
    ...{ purpose: "batch_output", status: "processed" },
  };
}

async function bytesOf(
  database: Database,
  { own: { batch }, batchId, finishedAt }: Ended,
): Promise<Record<Written["to"], number>> {
  const { countedAt, outputBytes, errorBytes } = batch;
  if (countedAt?.getTime() === finishedAt.getTime() && outputBytes !== null && errorBytes !== null)
    return { output: outputBytes, errors: errorBytes };
  const bytes = { output: 0, errors: 0 };
  for await (const { to, text } of linesOf(database, batchId, "both"))
    bytes[to] += Buffer.byteLength(text) + 1;
  await storeResultBytes(database, batch.programBatchId, { ...bytes, at: finishedAt });
  return bytes;
}
