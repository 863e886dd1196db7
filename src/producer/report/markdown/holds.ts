import { formatCount } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { HOLD_TITLES, holdsOf } from "../holds-of.ts";
import { holdsSql } from "../report-words.ts";
import { markdownTable } from "./table.ts";

/** When and why the batch stood still. */
export function holdsPart(report: Report): readonly string[] {
  if (report.holds.length === 0) return [];
  const { sentence, rows, leftOut } = holdsOf(report);
  return [
    "## When it stood still, and why",
    sentence,
    markdownTable(HOLD_TITLES, rows),
    ...(leftOut > 0
      ? [`… and ${formatCount(leftOut)} shorter:\n\n\`\`\`sql\n${holdsSql(report)}\n\`\`\``]
      : []),
  ];
}
