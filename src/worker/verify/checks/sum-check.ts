import type { ClaimFigure } from "../claims/figures.ts";
import { readClaim } from "../claims/pair.ts";
import { readPiece } from "../claims/pieces.ts";
import { gradeClaims } from "../claims/grade.ts";
import type { AnswerToCheck, CheckedClaim, RuleCheck } from "./rule-check.ts";

const TOTAL =
  /(?<!\p{L})(?:totals?|sum|altogether|together|in all|combined|insgesamt|zusammen|summe|gesamt\p{L}{0,12}|au total|en tout|ensemble|somme|en total|suma|juntos|juntas|合計|総額)(?!\p{L})/iu;
const PARTLY =
  /(?<!\p{L})(?:of which|including|among them|davon|darunter|dont|y compris|de los cuales|incluid[oa]s?|entre ell[oa]s|うち)(?!\p{L})/iu;
const EQUATION = /^[^\p{L}\d]{0,4}(?:\+|plus|und|and|et|y)[^\p{L}\d]{0,4}$/iu;
const EQUALS =
  /^[^\p{L}\d]{0,4}(?:=|is|makes|equals|ergibt|ergeben|macht|font|égale|son|es igual a)[^\p{L}\d]{0,4}$/iu;
const COUNT_OF =
  /(?<!\p{L})(?:\d{1,5} (?:of|out of) (?:the |all )?\d{1,5}|\d{1,5} (?:von|der)(?: den)? \d{1,5}|\d{1,5} (?:des|sur(?: les)?) \d{1,5}|\d{1,5} de (?:los |las )?\d{1,5})(?!\d)/iu;
const HOW_MANY =
  /(?<!\p{L})(?:how many|wie ?viele|combien de|cu[aá]nt[oa]s)(?!\p{L})|いくつ|何[件人個枚]/iu;
const ROWS = /^the sum of (\d+) rows$/;

/** Whether a computed figure comes out again, and whether a sum of the claim is one; null where it computes nothing. */
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
      "A count over documents: no sentence carries it.",
      `Is the count right: "${text}"?`,
    );
  const stated = statedSum(read.text, read.figures);
  if (stated?.isRight === true) return check("yes", stated.sum);
  if (stated !== null) return check(stated.isExplicit ? "no" : "open", stated.sum);
  if (claim.reason !== "arithmetic") return null;
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

/** "7 of the 9 invoices", and an answer to how many there are that its sentence does not state. */
function isCount(
  text: string,
  figures: readonly ClaimFigure[],
  { task, claim }: CountContext,
): boolean {
  const counted = figures.filter((one) => one.counted !== null && !one.isSoft);
  const carrier = readClaim(claim.carrier ?? "", null).figures.flatMap(({ offers }) => offers);
  const isStated = counted.every(({ asks }) => asks.some((one) => carrier.includes(one)));
  if (COUNT_OF.test(text))
    return claim.grade !== "supported" || claim.reason === "arithmetic" || !isStated;
  return HOW_MANY.test(task) && counted.length > 0 && !isStated;
}

const countRows = (cites: readonly number[], evidence: AnswerToCheck["evidence"]): number =>
  evidence
    .filter((block) => cites.includes(block.number))
    .reduce(
      (sum, block) => sum + readPiece(block).units.filter(({ kind }) => kind === "row").length,
      0,
    );

type StatedSum = { readonly isRight: boolean; readonly isExplicit: boolean; readonly sum: string };
const MOST_OPERANDS = 12;
const TOLERANCE = 0.000_5;

/** A sum that the claim states with its operands. explicit: as an equation. */
function statedSum(text: string, all: readonly ClaimFigure[]): StatedSum | null {
  const figures = all.filter(
    ({ kind, isSoft, precision }) => kind === "number" && !isSoft && precision === "exact",
  );
  const last = figures.at(-1);
  const isEquation =
    last !== undefined &&
    figures.length >= 3 &&
    figures.every((one, at) => {
      const next = figures[at + 1];
      if (next === undefined) return true;
      const between = text.slice(one.end, next.start).replace(/[€£$¥]/gu, "");
      return at === figures.length - 2 ? EQUALS.test(between) : EQUATION.test(between);
    }) &&
    text.includes("=");
  if (!isEquation && (!TOTAL.test(text) || PARTLY.test(text))) return null;
  const dimension = last?.measure?.dimension ?? null;
  const like = figures.filter((one) => (one.measure?.dimension ?? null) === dimension);
  if (like.length < 3 || like.length > MOST_OPERANDS || like.length !== figures.length) return null;
  const total = isEquation ? last : like.reduce((most, one) => (one.base > most.base ? one : most));
  const operands = like.filter((one) => one !== total);
  const sum = operands.reduce((of, { base }) => of + base, 0);
  const isRight = Math.abs(sum - total.base) <= Math.max(1e-9, Math.abs(total.base) * TOLERANCE);
  const spelled = operands.map((one) => one.text.trim()).join(" + ");
  const factor = total.measure?.factor ?? 1;
  const detail = isRight
    ? `${spelled} = ${total.text.trim()}`
    : `${spelled} is ${Number((sum / factor).toPrecision(9))}, and not ${total.text.trim()}`;
  return { isRight, isExplicit: isEquation, sum: detail };
}
