import { SHORT_ID_CHARS } from "../store/jobs/find-id.ts";
import { formatCount } from "./quantity.ts";
import { oneLine } from "./run-evidence.ts";
import type { RunDetail } from "./runs.ts";
import type { Extent, Item } from "./section.ts";

type Part = { readonly id: string; readonly title: string; readonly items: readonly Item[] };

/** What was asked about the answer, round by round, what was read, what the judge made of it, and what is open. */
export function verificationParts(run: RunDetail, extent: Extent): readonly Part[] {
  if (run.verification === "off") return [];
  return [
    {
      id: "verification",
      title: `Verification: ${run.verification}`,
      items: run.verification_checks.map(checkItem(extent)),
    },
    {
      id: "coverage",
      title: "What was read for what it denies",
      items: run.coverage.map(coverageItem),
    },
    { id: "judgements", title: "What the judge said", items: run.judgements.map(judgementItem) },
    { id: "constraints", title: "What is open", items: run.constraints.map(constraintItem) },
  ];
}

type Check = RunDetail["verification_checks"][number];

const checkItem =
  (extent: Extent) =>
  (check: Check): Item => {
    const found = check.evidence.map(
      ({ path, line_start: at, quote }) =>
        `${path} line ${at}${quote === null ? "" : `  "${oneLine(quote, extent)}"`}`,
    );
    const by =
      check.check_job_id === null
        ? `by rule ${check.rule ?? ""}`
        : `by job ${check.check_job_id.slice(0, SHORT_ID_CHARS)}`;
    return {
      mark: check.state === check.expects ? "ok" : check.state.toUpperCase(),
      text: `${oneLine(check.question, extent)}  ${check.state}, expected ${check.expects}, ${by}`,
      lines: [
        `round ${check.round + 1}, about: ${oneLine(check.claim, "brief")}`,
        ...(check.detail === "" ? [] : [oneLine(check.detail, extent)]),
        ...found,
      ],
    };
  };

const coverageItem = (row: RunDetail["coverage"][number]): Item => ({
  text: `${formatCount(row.read)} of ${formatCount(row.members)} ${row.set_query}`,
  lines: [oneLine(row.claim, "brief")],
});

function judgementItem(row: RunDetail["judgements"][number]): Item {
  const said =
    row.score === null
      ? "it could not be had, or read"
      : `${row.score} of 4${row.given === row.score ? "" : `, from ${row.given ?? ""}, held down by ${row.caps.join(", ").replaceAll("_", " ")}`}`;
  return {
    text: `round ${row.round + 1}: ${said}`,
    lines: row.corrections.map(
      ({ claim, where, change }) =>
        `statement ${claim}: ${oneLine(change, "brief")} (${oneLine(where, "brief")})`,
    ),
  };
}

const constraintItem = (row: RunDetail["constraints"][number]): Item => ({
  text: `${oneLine(row.what, "brief")}  ${row.reason.replaceAll("_", " ")}${row.resolved_at === null ? "" : ", resolved since"}`,
  lines: [oneLine(row.needed, "brief")],
});
