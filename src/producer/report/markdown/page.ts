import { markdownText } from "../../export/escape-markdown.ts";
import { formatTime } from "../../print/quantity.ts";
import type { Report } from "../gather-report.ts";
import { reportMarker } from "../report-marker.ts";
import { factsOf, headline } from "../report-words.ts";
import { answersPart } from "./answers.ts";
import { changesPart } from "./changes.ts";
import { costsPart, slowestPart } from "./costs.ts";
import { holdsPart } from "./holds.ts";
import { failuresPart, refusalsPart } from "./troubles.ts";

/** The same report as text for an editor or a mail. @param hrefBase from the file to the work root */
export function markdownReport(report: Report, hrefBase: string): string {
  const { batch, madeAt, version } = report;
  const parts = [
    reportMarker(batch.batchId),
    `# ${markdownText(batch.name)}`,
    headline(report),
    factsOf(report)
      .map(([label, value]) => `- ${label}: ${markdownText(value)}`)
      .join("\n"),
    ...changesPart(report),
    ...failuresPart(report),
    ...holdsPart(report),
    ...refusalsPart(report),
    ...answersPart(report, hrefBase),
    ...costsPart(report),
    ...slowestPart(report),
    `---\n\nMade ${formatTime(madeAt)} by Nightdesk ${version} from batch \`${batch.batchId}\`. Times are UTC; paths are relative to the work root.`,
  ];
  return `${parts.join("\n\n")}\n`;
}
