import type { BatchProgress } from "../shared/views/batches.ts";
import { formatStateOn } from "../shared/views/batch-words.ts";
import { drawSections, stateHtml } from "../shared/views/draw-sections.ts";
import type { DrawSections, PieceOf } from "../shared/views/draw-sections.ts";
import { markup } from "../shared/views/html-markup.ts";
import type { Html } from "../shared/views/html-markup.ts";
import { classOf } from "../shared/views/section-style.ts";
import { formatCount, formatSpan, formatTime } from "../shared/views/quantity.ts";
import type { Count } from "../shared/views/section.ts";
import { link, pathTo, webLink, withQuery } from "./links.ts";

/** Draws the section model for pages of the dashboard: ids link to their pages, and times are in its timezone. */
export type Draw = DrawSections & {
  readonly time: (at: Date | null, precision?: "minutes" | "seconds") => Html;
};

/** @param zone timezone of times */
export function drawIn(zone: string): Draw {
  const time = (at: Date, precision: "minutes" | "seconds"): Html =>
    markup`<time datetime="${at.toISOString()}">${formatTime(at, zone, precision)}</time>`;
  const draw = drawSections({
    time,
    span: (from, to) => markup`${formatSpan(from, to, zone)}`,
    place: placeHtml,
    id: idHtml,
  });
  return {
    ...draw,
    time: (at, precision = "minutes") => (at === null ? markup`–` : time(at, precision)),
  };
}

function placeHtml({ path, heading, line_start: first, line_end: last }: PieceOf<"place">): Html {
  return markup`<span class="place">${webLink(path)}${heading === undefined ? "" : `#${heading}`} ${linesText(first, last)}</span>`;
}

export const linesText = (first: number, last: number): string =>
  first === last ? `line ${first}` : `lines ${first}–${last}`;

function idHtml({ of, id }: PieceOf<"id">): Html {
  const short = markup`<code title="${id}">${id.slice(0, SHORT_CHARS)}</code>`;
  if (of === "run" || of === "job") return link(pathTo("runs", id), short);
  return of === "approval" ? link(`/inbox#a-${id}`, short) : markup`${short}`;
}

const SHORT_CHARS = 8;

/** The order of states in a bar: ended jobs first, waiting ones last. */
const ORDER = [
  ...["succeeded", "refused", "failed", "cancelled", "expired"],
  ...["running", "parked", "queued"],
];

/** The progress of a batch: a bar, and counts by state that link to the jobs. */
export function countsHtml({ batchId, counts, total }: BatchProgress): Html {
  const states = Object.entries(counts).map(([name, jobs]) => ({ name, jobs }));
  const here = pathTo("batches", batchId);
  const shown = states.filter(({ jobs }) => jobs > 0);
  return markup`${barHtml(states)}
<p class="counts">${shown.map(({ name, jobs }) => markup`<span class="${classOf(name)}">${link(withQuery(here, { state: name }), `${formatCount(jobs)} ${name}`)}</span> `)}<span>of ${link(here, formatCount(total))}</span></p>`;
}

/** The state of a batch, with the local time until which it is held. */
export const batchStateHtml = (batch: BatchProgress, zone: string): Html =>
  stateHtml(batch.state, formatStateOn(batch, zone));

/** Jobs by state as one bar. Widths are SVG attributes, because our content policy blocks inline styles. */
function barHtml(counts: readonly Count[]): Html {
  const parts = counts
    .filter(({ jobs }) => jobs > 0)
    .toSorted((one, other) => ORDER.indexOf(one.name) - ORDER.indexOf(other.name));
  const total = parts.reduce((sum, { jobs }) => sum + jobs, 0);
  const words = parts.map(({ name, jobs }) => `${formatCount(jobs)} ${name}`).join(", ");
  let at = 0;
  const spans = parts.map(({ name, jobs }) => {
    const width = (jobs / total) * 1_000;
    const drawn = markup`<rect class="${classOf(name)}" x="${at.toFixed(1)}" width="${width.toFixed(1)}" height="10"/>`;
    at += width;
    return drawn;
  });
  return markup`<svg class="bar" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="${words === "" ? "no jobs" : words}">${spans}</svg>`;
}
