import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";

/** Why a case may end unresolved. */
export const REASONS = [
  "source_missing",
  "sources_disagree",
  "out_of_budget",
  "stagnated",
  "blocked_by_approval",
  "auditor_failed",
] as const;
const ENDS = [
  ...(["verified", "supported", "unconfirmed", "refused"] as const),
  ...REASONS.map((reason) => `unresolved ${reason}` as const),
] as const;
/** How a case ends: the grade of its answer, a refusal of the rules, or what is missing. */
export type End = (typeof ENDS)[number];

const callSchema = z.union([
  z.string().regex(/^(?:read|list|search|find) \S/),
  z.strictObject({ tool: z.string(), args: z.record(z.string(), z.unknown()) }),
]);
/** A call as people write it, `read PATH`, or any other call as its tool and arguments. */
export type PlannedCall = z.infer<typeof callSchema>;

const claimSchema = z.union([
  z.strictObject({
    text: z.string(),
    cites: z.array(z.string()).default([]),
    quote: z.string().nullable(),
  }),
  z.strictObject({
    field: z.string(),
    value: z.union([z.string(), z.number()]),
    quote: z.string().nullable(),
  }),
]);
export type DraftClaim = z.infer<typeof claimSchema>;
const draftSchema = z.array(claimSchema).min(1);

const checkSchema = z.strictObject({
  claim: z.int().positive(),
  question: z.string(),
  expects: z.enum(["yes", "no"]),
});
const decomposeSchema = z.union([z.array(checkSchema).min(1).max(3), z.string()]);

const verdictSchema = z.strictObject({
  calls: z.array(callSchema),
  answer: z.enum(["yes", "no", "unknown"]),
  cites: z.array(z.string()),
  quote: z.string(),
});
export type PlannedVerdict = z.infer<typeof verdictSchema>;

const auditSchema = z.union([
  z.string(),
  z.strictObject({
    score: z.int().min(1).max(4),
    corrections: z
      .array(z.strictObject({ claim: z.int(), where: z.string(), change: z.string() }))
      .max(3)
      .default([]),
  }),
]);
export type PlannedAudit = z.infer<typeof auditSchema>;

const roundShape = {
  draft: draftSchema,
  decompose: decomposeSchema,
  verdicts: z.array(verdictSchema),
  audit: auditSchema,
};
/** What drafter and auditor reply in one round. */
export type Round = z.infer<z.ZodObject<typeof roundShape>>;

const same = z.literal("same");
const truth = z.enum(["right", "wrong"]);
const end = z.enum(ENDS);
const caseSchema = z.strictObject({
  id: z.string().regex(/^[a-z]+-\d{2}$/),
  language: z.enum(["en", "de", "fr", "es"]),
  job: z.enum(["ask", "summarize", "investigate", "extract"]),
  question: z.string().optional(),
  path: z.string().optional(),
  fields: z.record(z.string(), z.record(z.string(), z.string())).optional(),
  documents: z.record(z.string(), z.string()),
  first: z.array(callSchema).default([]),
  ...roundShape,
  revised: z
    .strictObject({
      draft: z.union([same, draftSchema]),
      decompose: z.union([same, decomposeSchema]),
      verdicts: z.union([same, z.array(verdictSchema)]),
      audit: auditSchema,
    })
    .nullable(),
  truth,
  truth_revised: truth.optional(),
  must_hold: z.array(z.string()).default([]),
  must_not_hold: z.array(z.string()).default([]),
  coverage: z.strictObject({ members: z.int(), read: z.int() }).optional(),
  expect: z.union([end, z.array(end).min(2)]),
  why: z.string().optional(),
});
const fileSchema = z.strictObject({
  kind: z.string(),
  about: z.string(),
  cases: z.array(caseSchema),
});

type GivenCase = z.infer<typeof caseSchema>;
export type VerificationCase = Omit<GivenCase, "revised" | "expect"> & {
  readonly kind: string;
  /** The second round; null where the drafter replies as it did before. */
  readonly revised: Round | null;
  /** Each of them is a right end: one, but where what is asked for leaves more open. */
  readonly expect: readonly End[];
};

/** All cases, in the order of their files. */
export const readCases = (): readonly VerificationCase[] =>
  readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .flatMap(readFile);

function readFile(name: string): readonly VerificationCase[] {
  const text = readFileSync(join(import.meta.dirname, name), "utf8");
  const { kind, cases } = fileSchema.parse(parse(text));
  return cases.map((given) => ({
    ...given,
    kind,
    revised: given.revised === null ? null : roundOf(given, given.revised),
    expect: [given.expect].flat(),
  }));
}

const roundOf = (first: GivenCase, second: NonNullable<GivenCase["revised"]>): Round => ({
  draft: second.draft === "same" ? first.draft : second.draft,
  decompose: second.decompose === "same" ? first.decompose : second.decompose,
  verdicts: second.verdicts === "same" ? first.verdicts : second.verdicts,
  audit: second.audit,
});
