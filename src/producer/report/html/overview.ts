import { FINAL_STATES } from "../../../shared/job.ts";
import { doneOf } from "../../print/describe-batch.ts";
import { formatCount } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { factsOf } from "../report-words.ts";
import type { Html } from "./markup.ts";
import { markup } from "./markup.ts";

type Share = { readonly name: string; readonly jobs: number };

/** Counts as a bar and as tiles, then the facts of the night. */
export function overview(report: Report): Html {
  const shares = sharesOf(report);
  const { total } = report.batch;
  return markup`${bar(shares, total)}
<ul class="tiles">${shares.map(tile)}</ul>
<dl>${factsOf(report).map(([label, value]) => markup`<dt>${label}</dt><dd>${value}</dd>`)}</dl>`;
}

/** What succeeded, refused and failed always; the rest where there is any. */
function sharesOf({ batch }: Report): readonly Share[] {
  const shares = [
    ...FINAL_STATES.map((name) => ({ name, jobs: batch.counts[name] })),
    { name: "waiting", jobs: batch.total - doneOf(batch) },
  ];
  return shares.filter(({ name, jobs }, index) => index < 3 || (jobs > 0 && name !== ""));
}

function bar(shares: readonly Share[], total: number): Html {
  const parts = shares.filter(({ jobs }) => jobs > 0);
  const words = parts.map(({ name, jobs }) => `${formatCount(jobs)} ${name}`).join(", ");
  const spans = parts.map(
    ({ name, jobs }) =>
      markup`<span class="${name}" style="flex:${((jobs / Math.max(1, total)) * 100).toFixed(3)} 0 0"></span>`,
  );
  return markup`<div class="bar" role="img" aria-label="${words}">${spans}</div>`;
}

const tile = ({ name, jobs }: Share): Html =>
  markup`<li class="${name}"><strong>${formatCount(jobs)}</strong><span>${name}</span></li>`;
