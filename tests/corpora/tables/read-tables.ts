import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { titleOf } from "../../../src/worker/evidence/number.ts";
import type { CitableBlock } from "../../../src/worker/evidence/number.ts";
import { extractText } from "../../support/read-documents.ts";

const questionSchema = z.strictObject({
  id: z.string(),
  /** The files that are evidence, in the folder of its part. */
  tables: z.array(z.string()).min(1),
  kind: z.enum(["cell", "count", "sum", "none"]),
  question: z.string().min(5),
  /** What a right answer holds; nothing where the right answer is none. */
  expected: z.array(z.string()),
  /** What names other rows, or in a transposed table other columns: no part of a right answer. */
  rivals: z.array(z.string()),
  /** Whether the evidence is a part of its file. */
  cut: z.boolean().default(false),
});

export const PARTS = ["development", "kept"] as const;
export type TablePart = (typeof PARTS)[number];
export type TableQuestion = z.infer<typeof questionSchema>;

export const readTableQuestions = (part: TablePart): readonly TableQuestion[] =>
  readFileSync(join(import.meta.dirname, `${part}.jsonl`), "utf8")
    .trim()
    .split("\n")
    .map((line) => questionSchema.parse(JSON.parse(line)));

/** The files of a question as its evidence, read as the product reads them. */
export const evidenceOf = (
  part: TablePart,
  { tables, cut }: TableQuestion,
): Promise<CitableBlock[]> =>
  Promise.all(tables.map((path, at) => blockOf(part, path, { number: at + 1, cut })));

async function blockOf(
  part: TablePart,
  path: string,
  { number, cut }: { readonly number: number; readonly cut: boolean },
): Promise<CitableBlock> {
  const read = await extractText(path, readFileSync(join(import.meta.dirname, part, path)));
  if (read.kind !== "text") throw new Error(`${path} is not read: ${JSON.stringify(read)}`);
  const { text } = read;
  const place = { startChar: 0, endChar: text.length, lineStart: 1, lineEnd: 1 };
  const named = { path, title: titleOf(text), headingPath: null, text };
  return {
    ...{ ...place, ...named, number, sha256: "0".repeat(64), summaryLevel: null },
    chunkKey: cut ? "chunk" : null,
    isWhole: !cut,
  };
}
