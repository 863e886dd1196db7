import type { CostRow } from "../../../shared/db/jobs/report-rows.ts";
import { formatCount, formatDuration } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { addUp, kindTotals, modelTotals } from "../cost-totals.ts";
import type { CostTotal } from "../cost-totals.ts";
import type { Section } from "./page.ts";
import { markup } from "./markup.ts";
import type { Html } from "./markup.ts";

/** Tokens and time by model and by kind; every attempt counts. */
export function costsSection({ costs, kinds }: Report): Section | undefined {
  if (costs.length === 0) return undefined;
  const body = markup`${costTable("By model", modelTotals(costs), costs)}
${costTable("By kind of job", kindTotals(costs, kinds), costs)}`;
  return { id: "costs", title: "Time and tokens", body };
}

function costTable(caption: string, totals: readonly CostTotal[], costs: readonly CostRow[]): Html {
  const head = ["", "Runs", "Tokens read", "Tokens written", "In the model", "In all"];
  const titles = head.map((title, index) =>
    index === 0
      ? markup`<th scope="col">${title}</th>`
      : markup`<th scope="col" class="n">${title}</th>`,
  );
  const all = addUp("All", costs);
  return markup`<h3>${caption}</h3>
<div class="scroll"><table><thead><tr>${titles}</tr></thead>
<tbody>${[...totals, ...(totals.length > 1 ? [all] : [])].map(costRow)}</tbody></table></div>`;
}

function costRow({ name, runs, promptTokens, completionTokens, modelMs, runMs }: CostTotal): Html {
  const cells = [
    formatCount(runs),
    formatCount(promptTokens),
    formatCount(completionTokens),
    formatDuration(modelMs),
    formatDuration(runMs),
  ];
  return markup`<tr><th scope="row">${name}</th>${cells.map((cell) => markup`<td class="n">${cell}</td>`)}</tr>`;
}
