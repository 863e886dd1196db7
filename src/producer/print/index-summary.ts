import { z } from "zod";
import type { Database } from "../../shared/store/connection/database.ts";
import { measureEmbeddings } from "../../shared/store/index/embeddings.ts";
import type { JobResult } from "../../shared/views/results.ts";
import { countOf, formatCount, formatDuration } from "../../shared/views/quantity.ts";

const indexSchema = z.object({
  documents_seen: z.number(),
  added: z.number(),
  changed: z.number(),
  unchanged: z.number(),
  removed: z.number(),
  failed: z.number(),
  failed_before: z.number().default(0),
  chunks_total: z.number(),
  foreign_documents: z.number().default(0),
  unread_frontmatter: z.number().default(0),
  incomplete_documents: z.number().default(0),
  not_kept: z.object({ code: z.string(), documents: z.number() }).optional(),
  silently_changed: z.number().default(0),
  silently_changed_paths: z.array(z.string()).default([]),
  skipped_by_extension: z.record(z.string(), z.number()).default({}),
  pictured_files: z.number().default(0),
  waiting_files: z.number().default(0),
  duration_ms: z.number(),
});

export type IndexSummary = z.infer<typeof indexSchema>;

/** Parses the counts of an index job; undefined for anything else. */
export const readIndexSummary = (summary: unknown): IndexSummary | undefined =>
  indexSchema.safeParse(summary).data;

/** `45 documents: 3 added, 1 changed, 40 unchanged, 0 removed, 1 failed (known from before); 212 chunks; 0.8 s`. */
export function formatIndexSummary(summary: unknown): string {
  const read = readIndexSummary(summary);
  if (read === undefined) return JSON.stringify(summary);
  const { documents_seen: seen, chunks_total: chunks, duration_ms: duration, ...counts } = read;
  const documents = (["added", "changed", "unchanged", "removed", "failed"] as const)
    .map((name) => `${formatCount(counts[name])} ${name}`)
    .join(", ");
  const before = formatKnown(counts.failed, counts.failed_before);
  return `${countOf(seen, "document")}: ${documents}${before}; ${countOf(chunks, "chunk")}; ${formatDuration(duration)}`;
}

const formatKnown = (failed: number, before: number): string =>
  before === 0 ? "" : ` (${before === failed ? "" : `${formatCount(before)} `}known from before)`;

/** How to read files again that were skipped because an earlier index job failed on them. */
export function formatFailuresKnown(summary: unknown): string | undefined {
  const { failed = 0, failed_before: before = 0 } = readIndexSummary(summary) ?? {};
  if (before === 0) return undefined;
  return (
    `Known from before and not read again: ${formatCount(before)} of ${formatCount(failed)}. ` +
    "To read all files again: nightdesk index --verify"
  );
}

/** Number of documents that could not be indexed, without those that wait for OCR. */
export function failedDocuments(summary: unknown): number {
  const { failed = 0, waiting_files: waiting = 0 } = readIndexSummary(summary) ?? {};
  return Math.max(0, failed - waiting);
}

const ocrSchema = z.object({
  pages: z.number(),
  unreadable: z.number(),
  figures_by_two: z.number(),
  figures_by_one: z.number(),
  figures_doubtful: z.number(),
});

/** `12 files with pictures: 340 pages read, 2 not; of 4,300 figures 4,210 by two models, 60 by one, 30 doubtful`. */
export function formatOcrSummaries(summaries: readonly unknown[]): string | undefined {
  const parsed = summaries.flatMap((summary) => ocrSchema.safeParse(summary).data ?? []);
  if (parsed.length === 0) return undefined;
  const sum = (key: keyof (typeof parsed)[number]) =>
    parsed.reduce((total, summary) => total + summary[key], 0);
  const [two, one, doubtful] = [
    sum("figures_by_two"),
    sum("figures_by_one"),
    sum("figures_doubtful"),
  ];
  const unreadable = sum("unreadable");
  return (
    `${countOf(parsed.length, "file")} with pictures: ${countOf(sum("pages") - unreadable, "page")} read, ` +
    `${formatCount(unreadable)} not; of ${countOf(two + one + doubtful, "figure")} ${formatCount(two)} by two models, ` +
    `${formatCount(one)} by one, ${formatCount(doubtful)} doubtful`
  );
}

/** Files whose content changed while size and times stayed: bit rot, or a tool that sets times back. */
export function formatSilentChanges({
  silently_changed: count,
  silently_changed_paths: paths,
}: IndexSummary): string | undefined {
  if (count === 0) return undefined;
  const more = count > paths.length ? ` and ${formatCount(count - paths.length)} more` : "";
  return `${countOf(count, "document")} changed while size and times stayed the same: ${paths.join(", ")}${more}. Indexed again; look at the disk if nobody wrote there.`;
}

/** `212 vectors made by hashing-v1 (200 rounded, without the model); all 212 chunks have theirs`. */
export function formatEmbedSummary(totals: VectorTotals): string {
  const { model, chunks_total: chunks, embedded, rounded, outdated, missing, due } = totals;
  const how = rounded === 0 ? "" : ` (${formatCount(rounded)} rounded, without the model)`;
  const left =
    outdated + missing === 0
      ? chunks === 1
        ? "the 1 chunk has its own"
        : `all ${countOf(chunks, "chunk")} have theirs`
      : `of ${countOf(chunks, "chunk")} ${formatCount(missing)} miss theirs and ${formatCount(outdated)} hold an outdated one`;
  const made =
    due === undefined
      ? `${countOf(embedded, "vector")} made by ${model}${how}`
      : `${countOf(due, "vector")} would be made by ${model}`;
  return `${made}; ${left}`;
}

const vectorTotalsSchema = z.object({
  model: z.string(),
  signature: z.string(),
  dims: z.number(),
  chunks_total: z.number(),
  precision: z.enum(["full", "half"]),
  embedded: z.number(),
  rounded: z.number(),
  outdated: z.number(),
  missing: z.number(),
  cut: z.number(),
  due: z.number().optional(),
});

/** The totals of one or more embed jobs. */
export type VectorTotals = z.infer<typeof vectorTotalsSchema>;

/**
 * Adds up the embed jobs of a batch.
 * @returns undefined if none has succeeded; the numbers of a single job, or the sums of several with the current state of the
 *   whole index, because each job saw only its range
 */
export async function addUpVectors(
  database: Database,
  results: readonly JobResult[],
): Promise<VectorTotals | undefined> {
  const summaries = results.flatMap(({ kind, state, summary }) => {
    const parsed = vectorTotalsSchema.safeParse(summary);
    return kind === "embed" && state === "succeeded" && parsed.success ? [parsed.data] : [];
  });
  const [first, ...others] = summaries;
  if (first === undefined || others.length === 0) return first;
  const { chunks, outdated, missing } = await measureEmbeddings(database, first);
  const sum = (name: "embedded" | "rounded" | "cut") =>
    summaries.reduce((total, summary) => total + summary[name], 0);
  const counts = { chunks_total: chunks, embedded: sum("embedded"), outdated, missing };
  return { ...first, ...counts, rounded: sum("rounded"), cut: sum("cut") };
}
