import { formatCount } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { HOLD_TITLES, holdsOf } from "../holds-of.ts";
import type { HoldRow } from "../holds-of.ts";
import { holdsSql } from "../report-words.ts";
import type { Section } from "./page.ts";
import { markup } from "./markup.ts";
import type { Html } from "./markup.ts";

/** When and why the batch stood still. */
export function holdsSection(report: Report): Section | undefined {
  if (report.holds.length === 0) return undefined;
  const { sentence, rows, leftOut } = holdsOf(report);
  const titles = HOLD_TITLES.map((title) => markup`<th scope="col">${title}</th>`);
  const body = markup`<p>${sentence}</p>
<div class="scroll"><table class="times"><thead><tr>${titles}</tr></thead>
<tbody>${rows.map(holdRow)}</tbody></table></div>
${leftOut > 0 ? markup`<p class="more">… and ${formatCount(leftOut)} shorter: <code>${holdsSql(report)}</code></p>` : ""}`;
  return { id: "holds", title: "When it stood still, and why", body };
}

const holdRow = ([from, to, held, why]: HoldRow): Html =>
  markup`<tr><td>${from}</td><td>${to}</td><td>${held}</td><td class="why">${why}</td></tr>`;
