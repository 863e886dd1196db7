import { z } from "zod";

/** What every reader of an evidence row is told of it. */
export const storedEvidence = z.object({
  kind: z.enum(["file", "chunk"]),
  path: z.string(),
  sha256: z.string(),
  chars_full: z.number(),
  chars_returned: z.number(),
  truncated: z.boolean(),
  chunk_key: z.string().nullable(),
  heading_path: z.string().nullable(),
  start_char: z.number(),
  end_char: z.number(),
  line_start: z.number(),
  line_end: z.number(),
  score: z.number().nullable(),
});
