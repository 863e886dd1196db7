import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const passageSchema = z.strictObject({
  id: z.string(),
  language: z.enum(["en", "de", "fr", "es", "ja"]),
  path: z.string(),
  text: z.string().min(60),
});
const claimSchema = z.strictObject({
  id: z.string(),
  passage: z.string(),
  claim: z.string().min(3),
  verdict: z.enum(["good", "bad"]),
  kind: z.string(),
  why: z.string(),
});
const answerSchema = z.strictObject({
  id: z.string(),
  question: z.string(),
  passages: z.array(z.string()).min(1),
  answer: z.string(),
});

type Passage = z.infer<typeof passageSchema>;

/** The claims of the set, each with its passage. */
export function readOutsiders(): readonly (z.infer<typeof claimSchema> & {
  readonly of: Passage;
})[] {
  const passages = readPassages();
  return read("claims.jsonl", claimSchema).map((claim) => ({
    ...claim,
    of: passageOf(passages, claim.passage),
  }));
}

/** Right answers in prose, each with the passages that its numbers in brackets count from 1. */
export function readRealistic(): readonly (Omit<z.infer<typeof answerSchema>, "passages"> & {
  readonly passages: readonly Passage[];
})[] {
  const passages = readPassages();
  return read("realistic.jsonl", answerSchema).map((answer) => ({
    ...answer,
    passages: answer.passages.map((id) => passageOf(passages, id)),
  }));
}

const readPassages = (): ReadonlyMap<string, Passage> =>
  new Map(read("passages.jsonl", passageSchema).map((passage) => [passage.id, passage]));

function passageOf(passages: ReadonlyMap<string, Passage>, id: string): Passage {
  const passage = passages.get(id);
  if (passage === undefined) throw new Error(`there is no passage ${id}`);
  return passage;
}

const read = <T>(name: string, schema: z.ZodType<T>): T[] =>
  readFileSync(join(import.meta.dirname, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => schema.parse(JSON.parse(line)));
