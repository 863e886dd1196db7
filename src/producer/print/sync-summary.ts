import { z } from "zod";
import { countOf, formatCount } from "../../shared/views/quantity.ts";

const syncSchema = z.object({
  source: z.string(),
  listed: z.number(),
  fetched: z.number(),
  bytes: z.number(),
  unchanged: z.number(),
  skipped: z.number(),
  deleted: z.number(),
  held: z.number(),
  waiting: z.number(),
  described: z.number().default(0),
});

/** One line on what a sync did, and what an operator has to know besides. */
export function formatSyncSummary(summary: unknown): readonly string[] {
  const parsed = syncSchema.safeParse(summary);
  if (!parsed.success) return [JSON.stringify(summary)];
  const { source, listed, fetched, bytes, unchanged, skipped, deleted, held, waiting, described } =
    parsed.data;
  const line = `${source}: ${countOf(listed, "file")}, ${formatCount(fetched)} fetched (${formatCount(bytes)} bytes), ${formatCount(unchanged)} unchanged, ${formatCount(deleted)} deleted`;
  return [
    line,
    ...(described === 0
      ? []
      : [`${countOf(described, "file")} with another title, other tags or dates than before.`]),
    ...(skipped === 0
      ? []
      : [
          `${countOf(skipped, "file")} skipped. Why: nightdesk sql "select name, reason from remote_files where fate = 'skipped'"`,
        ]),
    ...(waiting === 0
      ? []
      : [`${countOf(waiting, "file")} left to the next run: this one fetched remote.mb_per_run.`]),
    ...(held === 0
      ? []
      : [
          `${countOf(held, "file")} gone there, and kept here. To delete them: nightdesk sync ${source} --accept-deletions`,
        ]),
  ];
}

/** Files that are gone from the place of a source and wait for somebody. */
export const heldDeletions = (summary: unknown): number =>
  syncSchema.safeParse(summary).data?.held ?? 0;
