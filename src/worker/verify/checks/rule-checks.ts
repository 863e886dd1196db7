import type { CheckSources } from "../../evidence/types.ts";
import { checkCoverage } from "./coverage-check.ts";
import { checkDates } from "./date-check.ts";
import { openJobFiles } from "./job-files.ts";
import type { JobFiles } from "./job-files.ts";
import { checkAgreement, checkNewest, checkUniqueness } from "./other-documents.ts";
import type {
  AnswerToCheck,
  CheckedClaim,
  Coverage,
  RuleFindings,
  RuleSettings,
} from "./rule-check.ts";
import { checkSum } from "./sum-check.ts";

/** No honest answer makes more claims; further ones are not checked. */
const MOST_CLAIMS = 40;

/**
 * Checks the claims of an answer by rules, in the order of the claims, without a model. Reads each file once, through
 * `sources`, and lets other work run in between.
 * @throws the signal's reason; a fault of the sources
 */
export async function checkByRules(
  answer: AnswerToCheck,
  sources: CheckSources,
  settings: RuleSettings,
  signal: AbortSignal,
): Promise<RuleFindings> {
  const files = openJobFiles(sources, signal);
  const found: RuleFindings[] = [];
  for (const checked of answer.claims.slice(0, MOST_CLAIMS)) {
    await files.pause();
    found.push(await checkOne(checked, answer, files, settings));
  }
  return {
    checks: found.flatMap(({ checks }) => checks),
    coverage: found.flatMap(({ coverage }) => coverage),
    disagreements: found.flatMap(({ disagreements }) => disagreements),
  };
}

async function checkOne(
  checked: CheckedClaim,
  answer: AnswerToCheck,
  files: JobFiles,
  settings: RuleSettings,
): Promise<RuleFindings> {
  const covered = await checkCoverage(checked, answer, files, settings);
  const agreement = await checkAgreement(checked, answer, files, settings);
  const checks = [
    covered?.check ?? null,
    checkSum(checked, answer),
    checkDates(checked, answer),
    await checkNewest(checked, answer, files),
    await checkUniqueness(checked, answer, files),
    ...agreement.checks,
  ].filter((check) => check !== null);
  const coverage = covered === null ? [] : [covered.coverage];
  return { checks, coverage, disagreements: agreement.disagreements };
}

export const MOST_CHECKS = 3;

/** The sentence about the coverage of a negative claim: "41 of 41 files below contracts/ were read." */
export const coverageNote = ({
  members,
  read,
  setQuery,
}: Pick<Coverage, "members" | "read" | "setQuery">): string =>
  `${read} of ${members} ${setQuery} ${members === 1 ? "was" : "were"} read.`;
