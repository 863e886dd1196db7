import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const words = z.string().trim().min(1);

const ordinaryQuestion = z.strictObject({
  id: words,
  lang: z.enum(["en", "de", "fr", "es"]),
  question: words,
  trap: words,
});

const fileQuestion = z.strictObject({
  id: words,
  lang: z.enum(["en", "de", "fr", "es"]),
  kind: words,
  question: words,
  names: z.array(words).min(1),
  exists: z.array(words),
});

const evidenceSet = z.strictObject({
  id: words,
  lang: words,
  pieces: z
    .array(z.strictObject({ path: words, heading: words, text: z.string().min(200).max(1_500) }))
    .min(2)
    .max(6),
});

const GOOD_KINDS = [
  "paraphrase",
  "quote",
  "list",
  "citation",
  "figures",
  "table",
  "translated",
  "long",
  "decline",
] as const;

const BAD_KINDS = [
  "figure",
  "negation",
  "invention",
  "wrong citation",
  "forged mark",
  "guess",
  "altered quote",
  "other name",
] as const;

const answer = {
  id: words,
  lang: z.enum(["en", "de", "fr", "es", "ja", "zh"]),
  question: words,
  /** Id of an evidence set. */
  evidence: words,
  reply: words,
  why: words,
};

const goodAnswer = z.strictObject({
  ...answer,
  kind: z.enum(GOOD_KINDS),
  verbatim: z.array(words).optional(),
});

const badAnswer = z.strictObject({
  ...answer,
  kind: z.enum(BAD_KINDS),
  mark: words.optional(),
});

export type OrdinaryQuestion = z.infer<typeof ordinaryQuestion>;
export type FileQuestion = z.infer<typeof fileQuestion>;
export type EvidenceSet = z.infer<typeof evidenceSet>;
export type GoodAnswer = z.infer<typeof goodAnswer>;
export type BadAnswer = z.infer<typeof badAnswer>;
export type CorpusAnswer = (GoodAnswer | BadAnswer) & {
  readonly verdict: "good" | "bad";
  readonly pieces: EvidenceSet["pieces"];
};

export const readOrdinaryQuestions = (): OrdinaryQuestion[] =>
  readLines("questions/ordinary.jsonl", ordinaryQuestion);

export const readFileQuestions = (): FileQuestion[] =>
  readLines("questions/files.jsonl", fileQuestion);

export const readEvidence = (): EvidenceSet[] => readLines("answers/evidence.jsonl", evidenceSet);

export const readGoodAnswers = (): GoodAnswer[] => readLines("answers/good.jsonl", goodAnswer);

export const readBadAnswers = (): BadAnswer[] => readLines("answers/bad.jsonl", badAnswer);

/** Good answers, then bad ones, each with the pieces that the model is shown, in the order of their numbers. */
export function readAnswers(): CorpusAnswer[] {
  const sets = new Map(readEvidence().map(({ id, pieces }) => [id, pieces]));
  const piecesOf = ({ id, evidence }: GoodAnswer | BadAnswer) => {
    const pieces = sets.get(evidence);
    if (pieces === undefined) throw new Error(`${id} names evidence ${evidence}, which no set is`);
    return pieces;
  };
  return [
    ...readGoodAnswers().map((item) => ({
      ...item,
      verdict: "good" as const,
      pieces: piecesOf(item),
    })),
    ...readBadAnswers().map((item) => ({
      ...item,
      verdict: "bad" as const,
      pieces: piecesOf(item),
    })),
  ];
}

/** About a third of the items, kept for the end of a round of work. */
export const isHeldOut = ({ id }: { readonly id: string }): boolean =>
  (createHash("sha256").update(id).digest()[0] ?? 0) % 3 === 0;

/** @throws Error with the file and the line of an item that does not fit */
function readLines<T>(file: string, schema: z.ZodType<T>): T[] {
  const lines = readFileSync(join(import.meta.dirname, file), "utf8").split("\n");
  return lines.slice(0, -1).map((line, index) => {
    const item = schema.safeParse(JSON.parse(line));
    if (item.success) return item.data;
    throw new Error(`${file}:${index + 1}: ${z.prettifyError(item.error)}`);
  });
}
