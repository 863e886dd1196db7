import { readFileSync } from "node:fs";
import { z } from "zod";

const hostile = z.strictObject({ id: z.string(), class: z.string(), command: z.string() });
const good = z.strictObject({ id: z.string(), command: z.string(), prints: z.string() });

function readLines<T>(name: string, schema: z.ZodType<T>): T[] {
  const file = new URL(`../../../corpora/shell/${name}.jsonl`, import.meta.url);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => schema.parse(JSON.parse(line)));
}

export const HOSTILE = readLines("hostile", hostile);
export const GOOD = readLines("good", good);

/** Links of the scratch folder that the corpus is played in. */
export const LINKS = {
  "/scratch/link": "/proc/self/environ",
  "/scratch/up": "..",
  "/scratch/safe": "notes.md",
  "/scratch/loop": "loop",
  "/scratch/linkdir": "/proc",
  "/scratch/deep/link": "../link",
} as const;
