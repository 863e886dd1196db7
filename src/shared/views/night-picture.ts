import { isoInZone, offsetMs } from "../schedules/time.ts";
import { CAUSES } from "./batch-words.ts";
import { markup } from "./html-markup.ts";
import type { Html } from "./html-markup.ts";
import { NIGHT_STATES } from "./night.ts";
import type { ModelCost, Night, NightHold, NightPoint, NightState } from "./night.ts";
import { countOf, formatCount, formatDuration } from "./quantity.ts";
import { classOf } from "./section-style.ts";

/**
 * Charts of a night as SVG. They use classes and no inline style, so that a page with a strict content policy can hold
 * them, and positions in percent, so that text has the same size on a phone and a wide screen.
 */

/** The style of both charts, with the colours of `SECTION_STYLE`. */
export const PICTURE_STYLE = `
.picture { margin: 1rem 0; }
.picture svg { display: block; width: 100%; overflow: visible; font: 12px/1 system-ui, sans-serif; }
.picture text { fill: var(--soft); } .picture .name { fill: var(--ink); }
.picture path, .picture rect { fill: var(--area); }
.picture .hold { fill: var(--ink); fill-opacity: .12; }
.picture .axis { stroke: var(--line); }
.picture figcaption { color: var(--soft); font-size: .85rem; }
.picture .key { margin-right: .9rem; white-space: nowrap; }
.picture .key::before { content: ""; display: inline-block; width: .7em; height: .7em; margin-right: .35em; border-radius: 2px; background: var(--area); }
.picture .key.held { --area: color-mix(in srgb, var(--ink) 12%, transparent); }
@media (max-width: 40rem) { .picture .wide { display: none; } }
@media print { .picture svg, .picture .key::before { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
`;

const TOP = 20;
const HEIGHT = 170;
const FOOT = 22;

/**
 * A chart of jobs by state over time, with the spans in which a batch was held.
 * @param zone timezone of the ticks
 * @param id of the chart in its page
 */
export function nightPicture(night: Night, zone: string, id = "night"): Html {
  const most = Math.max(1, ...night.points.map(totalOf));
  return markup`<figure class="picture"><svg role="img" aria-labelledby="${id}-title ${id}-desc" width="100%" height="${TOP + HEIGHT + FOOT}">
<title id="${id}-title">Jobs by state over time</title><desc id="${id}-desc">${describeNight(night, zone)}</desc>
<svg y="${TOP}" width="100%" height="${HEIGHT}" viewBox="0 0 1000 1000" preserveAspectRatio="none">${NIGHT_STATES.map(
    (state, at) => stateArea(night, at, state, most),
  )}</svg>
${night.holds.map((hold) => holdBand(hold, night))}
<line class="axis" x1="0" x2="100%" y1="${TOP + HEIGHT}" y2="${TOP + HEIGHT}"/><text x="0" y="${TOP - 8}">${countOf(most, "job")}</text>
${ticks(night, zone).map(({ at, label }) => tick(percentOf(at, night), label))}
</svg><figcaption>${nightKeys(night)} Clocks of ${zone}.</figcaption></figure>
`;
}

const totalOf = (point: NightPoint): number =>
  NIGHT_STATES.reduce((total, state) => total + point[state], 0);

/** The total of the states drawn below an area. */
const below = (point: NightPoint, states: number): number =>
  NIGHT_STATES.slice(0, states).reduce((total, state) => total + point[state], 0);

function stateArea({ points }: Night, at: number, state: NightState, most: number): Html {
  if (points.every((point) => point[state] === 0)) return markup``;
  const line = (states: number): readonly string[] =>
    points
      .map((point, index) => ({
        x: (1000 * index) / (points.length - 1),
        y: below(point, states),
      }))
      .filter(({ y }, index, all) => y !== all[index - 1]?.y || y !== all[index + 1]?.y)
      .map(({ x, y }) => `${x.toFixed(0)} ${(1000 - (1000 * y) / most).toFixed(0)}`);
  const outline = [...line(at + 1), ...line(at).toReversed()].join("L");
  return markup`<path class="${classOf(state)}" d="M${outline}Z"><title>${state}</title></path>`;
}

const percentOf = (at: Date, { from, to }: Night): number =>
  Math.min(
    100,
    Math.max(0, (100 * (at.getTime() - from.getTime())) / (to.getTime() - from.getTime())),
  );

const percent = (value: number): string => `${value.toFixed(2)}%`;

/** The width in percent from which a band has room for its label; on a phone twice as much. */
const ROOM_FOR_WORDS = 14;

function holdBand(hold: NightHold, night: Night): Html {
  const start = percentOf(hold.began_at, night);
  const width = Math.max(0.2, percentOf(hold.ended_at ?? night.to, night) - start);
  const words = markup`<text class="${width < 2 * ROOM_FOR_WORDS ? "wide" : "why"}" x="${percent(start + width / 2)}" y="${TOP + 14}" text-anchor="middle">${CAUSES[hold.reason]}</text>`;
  return markup`<rect class="hold" x="${percent(start)}" y="${TOP}" width="${percent(width)}" height="${HEIGHT}"><title>${hold.batch}: ${causeOf(hold)}</title></rect>${width < ROOM_FOR_WORDS ? "" : words}`;
}

const causeOf = ({ reason, detail }: NightHold): string =>
  detail === null ? CAUSES[reason] : `${CAUSES[reason]}: ${detail}`;

const tick = (at: number, label: string): Html =>
  markup`<line class="axis" x1="${percent(at)}" x2="${percent(at)}" y1="${TOP + HEIGHT}" y2="${TOP + HEIGHT + 5}"/><text x="${percent(at)}" y="${TOP + HEIGHT + 18}" text-anchor="middle">${label}</text>`;

const SECOND = 1_000;
const DAY = 86_400 * SECOND;
const TICK_STEPS = [
  ...[
    0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
  ].map((s) => s * SECOND),
  ...[1, 2, 7, 14, 30, 90, 365].map((days) => days * DAY),
];
const MOST_TICKS = 6;

/** Round local times, at most six. */
function ticks(
  night: Night,
  zone: string,
): readonly { readonly at: Date; readonly label: string }[] {
  const { from, to } = night;
  const lasted = to.getTime() - from.getTime();
  const step = TICK_STEPS.find((each) => lasted / each <= MOST_TICKS) ?? lasted;
  const offset = offsetMs(from.getTime(), zone);
  const first = Math.ceil((from.getTime() + offset) / step) * step;
  return Array.from({ length: MOST_TICKS + 1 }, (_, index) => {
    const wall = first + index * step;
    const at = new Date(wall - offsetMs(wall - offset, zone));
    return { at, label: tickLabel(at, step, zone) };
  }).filter(({ at }) => at >= from && isInside(percentOf(at, night)));
}

/** At the edges, a label that is centred on its tick would be cut. */
const isInside = (at: number): boolean => at > 5 && at < 95;

function tickLabel(at: Date, step: number, zone: string): string {
  const { date, time } = isoInZone(at, zone);
  if (step >= DAY) return date.slice(5);
  if (step < SECOND)
    return `${time.slice(17, 19)}.${String(at.getMilliseconds()).padStart(3, "0").slice(0, 1)} s`;
  return step < 60 * SECOND ? time.slice(11, 19) : time.slice(11, 16);
}

function nightKeys({ points, holds }: Night): readonly Html[] {
  const shown = NIGHT_STATES.filter((state) => points.some((point) => point[state] > 0));
  const reasons = [...new Set(holds.map(({ reason }) => CAUSES[reason]))];
  return [
    ...shown.map((state) => markup`<span class="key ${classOf(state)}">${state}</span>`),
    ...(reasons.length === 0
      ? []
      : [markup`<span class="key held">held: ${reasons.join(", ")}</span>`]),
  ];
}

/** The chart in words, for screen readers and for formats without pictures. */
export function describeNight(night: Night, zone: string): string {
  const { from, to, points, holds } = night;
  const last = points.at(-1);
  const states = NIGHT_STATES.filter((state) => (last?.[state] ?? 0) > 0);
  const counts = states.map((state) => `${formatCount(last?.[state] ?? 0)} ${state}`).join(", ");
  const busiest = Math.max(0, ...points.map(({ running }) => running));
  const held = holds
    .slice(0, 10)
    .map((hold) => `${causeOf(hold)} (${spanText(hold.began_at, hold.ended_at, zone)})`);
  return [
    `From ${spanText(from, to, zone)} on the clocks of ${zone}: at the end ${counts === "" ? "no job" : counts}.`,
    ...(busiest === 0 ? [] : [`At most ${formatCount(busiest)} seen running at once.`]),
    ...(held.length === 0 ? [] : [`Held: ${held.join("; ")}.`]),
  ].join(" ");
}

function spanText(from: Date, to: Date | null, zone: string): string {
  const start = isoInZone(from, zone);
  const began = `${start.date} ${start.time.slice(11, 16)}`;
  if (to === null) return `${began} on`;
  const end = isoInZone(to, zone);
  return `${began} to ${end.date === start.date ? "" : `${end.date} `}${end.time.slice(11, 16)}`;
}

const ROW = 58;

/** A chart of tokens and time by model. */
export function modelsPicture(models: readonly ModelCost[]): Html {
  const mostTokens = Math.max(1, ...models.map(tokensOf));
  const mostMs = Math.max(1, ...models.map(({ model_ms }) => model_ms));
  const words = models.map((model) => `${nameOf(model)}: ${costText(model)}`).join("; ");
  return markup`<figure class="picture"><svg role="img" aria-labelledby="models-title models-desc" width="100%" height="${ROW * models.length}">
<title id="models-title">Tokens and time by model</title><desc id="models-desc">${words}</desc>
${models.map((model, index) => modelBars(model, ROW * index, { mostTokens, mostMs }))}
</svg><figcaption><span class="key s-read">tokens read</span><span class="key s-written">tokens written</span><span class="key s-took">time in the model</span></figcaption></figure>
`;
}

const tokensOf = ({ prompt_tokens: read, completion_tokens: written }: ModelCost): number =>
  read + written;

const MOST_NAME_CHARS = 44;
const nameOf = ({ model }: ModelCost): string => {
  const name = model ?? "no model";
  return name.length > MOST_NAME_CHARS
    ? `${name.slice(0, MOST_NAME_CHARS - 1).toWellFormed()}…`
    : name;
};

const costText = ({
  prompt_tokens: read,
  completion_tokens: written,
  model_ms: ms,
}: ModelCost): string =>
  `${read + written === 0 ? "no tokens" : `${formatCount(read)} read, ${formatCount(written)} written`}, ${formatDuration(ms)}`;

function modelBars(
  model: ModelCost,
  top: number,
  { mostTokens, mostMs }: { readonly mostTokens: number; readonly mostMs: number },
): Html {
  const read = (100 * model.prompt_tokens) / mostTokens;
  const written = (100 * model.completion_tokens) / mostTokens;
  return markup`<text class="name" y="${top + 12}">${nameOf(model)}</text><text y="${top + 27}">${costText(model)}</text>
<rect class="s-read" y="${top + 33}" width="${percent(read)}" height="8"/><rect class="s-written" x="${percent(read)}" y="${top + 33}" width="${percent(written)}" height="8"/><rect class="s-took" y="${top + 43}" width="${percent((100 * model.model_ms) / mostMs)}" height="4"/>
`;
}
