import type { SlowRow } from "../../../shared/db/jobs/report-rows.ts";
import { formatCount, formatDuration } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import type { Section } from "./page.ts";
import { markup } from "./markup.ts";
import type { Html } from "./markup.ts";

/** The jobs whose last run took longest. */
export function slowestSection({ slowest }: Report): Section | undefined {
  if (slowest.length === 0) return undefined;
  const body = markup`<div class="scroll"><table><thead><tr><th scope="col">Job</th><th scope="col">Kind</th><th scope="col">Model</th><th scope="col">Came to</th><th scope="col" class="n">Took</th><th scope="col" class="n">In the model</th><th scope="col" class="n">Tokens</th></tr></thead>
<tbody>${slowest.map(slowRow)}</tbody></table></div>`;
  return { id: "slowest", title: "The slowest", body };
}

const slowRow = (row: SlowRow): Html =>
  markup`<tr><td>${row.custom_id}</td><td>${row.kind}</td><td>${row.model ?? ""}</td><td>${row.state}</td><td class="n">${formatDuration(row.run_ms)}</td><td class="n">${formatDuration(row.model_ms)}</td><td class="n">${formatCount(row.tokens)}</td></tr>`;
