import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const sentenceCase = z.strictObject({
  id: z.string().regex(/^sentence-[a-z]{2}-\d{3}$/),
  lang: z.enum(["en", "de", "fr", "es", "it", "nl", "ja", "zh"]),
  text: z.string().min(1),
  sentences: z.array(z.string().min(1)).min(1).max(5),
});

/** A paragraph and its sentences: exact slices of it, trimmed, in order. */
export type SentenceCase = z.infer<typeof sentenceCase>;

/** @throws Error with the line of a case that does not fit */
export function readSentenceCases(): SentenceCase[] {
  const lines = readFileSync(join(import.meta.dirname, "cases.jsonl"), "utf8").split("\n");
  return lines.slice(0, -1).map((line, index) => {
    const item = sentenceCase.safeParse(JSON.parse(line));
    if (item.success) return item.data;
    throw new Error(`cases.jsonl:${index + 1}: ${z.prettifyError(item.error)}`);
  });
}
