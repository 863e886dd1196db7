import { z } from "zod";
import type { Queryable } from "../database.ts";

export const BATCH_FORMATS = ["native", "openai"] as const;
/** How the input of a batch was written, and how its output is unless somebody asks for another form. */
export type BatchFormat = (typeof BATCH_FORMATS)[number];

export async function setBatchFormat(
  db: Queryable,
  batchId: string,
  format: BatchFormat,
): Promise<void> {
  await db.query("update nightdesk_data.batches set format = $2 where batch_id = $1", [
    batchId,
    format,
  ]);
}

const formatSchema = z.tuple([z.object({ format: z.enum(BATCH_FORMATS) })]);

export async function selectBatchFormat(db: Queryable, batchId: string): Promise<BatchFormat> {
  const { rows } = await db.query("select format from nightdesk_data.batches where batch_id = $1", [
    batchId,
  ]);
  return formatSchema.parse(rows)[0].format;
}
