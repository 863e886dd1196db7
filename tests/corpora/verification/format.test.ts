import { describe, expect, test } from "@jest/globals";
import { readCases } from "./read-cases.ts";
import type { DraftClaim, Round, VerificationCase } from "./read-cases.ts";

const CASES = readCases();

const countBy = (keyOf: (one: VerificationCase) => string): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {};
  for (const one of CASES) counts[keyOf(one)] = (counts[keyOf(one)] ?? 0) + 1;
  return counts;
};

test("there are 120 cases, each with an id and a question of its own", () => {
  expect(CASES).toHaveLength(120);
  expect(new Set(CASES.map(({ id }) => id)).size).toBe(120);
  const questions = CASES.flatMap(({ question }) => question ?? []);
  expect(new Set(questions).size).toBe(questions.length);
});

test("they are of four kinds of job and of four languages", () => {
  expect(countBy(({ job }) => job)).toEqual({
    ask: 80,
    summarize: 15,
    investigate: 15,
    extract: 10,
  });
  expect(countBy(({ language }) => language)).toEqual({ en: 74, de: 32, fr: 8, es: 6 });
});

test("35 of them are right in all that is said", () => {
  expect(countBy(({ kind }) => kind)).toEqual({
    auditor_misquotes: 5,
    auditor_obeys: 5,
    auditor_unknown: 5,
    decomposition_unreadable: 4,
    fabricated_quote: 6,
    false_negative: 7,
    auditor_praises: 6,
    auditor_rejects: 6,
    auditor_unreadable: 6,
    missed_file: 7,
    older_version: 7,
    right: 35,
    sources_disagree: 6,
    true_negative: 7,
    wrong_figure: 8,
  });
});

describe.each(CASES.map((one) => [one.id, one] as const))("%s", (_, one) => {
  test("asks what its kind of job takes", () => {
    const takesPath = one.job === "summarize" || one.job === "extract";
    expect(one.question === undefined).toBe(takesPath);
    expect(one.path !== undefined && one.path in one.documents).toBe(takesPath);
    expect(one.fields !== undefined).toBe(one.job === "extract");
    expect(Object.keys(one.documents).length).toBeLessThanOrEqual(6);
  });

  test("cites what is there, and quotes what stands in it", () => {
    for (const claim of sound(one)) {
      const cited = "cites" in claim && claim.cites.length > 0 ? claim.cites : [one.path ?? ""];
      if (claim.quote !== null) expect(quotesFrom(one, cited, claim.quote)).toBe(true);
    }
    for (const { answer, cites, quote } of verdictsOf(one)) {
      if (answer === "unknown") continue;
      expect(quotesFrom(one, cites, quote)).toBe(!MISQUOTING.has(one.id));
    }
  });

  test("has a verdict for each check, and each check is about a claim", () => {
    for (const { decompose, verdicts, draft } of roundsOf(one)) {
      const checks = typeof decompose === "string" ? [] : decompose;
      // Where nothing can be read that is asked, each statement is asked about.
      expect(verdicts).toHaveLength(typeof decompose === "string" ? draft.length : checks.length);
      expect(checks.every(({ claim }) => claim <= draft.length)).toBe(true);
    }
  });

  test("says what is right only where it ends as verified", () => {
    const isRight = [one.truth, one.truth_revised].includes("right");
    if (one.expect.includes("verified")) expect(isRight).toBe(true);
    expect(one.truth_revised === undefined || one.revised !== null).toBe(true);
  });
});

/** Their auditors quote words that stand nowhere. */
const MISQUOTING = new Set([
  ...CASES.filter(({ kind }) => kind === "auditor_misquotes").map(({ id }) => id),
  "obeys-01",
]);

const roundsOf = (one: VerificationCase): readonly Round[] =>
  one.revised === null ? [one] : [one, one.revised];
const verdictsOf = (one: VerificationCase) => roundsOf(one).flatMap(({ verdicts }) => verdicts);

/** Claims whose quotes nobody made up. */
const sound = (one: VerificationCase): readonly DraftClaim[] => [
  ...(one.kind === "fabricated_quote" ? [] : one.draft),
  ...(one.revised?.draft ?? []),
];

const quotesFrom = ({ documents }: VerificationCase, paths: readonly string[], quote: string) =>
  paths.some((path) => documents[path]?.includes(quote) === true);
