import { parseJson, isRecord } from "../../../shared/schema/json-value.ts";
import { JUDGES_APART } from "../../../shared/job/run-result.ts";
import type { JudgeVerdict } from "../../evidence/types.ts";
import { openReply } from "../../text/open-reply.ts";

/** The ways in which a statement differs from its lines. A closed list, so that no words of a document reach a report. */
export const DIFFERENCES = [
  ...(["nothing", "figure", "unit", "date", "name", "role", "place", "order"] as const),
  ...(["denial", "scope", "cause", "condition", "plan", "row", "not_there"] as const),
] as const;
export type Difference = (typeof DIFFERENCES)[number];

export const SAYS = ["yes", "no", "unclear"] as const;

/** A judge's verdict on a statement, and the number of the line it relies on; null where it names no line that was shown. */
export type Verdict = {
  readonly says: (typeof SAYS)[number];
  readonly line: number | null;
  readonly differs: Difference | null;
  /** The score of a judge that gives no words: how certain it is that the lines state it, 0 to 1. */
  readonly score?: number;
};

export const UNCLEAR: Verdict = { says: "unclear", line: null, differs: null };

/** The numbers of the lines that each statement of a call was shown with. */
export type ShownLines = readonly (readonly number[])[];

/**
 * Reads the reply to a call: a verdict for each statement, in order; null where it holds none. In a reply that was cut,
 * complete verdicts count. A yes with a difference, or without a line that was shown, is unclear.
 */
export function readVerdicts(text: string, shown: ShownLines): readonly Verdict[] | null {
  const given = lowerCased(objectIn(openReply(text).text));
  const objects = shown.map((_, at) => given[`s${String(at + 1)}`]);
  if (!objects.some(isRecord)) return null;
  return shown.map((lines, at) => verdictOf(objects[at], lines));
}

/** One verdict in a reply that is no valid JSON. */
const ONE_VERDICT = /"(s\d{1,2})"\s{0,20}:\s{0,20}(\{[^{}]{0,300}\})/gi;

function objectIn(text: string): Readonly<Record<string, unknown>> {
  const whole = parseJson(text.slice(Math.max(0, text.indexOf("{")), text.lastIndexOf("}") + 1));
  if (isRecord(whole)) return whole;
  return Object.fromEntries(
    Array.from(text.matchAll(ONE_VERDICT), ([, key = "", value = ""]) => [key, parseJson(value)]),
  );
}

function verdictOf(given: unknown, shown: readonly number[]): Verdict {
  if (!isRecord(given)) return UNCLEAR;
  const { line: number, differs, says } = lowerCased(given);
  const named = typeof number === "string" ? Number.parseInt(number, 10) : number;
  const line = shown.find((one) => one === named) ?? null;
  const difference = DIFFERENCES.find((one) => one === differs) ?? null;
  if (says === "no") return { says, line, differs: difference };
  const isYes = says === "yes" && line !== null && difference === "nothing";
  return { says: isYes ? "yes" : "unclear", line, differs: difference };
}

const lowerCased = (given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(given).map(([key, value]) => [
      key.toLowerCase(),
      typeof value === "string" ? value.trim().toLowerCase() : value,
    ]),
  );

/** Combines the judges' verdicts on a statement: yes needs all of them, and one no is a no. Null where none was asked. */
export function agreedVerdict(given: readonly (JudgeVerdict | null)[]): JudgeVerdict | null {
  const asked = given.filter((verdict) => verdict !== null);
  if (asked.length === 0) return null;
  const isAll = asked.length === given.length;
  const details = [
    ...asked.map(({ detail }) => detail),
    ...(isAll ? [] : ["no other judge has passed an exam"]),
  ];
  const detail = details.join(JUDGES_APART);
  if (asked.some(({ says }) => says === "no")) return { says: "no", detail };
  const isYes = isAll && asked.every(({ says }) => says === "yes");
  return { says: isYes ? "yes" : "unclear", detail };
}

/** Maps keys of statements to the judge's verdicts, without those that were not asked about. */
export const verdictsBy = (
  keys: readonly string[],
  given: readonly (JudgeVerdict | null)[],
): ReadonlyMap<string, JudgeVerdict> =>
  new Map(
    keys.flatMap((key, at) => {
      const verdict = given[at];
      return verdict == null ? [] : [[key, verdict] as const];
    }),
  );
