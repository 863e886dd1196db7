import { countHtml, drawSections } from "../../shared/views/draw-sections.ts";
import type { DrawSections, PieceOf } from "../../shared/views/draw-sections.ts";
import { formatCount, formatOnClock, formatSpanOnClock } from "../../shared/views/quantity.ts";
import type { Clock } from "../../shared/views/quantity.ts";
import type { Count, Page, Section } from "../../shared/views/section.ts";
import { formatPlace, evidenceHref } from "../export/markdown.ts";
import { Html, markup } from "../../shared/views/html-markup.ts";
import { PICTURE_STYLE } from "../../shared/views/night-picture.ts";
import { classOf, SECTION_STYLE } from "../../shared/views/section-style.ts";

/** The page loads nothing and runs no script, even if an escape is missing somewhere. */
const POLICY = new Html(
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
);

/**
 * A report as one self-contained HTML page.
 * @param marker a comment that identifies the file
 * @param hrefBase the path from the page to the work root
 */
export function htmlPage(page: Page, marker: string, hrefBase: string): string {
  const { title, lead, facts, counts = [], sections, colophon, clock } = page;
  const draw = drawFor({ hrefBase, clock });
  const whole = markup`<!doctype html>
${new Html(marker)}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title} · Nightdesk report</title>
<style>${new Html(STYLE + SECTION_STYLE + PICTURE_STYLE)}</style>
</head>
<body>
<header>
<p class="kicker">Nightdesk · morning report</p>
<h1>${title}</h1>
${lead === undefined ? "" : markup`<p class="lead">${lead}</p>`}
${bar(counts)}
<ul class="tiles">${counts.map(tile)}</ul>
${draw.facts(facts)}
<nav aria-label="Sections">${sections.map(linkTo)}</nav>
</header>
<main>
${sections.map(draw.section)}</main>
<footer>
${colophon === undefined ? "" : markup`<p>${draw.text(colophon)}</p>`}
</footer>
</body>
</html>
`;
  return whole.toString();
}

/** The base of links to the work root, and the clock of times. */
type Form = { readonly hrefBase: string; readonly clock: Clock | undefined };

const linkTo = ({ id, title }: Section): Html => markup`<a href="#${id}">${title}</a> `;

/** The style of a report: no external font, image or script, one accent colour, and rules for print. */
const STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1d2126; --soft: #5c6570; --line: #e3dfd6; --accent: #21507f;
  --good: #2f6b4f; --refused: #94681c; --bad: #a03232; --idle: #8a929b;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "Book Antiqua", Georgia, serif;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --card: #1b1f24; --ink: #e6e3dc; --soft: #9aa3ad; --line: #2d333a; --accent: #8db8e3;
    --good: #7fc3a0; --refused: #d9ad5f; --bad: #e58a8a; --idle: #6d767f;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.55 var(--sans); }
main, header, footer { max-width: 58rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 3.5rem; }
.kicker { margin: 0; color: var(--soft); font-size: .8rem; letter-spacing: .08em; text-transform: uppercase; }
h1, h2, h3 { font-family: var(--serif); font-weight: 600; line-height: 1.2; overflow-wrap: anywhere; }
h1 { margin: .35rem 0 .5rem; font-size: 2.3rem; letter-spacing: -.01em; }
h2 { margin: 3rem 0 .75rem; padding-top: 1.25rem; border-top: 1px solid var(--line); font-size: 1.5rem; }
h3 { margin: 1.75rem 0 .4rem; font-size: 1.1rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.lead { max-width: 44rem; margin: 0 0 1.5rem; font: 1.2rem/1.5 var(--serif); }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 2px; overflow-wrap: anywhere; }
code { font: .86em var(--mono); overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .7rem .9rem; border: 1px solid var(--line); border-radius: 6px; background: var(--card);
  white-space: pre-wrap; overflow-wrap: anywhere; font: .82rem/1.5 var(--mono); }
.bar { display: flex; height: .7rem; margin: 0 0 1.25rem; overflow: hidden; border-radius: 4px; background: var(--line); }
.bar span { min-width: 2px; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0 0 1.5rem; padding: 0; list-style: none; }
.tiles li { flex: 1 1 7.5rem; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.tiles strong { display: block; font: 600 1.7rem/1.2 var(--serif); font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: .85rem; }
.tiles strong { color: var(--tone); } .bar span { background: var(--area); }
dl { display: grid; grid-template-columns: fit-content(40%) 1fr; gap: .25rem 1.25rem; margin: 0; }
dt { color: var(--soft); overflow-wrap: anywhere; } dd { grid-column: 2; margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
nav { margin: 1.75rem 0 0; color: var(--soft); font-size: .9rem; }
nav a { margin-right: 1.1rem; white-space: nowrap; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
caption { padding: .2rem 0 .4rem; color: var(--soft); text-align: left; }
th, td { padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 500; } thead th { white-space: nowrap; }
.state { color: var(--tone); }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
@media (min-width: 40.01rem) { .times td { overflow-wrap: normal; } .times .why { overflow-wrap: anywhere; min-width: 11rem; } }
@media (min-width: 45rem) { .times td { white-space: nowrap; } .times .why, .times a { white-space: normal; } .times td:has(a) { max-width: 14rem; white-space: normal; } }
.part { margin-top: 1.2rem; border-top: 1px solid var(--line); } .part > summary { width: auto; padding-top: 1rem; color: var(--ink); }
.part > summary h2 { display: inline; margin: 0; padding: 0; border: 0; font-size: 1.25rem; }
.card { margin: .5rem 0; padding: 0 1.3rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.card[open] { margin: 1.1rem 0; padding-bottom: .8rem; }
.card > summary { display: flex; gap: .8rem; align-items: baseline; width: auto; padding: .6rem 0; color: var(--ink); }
.card > summary h3 { flex: 1; min-width: 0; margin: 0; } .card > summary .state { font-size: .85rem; }
.card:not([open]) > summary h3 { overflow: hidden; font-size: 1rem; text-overflow: ellipsis; white-space: nowrap; }
.answer { max-width: 46rem; font: 1.02rem/1.6 var(--serif); white-space: pre-wrap; overflow-wrap: anywhere; }
.items { margin: .8rem 0 0; padding: .6rem 0 0; border-top: 1px dotted var(--line); list-style: none; font-size: .85rem; }
.items li { margin: .35rem 0; overflow-wrap: anywhere; } .items li p { margin: .15rem 0; } .items li:has(p) { margin: .8rem 0; }
.items li:target { outline: 2px solid var(--accent); outline-offset: 4px; border-radius: 2px; }
summary { color: var(--accent); cursor: pointer; width: fit-content; }
.passage { margin: .3rem 0 .6rem; padding: .5rem .8rem; border-left: 3px solid var(--line); white-space: pre-wrap; overflow-wrap: anywhere; font-family: var(--serif); font-size: .95rem; }
.group { margin-top: 2.25rem; color: var(--soft); }
.note { color: var(--soft); font-size: .85rem; }
.inner > h3 { color: var(--tone); }
.inner > h3.group { color: var(--soft); }
.remedy { padding-left: .8rem; border-left: 3px solid var(--tone); }
@media (max-width: 40rem) {
  main, header, footer { padding: 0 1rem; } header { padding-top: 1.5rem; }
  h1 { font-size: 1.6rem; } h2 { margin-top: 2rem; font-size: 1.3rem; } .lead { font-size: 1.05rem; }
  dl { column-gap: .9rem; } .tiles { gap: .5rem; } .tiles li { flex: 1 1 5.5rem; padding: .6rem .8rem; }
  .tiles strong { font-size: 1.4rem; } .card { padding: 0 .9rem; } .card > summary { padding: .45rem 0; } .group { margin-top: 1.4rem; }
  .answer { font-size: .95rem; line-height: 1.45; } .items { margin-top: .5rem; } .items li { margin: .25rem 0; }
  nav a { display: inline-block; white-space: normal; margin-bottom: .3rem; }
}
footer { margin-top: 3.5rem; padding-top: 1.25rem; padding-bottom: 3rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .85rem; }
@media print {
  :root { color-scheme: light; --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --accent: #000;
    --good: #2f6b4f; --refused: #94681c; --bad: #a03232; --idle: #8a929b; }
  body { font-size: 10.5pt; } header { padding-top: 0; } nav { display: none; }
  main, header, footer { max-width: none; padding-left: 0; padding-right: 0; }
  h2, h3 { break-after: avoid; } .card, tr { break-inside: avoid; } .card > summary h3 { white-space: normal !important; }
  details::details-content { content-visibility: visible; block-size: auto; } summary { list-style: none; } details:not(.card, .part) > summary { display: none; }
  .bar, .bar span { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;

function bar(counts: readonly Count[]): Html {
  const total = counts.reduce((sum, { jobs }) => sum + jobs, 0);
  const parts = counts.filter(({ jobs }) => jobs > 0);
  const words = parts.map(({ name, jobs }) => `${formatCount(jobs)} ${name}`).join(", ");
  const spans = parts.map(
    ({ name, jobs }) =>
      markup`<span class="${classOf(name)}" style="flex:${((jobs / Math.max(1, total)) * 100).toFixed(3)} 0 0"></span>`,
  );
  return markup`<div class="bar" role="img" aria-label="${words}">${spans}</div>`;
}

const tile = ({ name, jobs }: Count): Html =>
  markup`<li class="${classOf(name)}"><strong>${countHtml(jobs)}</strong><span>${name}</span></li>`;

/** Draws values for a page: times on the page's clock, lines of a file as a link. */
const drawFor = ({ hrefBase, clock }: Form): DrawSections =>
  drawSections({
    time: (at, precision) => markup`${formatOnClock(at, clock, precision)}`,
    span: (from, to) => markup`${formatSpanOnClock(from, to, clock)}`,
    place: (piece) => placeHtml(piece, hrefBase),
    id: ({ id }) => markup`<code>${id}</code>`,
  });

function placeHtml(piece: PieceOf<"place">, hrefBase: string): Html {
  const href = evidenceHref(piece, hrefBase);
  const place = formatPlace(piece);
  return href === undefined
    ? markup`${place}`
    : markup`<a href="${href}${piece.page === undefined ? wordsFragment(piece.words) : ""}">${place}</a>`;
}

const MOST_WORDS = 6;

/** A text fragment with the first words of the passage, because a browser can't open a file at a line. */
function wordsFragment(passage = ""): string {
  const [first = ""] = passage.split(/\r?\n/).filter((each) => /\p{L}/u.test(each));
  const words = first.trim().split(/\s+/).slice(0, MOST_WORDS).join(" ").toWellFormed();
  return words === "" ? "" : `:~:text=${encodeURIComponent(words).replaceAll("-", "%2D")}`;
}
