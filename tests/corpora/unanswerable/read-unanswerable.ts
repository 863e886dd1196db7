import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const text = z.string().min(1);
const asked = {
  id: text,
  language: z.enum(["en", "de"]),
  /** Which documents it is asked of. */
  set: z.enum(["examples", "notes"]),
  question: text,
};
const questionSchema = z.union([
  z.strictObject({
    ...asked,
    kind: z.enum(["faq", "framed", "plain"]),
    /** A right answer holds one spelling of each, case aside. */
    expected: z.array(z.array(text).min(1)).min(1),
    files: z.array(text).min(1),
  }),
  z.strictObject({
    ...asked,
    kind: z.enum(["near", "never", "premise", "foreign"]),
    /** Why. */
    unanswerable: text,
  }),
]);

export type AskedQuestion = z.infer<typeof questionSchema>;

export const DOCUMENTS = join(import.meta.dirname, "documents");

export const readUnanswerable = (): readonly AskedQuestion[] =>
  readFileSync(join(import.meta.dirname, "questions.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => questionSchema.parse(JSON.parse(line)));

/** Whether it is of the half at which nobody looks who writes rules. */
export const isKept = ({ id }: AskedQuestion): boolean =>
  (createHash("sha256").update(id).digest()[0] ?? 0) % 2 === 1;
