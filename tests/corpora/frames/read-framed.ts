import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

const FRAMES = [
  ...["denied_heading", "denied_lead_in", "asked", "open", "struck", "option"],
  ...["example", "reported", "none"],
] as const;

const passageSchema = z.strictObject({
  id: z.string(),
  language: z.enum(["en", "de", "fr", "es", "ja"]),
  frame: z.enum(FRAMES),
  path: z.string(),
  text: z.string().min(300).max(1_200),
  kept: z.boolean(),
});
const claimSchema = z.strictObject({
  id: z.string(),
  passage: z.string(),
  claim: z.string().min(3),
  verdict: z.enum(["good", "bad"]),
  why: z.string(),
});

export type FramedClaim = {
  readonly claim: z.infer<typeof claimSchema>;
  readonly passage: z.infer<typeof passageSchema>;
};

/** All claims of the corpus with their passages. */
export function readFramed(): readonly FramedClaim[] {
  const passages = new Map(
    read("passages.jsonl").map((line) => {
      const passage = passageSchema.parse(line);
      return [passage.id, passage];
    }),
  );
  return read("claims.jsonl").map((line) => {
    const claim = claimSchema.parse(line);
    const passage = passages.get(claim.passage);
    if (passage === undefined) throw new Error(`${claim.id} is about no passage`);
    return { claim, passage };
  });
}

const read = (name: string): unknown[] =>
  readFileSync(join(import.meta.dirname, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
