import type { ClaimFigure } from "../../text/figures/read-figures.ts";
import { readClaim } from "../claims/pair.ts";
import { readPiece } from "../claims/pieces.ts";
import { gradeClaims } from "../claims/grade.ts";
import { statedFigure } from "./stated-figure.ts";
import type { AnswerToCheck, CheckedClaim, RuleCheck } from "./rule-check.ts";

const COUNT_OF =
  /(?<!\p{L})(?:\d{1,5} (?:of|out of) (?:the |all )?\d{1,5}|\d{1,5} (?:von|der)(?: den)? \d{1,5}|\d{1,5} (?:des|sur(?: les)?) \d{1,5}|\d{1,5} de (?:los |las )?\d{1,5})(?!\d)/iu;
const HOW_MANY =
  /(?<!\p{L})(?:how many|wie ?viele|combien de|cu[aá]nt[oa]s)(?!\p{L})|いくつ|何[件人個枚]/iu;
const ROWS = /^the (?:sum|mean) of (\d+) rows$/;

/**
 * Checks that a computed figure can be computed again, and that a sum, mean or difference which the claim states with all its
 * operands is right; null where the claim computes nothing.
 */
export function checkSum(
  { number, text, claim }: CheckedClaim,
  { task, evidence }: AnswerToCheck,
): RuleCheck | null {
  const read = readClaim(text, readClaim(task, null).language);
  const check = (
    state: RuleCheck["state"],
    detail: string,
    question = `Do the figures of "${text}" add up?`,
  ): RuleCheck => ({
    ...{ claim: number, rule: "sum", question, expects: "yes", state, detail },
    places: claim.span === null ? [] : [claim.span],
  });
  if (isCount(read.text, read.figures, { task, claim }))
    return check(
      "open",
      "A count over documents: no sentence states it.",
      `Is the count right: "${text}"?`,
    );
  const stated = statedFigure(read.text, read.figures);
  if (stated?.isRight === true) return check("yes", stated.sum);
  if (stated !== null) return check(stated.isExplicit ? "no" : "open", stated.sum);
  if (claim.arithmetic === null) return null;
  const [graded] = gradeClaims(
    [{ text, cites: claim.cites, quote: claim.quote ?? undefined }],
    evidence,
    { question: task },
  );
  if (graded?.arithmetic == null)
    return check("unknown", "Its figure could not be computed again.");
  const rows = ROWS.exec(graded.arithmetic)?.[1];
  if (rows !== undefined && Number(rows) < countRows(claim.cites, evidence))
    return check("open", `It is ${graded.arithmetic} of a table that has more.`);
  return check("yes", `${read.figures.at(-1)?.text.trim() ?? ""} = ${graded.arithmetic}`);
}

type CountContext = { readonly task: string; readonly claim: CheckedClaim["claim"] };

/** "7 of the 9 invoices", or the answer to "how many" with a count that its sentence does not state. */
function isCount(
  text: string,
  figures: readonly ClaimFigure[],
  { task, claim }: CountContext,
): boolean {
  const counted = figures.filter((one) => one.counted !== null && !one.isSoft);
  const carrier = readClaim(claim.carrier ?? "", null).figures.flatMap(({ offers }) => offers);
  const isStated = counted.every(({ asks }) => asks.some((one) => carrier.includes(one)));
  if (COUNT_OF.test(text))
    return claim.grade !== "supported" || claim.arithmetic !== null || !isStated;
  return HOW_MANY.test(task) && counted.length > 0 && !isStated;
}

const countRows = (cites: readonly number[], evidence: AnswerToCheck["evidence"]): number =>
  evidence
    .filter((block) => cites.includes(block.number))
    .reduce(
      (sum, block) => sum + readPiece(block).units.filter(({ kind }) => kind === "row").length,
      0,
    );
