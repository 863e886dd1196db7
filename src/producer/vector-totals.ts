import { z } from "zod";
import type { Database } from "../shared/db/database.ts";
import { measureEmbeddings } from "../shared/db/index/embeddings.ts";
import type { JobResult } from "../shared/db/jobs/read-results.ts";

const embedSchema = z.object({
  model: z.string(),
  signature: z.string(),
  dims: z.number(),
  chunks_total: z.number(),
  embedded: z.number(),
  outdated: z.number(),
  missing: z.number(),
  cut: z.number(),
  due: z.number().optional(),
});

/** What one or many embed jobs came to together. */
export type VectorTotals = z.infer<typeof embedSchema>;

/**
 * Adds up the embed jobs of a batch.
 * @returns undefined when none has succeeded; the one job's own numbers, or the sum beside the state of the whole index
 *   now, because each of many jobs saw its range only
 */
export async function addUpVectors(
  database: Database,
  results: readonly JobResult[],
): Promise<VectorTotals | undefined> {
  const summaries = results.flatMap(({ kind, state, summary }) => {
    const parsed = embedSchema.safeParse(summary);
    return kind === "embed" && state === "succeeded" && parsed.success ? [parsed.data] : [];
  });
  const [first, ...others] = summaries;
  if (first === undefined || others.length === 0) return first;
  const { chunks, outdated, missing } = await measureEmbeddings(database, first);
  const sum = (name: "embedded" | "cut") =>
    summaries.reduce((total, summary) => total + summary[name], 0);
  const counts = { chunks_total: chunks, embedded: sum("embedded"), outdated, missing };
  return { ...first, ...counts, cut: sum("cut") };
}
