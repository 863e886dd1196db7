import type { ClaimFigure } from "../../text/figures/read-figures.ts";
import { dayOf, minutesOf } from "../claims/arithmetic.ts";
import { readClaim } from "../claims/pair.ts";
import type { AnswerToCheck, CheckedClaim, RuleCheck } from "./rule-check.ts";

const DAY_S = 86_400;
const MONTH_DAYS = 30.437;
/** Text between a day of the week and its date. */
const BESIDE_DATE =
  /^(?:[,.]{0,2}[ \u00A0](?:the |den |dem |der |le |el |d(?:en)? )?|, (?:the |den |dem |der |le |el ))$/iu;
const RANGE =
  /^[ \u00A0]{0,2}(?:–|-|—|to|until|through|till|and|bis(?: zum)?|und|au|jusqu['’]au|et|al?|hasta(?: el)?|y|から)[ \u00A0]{0,2}(?:the |le |el )?$/iu;
const BEFORE_RANGE =
  /(?:[(,:]|(?<!\p{L})(?:for|lasts|lasted|during|dauert|lang|durée?|pendant|durante|de))[ \u00A0]{0,2}$/iu;
const BORN = /(?<!\p{L})(?:born|geboren|née?|nacid[oa])(?!\p{L})/iu;
const AGED = /(?<!\p{L})(?:aged|years old|jahre alt|âgée?|ans|años)(?!\p{L})/iu;
const AFTER_RANGE =
  /^[ \u00A0]?(?:\(|, (?:i\.e\. )?|, (?:that is|das sind|soit|es decir) |: )(?:that is |das sind |soit |es decir )?$/iu;

type Verdict = { readonly isRight: boolean; readonly isCertain: boolean; readonly detail: string };

/** Checks that the dates and times of a claim agree with the calendar and each other; null where there is nothing to compare. */
export function checkDates(
  { number, text, claim }: CheckedClaim,
  { task }: Pick<AnswerToCheck, "task">,
): RuleCheck | null {
  const { language } = readClaim(task, null);
  const verdicts = compareAll(readClaim(text, language));
  if (verdicts.length === 0) return null;
  const ofSource = compareAll(readClaim(claim.carrier ?? "", language))
    .filter(({ isRight }) => !isRight)
    .map(({ detail }) => detail);
  // What the source does not say itself comes first, and of that what is certain.
  const [wrong] = verdicts
    .filter(({ isRight }) => !isRight)
    .map((one) => ({ ...one, isOfSource: ofSource.includes(one.detail) }))
    .sort(
      (one, other) =>
        Number(one.isOfSource) - Number(other.isOfSource) ||
        Number(other.isCertain) - Number(one.isCertain),
    );
  const isOfSource = wrong?.isOfSource === true;
  const isNo = wrong?.isCertain === true && !isOfSource;
  const detail =
    wrong === undefined
      ? verdicts.map((one) => one.detail).join("; ")
      : wrong.detail + (isOfSource ? "; the source itself says so" : "");
  return {
    claim: number,
    rule: "date",
    question: `Do the dates of "${text}" agree with the calendar?`,
    expects: "yes",
    state: wrong === undefined ? "yes" : isNo ? "no" : "open",
    detail,
    places: claim.span === null ? [] : [claim.span],
  };
}

const MOST_DATES = 20;

function compareAll({
  text,
  figures,
}: Pick<ReturnType<typeof readClaim>, "text" | "figures">): Verdict[] {
  const dates = figures.filter(({ kind }) => kind === "date").slice(0, MOST_DATES);
  return [
    ...dates.flatMap(
      (date, at) => compareWeekday(date, [dates[at - 1], dates[at + 1]], text) ?? [],
    ),
    ...dates.flatMap((date, at) => compareSpan(date, dates[at + 1], { text, figures })),
    ...compareAge(dates, { text, figures }),
    ...dates.flatMap((date, at) => compareTimes(date, dates[at + 1], { text, figures })),
  ];
}

function compareWeekday(
  weekday: ClaimFigure,
  neighbours: readonly (ClaimFigure | undefined)[],
  text: string,
): Verdict | null {
  const [asked] = weekday.asks;
  if (asked?.startsWith("w:") !== true || weekday.asks.length > 1) return null;
  for (const date of neighbours) {
    const isBeside =
      date !== undefined &&
      dayOf(date) !== null &&
      date.asks.length < 3 &&
      BESIDE_DATE.test(
        text.slice(Math.min(weekday.end, date.end), Math.max(weekday.start, date.start)),
      );
    if (!isBeside) continue;
    const isRight = date.offers.includes(asked);
    const said = isRight ? "is a" : "is not a";
    return {
      isRight,
      isCertain: true,
      detail: `${date.text.trim()} ${said} ${weekday.text.trim()}`,
    };
  }
  return null;
}

type Text = { readonly text: string; readonly figures: readonly ClaimFigure[] };

/** Compares a span of two dates ("3 to 7 May") with its stated length. */
function compareSpan(first: ClaimFigure, second: ClaimFigure | undefined, said: Text): Verdict[] {
  const [from, to] = [dayOf(first), dayOf(second)];
  if (second === undefined || from === null || to === null) return [];
  if (!RANGE.test(said.text.slice(first.end, second.start))) return [];
  const span = `${first.text.trim()} to ${second.text.trim()}`;
  const isJoined = /^[ \u00A0]?(?:and|und|et|y)[ \u00A0]?$/iu.test(
    said.text.slice(first.end, second.start),
  );
  if (to < from)
    return isJoined
      ? []
      : [{ isRight: false, isCertain: true, detail: `${span} ends before it begins` }];
  const length = lengthOf(first, second, said);
  if (length === undefined) return [];
  const days = to - from;
  const isInMonths = length.measure?.dimension === "month";
  const statedDays = isInMonths ? length.base * MONTH_DAYS : length.base / DAY_S;
  const daysOff = Math.abs(days - statedDays);
  // Whether both ends count is often left open.
  const isRight = daysOff < (isInMonths ? 0.6 * MONTH_DAYS : 1.5);
  const detail = `${span} is ${days} days${isRight ? "" : `, and not ${length.text.trim()}`}`;
  return [{ isRight, isCertain: daysOff > 3, detail }];
}

const DAY_MINUTES = 1_440;
/** "17:00 (5 pm)" */
const SAME_TIME = /^(?: (?:Uhr|o['’]clock|h))?[ \u00A0]{0,2}\([ \u00A0]?$/iu;

/** Compares two times of day: one in brackets must equal the other, and a span must have its stated length. */
function compareTimes(first: ClaimFigure, second: ClaimFigure | undefined, said: Text): Verdict[] {
  const [from, to] = [minutesOf(first), minutesOf(second)];
  if (second === undefined || from === null || to === null) return [];
  const between = said.text.slice(first.end, second.start);
  const [one, other] = [first.text.trim(), second.text.trim()];
  if (SAME_TIME.test(between) && /^[ \u00A0]?(?:Uhr)?\)/u.test(said.text.slice(second.end))) {
    const isRight = from === to;
    // Not certain: the times may be of two time zones, or of summer time.
    return [{ isRight, isCertain: false, detail: `${one} is ${isRight ? "" : "not "}${other}` }];
  }
  const length = RANGE.test(between.replace(/^ (?:Uhr|h)(?=[ –—-])/iu, ""))
    ? lengthOf(first, second, said)
    : undefined;
  if (length?.measure?.dimension !== "time") return [];
  const minutes = (to - from + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES;
  const isRight = Math.abs(minutes * 60 - length.base) < 30;
  const detail = `${one} to ${other} is ${minutes} minutes${isRight ? "" : `, and not ${length.text.trim()}`}`;
  return [{ isRight, isCertain: true, detail }];
}

/** The stated length of a span, behind it or before it. */
const lengthOf = (first: ClaimFigure, second: ClaimFigure, said: Text): ClaimFigure | undefined =>
  said.figures.find(
    ({ measure, start, end, precision }) =>
      (measure?.dimension === "time" || measure?.dimension === "month") &&
      precision === "exact" &&
      (AFTER_RANGE.test(said.text.slice(second.end, start).replace(/^ (?:Uhr|h)(?=[ ,(])/iu, "")) ||
        (end <= first.start &&
          /^[ \u00A0](?:from|between|von|vom|du|de|del|entre)[ \u00A0](?:the |le |el )?$/iu.test(
            said.text.slice(end, first.start),
          ) &&
          BEFORE_RANGE.test(said.text.slice(Math.max(0, start - 12), start)))),
  );

function compareAge(dates: readonly ClaimFigure[], { text, figures }: Text): Verdict[] {
  const full = dates.filter((date) => dayOf(date) !== null);
  const [born, then] = full;
  const age = figures.find(
    ({ measure }) => measure?.dimension === "month" && measure.factor === 12,
  );
  if (born === undefined || then === undefined || full.length !== 2 || age === undefined) return [];
  if (!BORN.test(text.slice(0, born.start)) || !AGED.test(text)) return [];
  const years = Math.floor(((dayOf(then) ?? 0) - (dayOf(born) ?? 0)) / 365.242_5 + 0.003);
  const isRight = Math.abs(years * 12 - age.base) < 1;
  const detail = `${born.text.trim()} to ${then.text.trim()} is ${years} years${isRight ? "" : `, and not ${age.text.trim()}`}`;
  return [{ isRight, isCertain: Math.abs(years * 12 - age.base) > 12, detail }];
}
