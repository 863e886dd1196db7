import { formatCount, formatDuration } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { addUp, kindTotals, modelTotals } from "../cost-totals.ts";
import type { CostTotal } from "../cost-totals.ts";
import { markdownTable } from "./table.ts";

export function costsPart({ costs, kinds }: Report): readonly string[] {
  if (costs.length === 0) return [];
  const titles = ["Of", "Runs", "Tokens read", "Tokens written", "In the model", "In all"];
  const totals = [...modelTotals(costs), ...kindTotals(costs, kinds), addUp("all", costs)];
  return ["## Time and tokens", markdownTable(titles, totals.map(cellsOf))];
}

const cellsOf = (total: CostTotal): readonly string[] => [
  total.name,
  formatCount(total.runs),
  formatCount(total.promptTokens),
  formatCount(total.completionTokens),
  formatDuration(total.modelMs),
  formatDuration(total.runMs),
];

export function slowestPart({ slowest }: Report): readonly string[] {
  if (slowest.length === 0) return [];
  const titles = ["Job", "Kind", "Model", "Came to", "Took", "Tokens"];
  const rows = slowest.map((row) => [
    row.custom_id,
    row.kind,
    row.model ?? "",
    row.state,
    formatDuration(row.run_ms),
    formatCount(row.tokens),
  ]);
  return ["## The slowest", markdownTable(titles, rows)];
}
