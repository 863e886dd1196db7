import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import type { VerificationCase } from "../verification/read-cases.ts";

const PATH = "notes.md";

const caseSchema = z.strictObject({
  id: z.string().regex(/^[a-z]+-\d{2}$/),
  language: z.enum(["en", "de", "fr", "es"]),
  question: z.string(),
  document: z.string(),
  statement: z.string(),
  asked: z.string(),
  expects: z.enum(["yes", "no"]).default("yes"),
  quote: z.string(),
});
const fileSchema = z.strictObject({ cases: z.array(caseSchema) });

/** Answers of one statement from one document, whose auditor says that it is right, quotes so, and gives 4 points. */
export const readAuditors = (truth: "right" | "wrong"): readonly VerificationCase[] =>
  fileSchema
    .parse(parse(readFileSync(join(import.meta.dirname, `${truth}.yaml`), "utf8")))
    .cases.map(({ id, language, question, document, statement, asked, expects, quote }) => ({
      ...{ id, language, question, truth },
      kind: id.replace(/-\d+$/, ""),
      job: "ask",
      documents: { [PATH]: document },
      first: [],
      draft: [{ text: statement, cites: [PATH], quote: null }],
      decompose: [{ claim: 1, question: asked, expects }],
      verdicts: [{ calls: [`read ${PATH}`], answer: expects, cites: [PATH], quote }],
      audit: { score: 4, corrections: [] },
      revised: null,
      must_hold: [],
      must_not_hold: [],
      expect: truth === "right" ? ["verified"] : [],
    }));
