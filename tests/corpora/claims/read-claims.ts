import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const BAD_KINDS = [
  ...["citation", "figure", "date", "unit", "name", "negation", "invention", "misplaced"],
  ...["quantifier", "planned", "neighbour", "order", "comparison", "role", "cause"],
] as const;
const GOOD_KINDS = [
  ...["verbatim", "paraphrase", "merged", "table", "rounding", "date", "number_word", "unit"],
  ...["negation", "computed", "translated", "plan", "cause", "comparison"],
] as const;

const passageSchema = z.strictObject({
  id: z.string(),
  language: z.enum(["en", "de", "fr", "es", "ja"]),
  path: z.string(),
  text: z.string().min(300).max(3_100),
});
const claimSchema = z
  .strictObject({
    id: z.string(),
    passages: z.array(z.string()).min(1).max(2),
    claim: z.string().min(3),
    kind: z.enum([...BAD_KINDS, ...GOOD_KINDS]),
    verdict: z.enum(["good", "bad"]),
    why: z.string().optional(),
  })
  .refine(({ kind, verdict }) =>
    (verdict === "bad" ? BAD_KINDS : GOOD_KINDS).some((known) => known === kind),
  )
  .refine(
    ({ kind, verdict, why }) => (verdict === "good" && kind !== "computed") || why !== undefined,
  );

export type Passage = z.infer<typeof passageSchema>;
export type LabelledClaim = z.infer<typeof claimSchema>;

/**
 * All passages and claims of a set, in the order of their files.
 * Without a folder the first set. Of both `splitOf` tells a third apart, which of `second-kept` nobody has read.
 */
export function readClaims(folder: "" | "second-kept" = ""): {
  readonly passages: readonly Passage[];
  readonly claims: readonly LabelledClaim[];
} {
  return {
    passages: linesOf(folder, ".passages.jsonl").map((line) => passageSchema.parse(line)),
    claims: linesOf(folder, ".claims.jsonl").map((line) => claimSchema.parse(line)),
  };
}

const linesOf = (folder: string, ending: string): unknown[] =>
  readdirSync(join(import.meta.dirname, folder))
    .filter((name) => name.endsWith(ending))
    .sort()
    .flatMap((name) => readLines(join(folder, name)));

const readLines = (name: string): unknown[] =>
  readFileSync(join(import.meta.dirname, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line): unknown => JSON.parse(line));

const pairSchema = z.object({
  id: z.string(),
  evidence: z.string(),
  claim: z.string(),
  verdict: z.enum(["good", "bad"]),
});

/** Claims beside evidence of their own, of all rounds. */
export const readPairs = (): readonly z.infer<typeof pairSchema>[] =>
  linesOf("pairs", ".jsonl").map((line) => pairSchema.parse(line));

/** Whether a claim may be tuned on, or belongs to the third that is run once at the end. */
export const splitOf = ({ passages: [first = ""] }: Pick<LabelledClaim, "passages">): Part =>
  partOf(first);

type Part = "tune" | "final";

const partOf = (id: string): Part =>
  BigInt(`0x${createHash("sha256").update(id).digest("hex")}`) % 3n === 0n ? "final" : "tune";

const answerSchema = z.strictObject({
  id: z.string(),
  language: z.enum(["en", "de", "fr", "es", "ja"]),
  text: z.string(),
  claims: z.array(z.strictObject({ text: z.string().min(1), cites: z.array(z.int().min(1)) })),
  about: z.string(),
});

/** The answers in prose with the claims that they are made of, a third of them kept for the end by their ids. */
export const readSplits = (): (z.infer<typeof answerSchema> & { readonly part: Part })[] =>
  readLines("splits.jsonl").map((line) => {
    const answer = answerSchema.parse(line);
    return { ...answer, part: partOf(answer.id) };
  });
