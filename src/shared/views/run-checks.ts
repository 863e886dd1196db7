import { contradictsAnswer } from "../job/claims.ts";
import { JUDGE_RULE } from "../job/run-result.ts";
import { formatAfterLines } from "../job/locator.ts";
import { SHORT_ID_CHARS } from "../store/jobs/find-id.ts";
import { reasonText, shareText } from "./claims.ts";
import { decisionText, unboundText } from "./field-blocks.ts";
import { countOf, formatCount } from "./quantity.ts";
import { oneLine, spanPlace } from "./run-evidence.ts";
import type { RunDetail } from "./runs.ts";
import { joinTexts, listSection } from "./section.ts";
import type { Extent, Item, Section } from "./section.ts";

/** The records of how the statements of an answer were checked. */
export type RunChecks = Pick<
  RunDetail,
  | ("quotes" | "figures" | "field_bindings" | "claims")
  | ("grade" | "claims_dropped" | "verification")
  | ("verification_checks" | "coverage" | "audits" | "constraints")
>;

/** Quotes, figures, fields and statements with their supporting words; then the verification's checks and open questions. */
export const checkSections = (run: RunChecks, extent: Extent): readonly Section[] => [
  ...listSection("quotes", "Quotes", run.quotes.map(quoteItem), {
    ...{ extent, noun: "quote", markColumns: 14 },
  }),
  ...listSection("figures", "Figures, links and paths", run.figures.map(figureItem), {
    ...{ extent, noun: "figure", markColumns: 8 },
  }),
  ...listSection("fields", fieldsTitle(run), run.field_bindings.map(bindingItem(extent)), {
    ...{ extent, noun: "value", markColumns: 12 },
  }),
  ...listSection("claims", claimsTitle(run), run.claims.map(claimItem(extent)), {
    ...{ extent, noun: "statement", markColumns: 12 },
  }),
  ...(run.verification === "off" ? [] : verificationSections(run, extent)),
];

function verificationSections(run: RunChecks, extent: Extent): readonly Section[] {
  const list = { extent, noun: "row", markColumns: 8 };
  const checks = run.verification_checks.map(checkItem(extent));
  const coverage = run.coverage.map(coverageItem);
  const audits = run.audits.map(auditItem);
  const constraints = run.constraints.map(constraintItem);
  return [
    ...listSection("verification", `Verification: ${run.verification}`, checks, list),
    ...listSection("coverage", "What was read for what it denies", coverage, list),
    ...listSection("audits", "What the auditor said", audits, list),
    ...listSection("constraints", "What is open", constraints, list),
  ];
}

const quoteItem = (row: RunChecks["quotes"][number]): Item => ({
  mark: row.class,
  text: joinTexts(`"${oneLine(row.quote, "brief")}"  `, spanPlace(row)),
});

const figureItem = (row: RunChecks["figures"][number]): Item => ({
  mark: row.flagged ? "FLAGGED" : "ok",
  text: joinTexts(
    `${row.kind} ${oneLine(row.figure, "brief")}, stands in ${row.stands_in}`,
    ...(row.path === null ? [] : [": ", spanPlace(row)]),
  ),
});

function fieldsTitle({ field_bindings: rows }: RunChecks): string {
  const unbound = rows.filter((row) => row.state === "unbound").length;
  const rest = unbound === 0 ? "" : ` (${countOf(unbound, "value")} without words that carry it)`;
  return `Fields, and the words that carry them${rest}`;
}

const bindingItem =
  (extent: Extent) =>
  (row: RunChecks["field_bindings"][number]): Item => ({
    mark: row.grade ?? row.state,
    text: joinTexts(
      `${row.pointer} ${oneLine(JSON.stringify(row.value), "brief")}`,
      ...(row.quote === null ? [] : [`  ← "${oneLine(row.quote, extent)}"  `, spanPlace(row)]),
      row.reason === null ? "" : `  ${unboundText(row.reason, row.doubt)}`,
      row.judge_detail === null ? "" : `  ${oneLine(row.judge_detail, "brief")}`,
      row.decision === null ? "" : `  ${oneLine(decisionText(row) ?? "", "brief")}`,
    ),
  });

function claimsTitle({ grade, claims, claims_dropped: dropped }: RunChecks): string {
  const share = shareText(claims.filter(({ stands }) => stands).map((claim) => claim.grade));
  const parts = [
    ...(grade === "verified" ? [grade] : []),
    ...(share === "" ? [] : [share]),
    ...(dropped === 0 ? [] : [`${countOf(dropped, "statement")} left out`]),
  ];
  return `Statements, and what carries them${grade === null ? "" : `: ${parts.join(", ")}`}`;
}

/** A statement of a draft, its fate, and the words that support it or come nearest. */
const claimItem =
  (extent: Extent) =>
  (row: RunChecks["claims"][number]): Item => ({
    mark: row.grade,
    text: oneLine(row.text, extent),
    lines: [
      `draft ${row.draft + 1}, ${row.fate}: ${reasonText(row)}`,
      ...(row.carrier === null
        ? []
        : [
            joinTexts(
              spanPlace(row),
              `${formatAfterLines(row.locator)}  ${oneLine(row.carrier, "brief")}`,
            ),
          ]),
      ...row.other_places.map((other) =>
        joinTexts(spanPlace(other), formatAfterLines(other.locator)),
      ),
      ...row.checks
        .filter(
          ({ rule, verdict }) => extent === "full" || verdict === "fail" || rule === JUDGE_RULE,
        )
        .map(({ rule, verdict, detail }) => `${verdict} ${rule}: ${oneLine(detail, "brief")}`),
    ],
  });

const checkItem =
  (extent: Extent) =>
  (check: RunChecks["verification_checks"][number]): Item => ({
    mark: check.state === check.expects ? "ok" : check.state.toUpperCase(),
    text: `${oneLine(check.question, extent)} Expected ${check.expects}, found ${check.state}${contradictsAnswer(check) ? ", which contradicts it" : ""}.`,
    lines: [
      `round ${check.round + 1}, check ${check.round}.${check.ordinal} by ${check.check_job_id === null ? `rule ${check.rule ?? ""}` : `job ${check.check_job_id.slice(0, SHORT_ID_CHARS)}`}, about: ${oneLine(check.claim, "brief")}`,
      ...(check.detail === "" ? [] : [oneLine(check.detail, extent)]),
      ...check.evidence.map(({ path, line_start, line_end, quote }) =>
        joinTexts(
          { kind: "place", path, line_start, line_end },
          quote === null ? "" : `  "${oneLine(quote, extent)}"`,
        ),
      ),
    ],
  });

const coverageItem = (row: RunChecks["coverage"][number]): Item => ({
  text: `${formatCount(row.read)} of ${formatCount(row.members)} ${row.set_query}`,
  lines: [oneLine(row.claim, "brief")],
});

function auditItem(row: RunChecks["audits"][number]): Item {
  const { score, given, caps } = row;
  const lowered =
    score === given
      ? ""
      : `; ${given ?? ""} before what keeps it low: ${caps.join(", ").replaceAll("_", " ")}`;
  return {
    text: `round ${row.round + 1}: ${score === null ? "it could not be had, or read" : `${score} of 4${lowered}`}`,
    lines: row.corrections.map(
      ({ claim, where, change }) =>
        `statement ${claim}: ${oneLine(change, "brief")} (${oneLine(where, "brief")})`,
    ),
  };
}

const constraintItem = (row: RunChecks["constraints"][number]): Item => ({
  text: `${oneLine(row.what, "brief")}  ${row.reason.replaceAll("_", " ")}${row.resolved_at === null ? "" : ", resolved since"}`,
  lines: [oneLine(row.needed, "brief")],
});
