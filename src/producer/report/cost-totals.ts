import type { CostRow, KindRow } from "../../shared/db/jobs/report-rows.ts";
import { countOf } from "../print/quantity.ts";
import { sum } from "./report-words.ts";

export type CostTotal = {
  readonly name: string;
  readonly runs: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly modelMs: number;
  readonly runMs: number;
};

export const addUp = (name: string, rows: readonly CostRow[]): CostTotal => ({
  name,
  runs: sum(rows.map(({ runs }) => runs)),
  promptTokens: sum(rows.map(({ prompt_tokens }) => prompt_tokens)),
  completionTokens: sum(rows.map(({ completion_tokens }) => completion_tokens)),
  modelMs: sum(rows.map(({ model_ms }) => model_ms)),
  runMs: sum(rows.map(({ run_ms }) => run_ms)),
});

export const modelTotals = (costs: readonly CostRow[]): readonly CostTotal[] =>
  totalsBy(costs, ({ model }) => model ?? "no model");

/** With the number of jobs, which have more than one run where they were repeated. */
export const kindTotals = (
  costs: readonly CostRow[],
  kinds: readonly KindRow[],
): readonly CostTotal[] =>
  totalsBy(costs, ({ kind }) => {
    const jobs = sum(kinds.filter((row) => row.kind === kind).map((row) => row.jobs));
    return `${kind}, ${countOf(jobs, "job")}`;
  });

function totalsBy(
  costs: readonly CostRow[],
  nameOf: (row: CostRow) => string,
): readonly CostTotal[] {
  const groups = new Map<string, CostRow[]>();
  for (const row of costs) {
    const name = nameOf(row);
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups].map(([name, rows]) => addUp(name, rows));
}
