import type { ChangeRow } from "../../../shared/db/jobs/compare-batches.ts";
import { countOf, formatCount, formatTime } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { CHANGE_TITLES } from "../report-words.ts";
import type { Section } from "./page.ts";
import { markup } from "./markup.ts";
import type { Html } from "./markup.ts";

/** What differs from the earlier batch: what broke first. */
export function changesSection({ changes }: Report): Section | undefined {
  if (changes === undefined) return undefined;
  const { since, rows } = changes;
  const same = rows.find(({ change }) => change === "same")?.jobs ?? 0;
  const groups = Object.entries(CHANGE_TITLES).flatMap(([change, title]) => {
    const row = rows.find((candidate) => candidate.change === change);
    return row === undefined ? [] : [changeGroup(row, title)];
  });
  const body = markup`<p>Compared with <strong>${since.name}</strong> of ${formatTime(since.created_at)}: ${countOf(same, "job")} came out the same${groups.length === 0 ? ", and nothing else did otherwise" : ""}.</p>
${groups}`;
  return { id: "changes", title: "What changed", body };
}

function changeGroup({ jobs, examples }: ChangeRow, title: string): Html {
  const more = jobs - examples.length;
  const rows = examples.map(
    ({ custom_id: id, kind, code_before: before, code_now: now }) =>
      markup`<tr><td>${id}</td><td>${kind}</td><td>${before ?? ""}</td><td>${now ?? ""}</td></tr>`,
  );
  return markup`<h3>${title}: ${formatCount(jobs)}</h3>
<div class="scroll"><table><thead><tr><th scope="col">Job</th><th scope="col">Kind</th><th scope="col">Code before</th><th scope="col">Code now</th></tr></thead>
<tbody>${rows}</tbody></table></div>
${more > 0 ? markup`<p class="more">… and ${formatCount(more)} more.</p>` : ""}`;
}
