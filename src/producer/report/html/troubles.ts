import type { TroubleRow } from "../../../shared/db/jobs/report-rows.ts";
import { countOf, formatCount } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { explainCode } from "../remedies.ts";
import { fixCommands, troubleSql } from "../report-words.ts";
import { troublesOf } from "../troubles-of.ts";
import type { Section } from "./page.ts";
import { markup } from "./markup.ts";
import type { Html } from "./markup.ts";

/** Faults of the machinery, what was cut short, and what still waits; with the commands that set it right. */
export function failuresSection(report: Report): Section | undefined {
  const { failures } = troublesOf(report);
  if (failures.length === 0) return undefined;
  const commands = fixCommands(report);
  const body = markup`<p>When the cause is gone, what failed is run again, and nothing else is:</p>
<pre>${commands.join("\n")}</pre>
${failures.map((group) => troubleGroup(group, report))}`;
  return { id: "failures", title: "What failed, and what to do", body };
}

/** Correct results without an answer. */
export function refusalsSection(report: Report): Section | undefined {
  const { refusals } = troublesOf(report);
  if (refusals.length === 0) return undefined;
  const body = markup`<p>A refusal is a result: the evidence for an answer was not there, or could not be had.</p>
${refusals.map((group) => troubleGroup(group, report))}`;
  return { id: "refusals", title: "What was refused, and why", body };
}

function troubleGroup(group: TroubleRow, report: Report): Html {
  const { state, error_code: code, jobs, examples } = group;
  const { meaning, remedy } = explainCode(code);
  const more = jobs - examples.length;
  const rows = examples.map(
    ({ custom_id: id, path, error_message: message }) =>
      markup`<tr><td>${id}</td><td>${path === null || path === id ? "" : markup`<code>${path}</code> `}${message}</td></tr>`,
  );
  return markup`<div class="${state}"><h3><span class="code">${code}</span> · ${countOf(jobs, "job")} ${state}</h3>
<p>${meaning}</p>
<p class="remedy">${remedy}</p>
<div class="scroll"><table><thead><tr><th scope="col">Job</th><th scope="col">What happened</th></tr></thead><tbody>${rows}</tbody></table></div>
${more > 0 ? markup`<p class="more">… and ${formatCount(more)} more: <code>${troubleSql(group, report)}</code></p>` : ""}</div>
`;
}
