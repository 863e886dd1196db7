/** The look of a report: no font, image or script from anywhere, one accent colour, and a form for print. */
export const STYLE = `
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
p { margin: .5rem 0; }
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
.succeeded { --tone: var(--good); } .refused { --tone: var(--refused); } .failed { --tone: var(--bad); }
.cancelled, .expired, .waiting { --tone: var(--idle); }
.tiles strong { color: var(--tone); } .bar span { background: var(--tone); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
nav { margin: 1.75rem 0 0; color: var(--soft); font-size: .9rem; }
nav a { margin-right: 1.1rem; white-space: nowrap; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
caption { padding: .2rem 0 .4rem; color: var(--soft); text-align: left; }
th, td { padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere; }
th { color: var(--soft); font-weight: 500; white-space: nowrap; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.times td { overflow-wrap: normal; } .times .why { overflow-wrap: anywhere; min-width: 8rem; }
@media (min-width: 45rem) { .times td { white-space: nowrap; } .times .why { white-space: normal; } }
article { margin: 1.1rem 0; padding: 1.1rem 1.3rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
article h3 { margin-top: 0; }
.task { color: var(--soft); font-size: .9rem; }
.answer { max-width: 46rem; font: 1.02rem/1.6 var(--serif); white-space: pre-wrap; overflow-wrap: anywhere; }
.evidence { margin: .8rem 0 0; padding: .6rem 0 0; border-top: 1px dotted var(--line); list-style: none; font-size: .85rem; }
.evidence li { margin: .2rem 0; }
.scope, .hash, .more { color: var(--soft); font-size: .82rem; }
.code { color: var(--tone); font: 600 .95rem var(--mono); }
.remedy { padding-left: .8rem; border-left: 3px solid var(--tone); }
footer { margin-top: 3.5rem; padding-top: 1.25rem; padding-bottom: 3rem; border-top: 1px solid var(--line); color: var(--soft); font-size: .85rem; }
@media print {
  :root { --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --accent: #000; }
  body { font-size: 10.5pt; } header { padding-top: 0; } nav { display: none; }
  main, header, footer { max-width: none; padding-left: 0; padding-right: 0; }
  h2, h3 { break-after: avoid; } article, tr { break-inside: avoid; }
  .bar, .bar span { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
