import type { Report } from "../gather-report.ts";
import { headline } from "../report-words.ts";
import { formatTime } from "../../print/quantity.ts";
import { reportMarker } from "../report-marker.ts";
import { answersSection } from "./answers.ts";
import { changesSection } from "./changes.ts";
import { costsSection } from "./costs.ts";
import { holdsSection } from "./holds.ts";
import { Html, markup } from "./markup.ts";
import { overview } from "./overview.ts";
import { slowestSection } from "./slowest.ts";
import { STYLE } from "./style.ts";
import { failuresSection, refusalsSection } from "./troubles.ts";

/** A part of the page with the words that lead to it; none where it would hold nothing. */
export type Section = { readonly id: string; readonly title: string; readonly body: Html };

/** Nothing is loaded from anywhere, and nothing runs: also where an escape was forgotten. */
const POLICY = new Html(
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
);

/** A report as one page that holds all it needs. @param hrefBase from the page to the work root */
export function htmlReport(report: Report, hrefBase: string): string {
  const { batch, madeAt, version } = report;
  const sections = [
    changesSection(report),
    failuresSection(report),
    holdsSection(report),
    refusalsSection(report),
    answersSection(report, hrefBase),
    costsSection(report),
    slowestSection(report),
  ].filter((section) => section !== undefined);
  const page = markup`<!doctype html>
${new Html(reportMarker(batch.batchId))}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${batch.name} · Nightdesk report</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header>
<p class="kicker">Nightdesk · morning report</p>
<h1>${batch.name}</h1>
<p class="lead">${headline(report)}</p>
${overview(report)}
<nav aria-label="Sections">${sections.map(linkTo)}</nav>
</header>
<main>
${sections.map(wrap)}</main>
<footer>
<p>Made ${formatTime(madeAt)} by Nightdesk ${version} from batch <code>${batch.batchId}</code>. Times are UTC; paths are
relative to the work root. An answer rests on the bytes that its sha256 names: <code>sha256sum FILE</code> confirms it.</p>
</footer>
</body>
</html>
`;
  return page.toString();
}

const linkTo = ({ id, title }: Section): Html => markup`<a href="#${id}">${title}</a> `;

const wrap = ({ id, title, body }: Section): Html =>
  markup`<section aria-labelledby="${id}"><h2 id="${id}">${title}</h2>
${body}
</section>
`;
