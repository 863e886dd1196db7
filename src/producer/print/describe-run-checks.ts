import type { RunDetail } from "../../shared/db/jobs/read-runs.ts";
import { countOf, formatCount } from "./quantity.ts";
import { spanPlace } from "./run-place.ts";
import { fold, oneLine, section } from "./run-text.ts";
import type { Extent } from "./run-text.ts";

/** What the words of the answer were found to be: quotes, figures, and the evidence behind each sentence. */
export const describeChecks = (run: RunDetail, extent: Extent): readonly string[] => [
  ...section("Quotes", fold(run.quotes.map(describeQuote), extent, "quote")),
  ...section("Figures, links and paths", fold(run.figures.map(describeFigure), extent, "figure")),
  ...section(supportTitle(run), fold(run.support.map(describeSupport(extent)), extent, "sentence")),
];

const describeQuote = (row: RunDetail["quotes"][number]): readonly string[] => [
  `${row.class.padEnd(13)} "${oneLine(row.quote, "brief")}"  ${spanPlace(row)}`,
];

const describeFigure = (row: RunDetail["figures"][number]): readonly string[] => [
  (row.flagged ? "FLAGGED" : "ok").padEnd(8) +
    `${row.kind} ${oneLine(row.figure, "brief")}, stands in ${standsIn(row)}`,
];

const standsIn = (row: RunDetail["figures"][number]): string =>
  row.path === null ? row.stands_in : `${row.stands_in}: ${spanPlace(row)}`;

function supportTitle({ support }: RunDetail): string {
  const weakest = Math.min(...support.map(({ score }) => score));
  return `Support, sentence by sentence (0 to 1; the weakest has ${formatScore(weakest)})`;
}

const describeSupport =
  (extent: Extent) =>
  (row: RunDetail["support"][number]): readonly string[] => [
    `${formatScore(row.score)}  ${oneLine(row.sentence, extent)}  ← ${spanPlace(row)}`,
  ];

const formatScore = (score: number): string => score.toFixed(2);

/** The summaries that stand between the file and the answer, each with the span that it covers. */
export function describeParts(run: RunDetail, extent: Extent): readonly string[] {
  const parts = run.summary_parts;
  const levels = new Set(parts.map(({ level }) => level)).size;
  const lines = parts.map((part) => [
    `level ${part.level}, lines ${part.line_start}-${part.line_end}, characters ${formatCount(part.start_char)}-${formatCount(part.end_char)}`,
    `  ${oneLine(part.summary, extent)}`,
  ]);
  const title = `Summaries of parts: ${formatCount(parts.length)} in ${countOf(levels, "level")}`;
  return section(title, fold(lines, extent, "part"));
}
