import type { FigureRecord } from "../../../shared/run-result.ts";
import { whereOf } from "./check-figures.ts";
import { cleanText } from "../text/clean-text.ts";
import { firstCodePoints } from "../text/code-points.ts";
import { findBareLinks } from "./find-bare-links.ts";
import { findMarkupLinks } from "./find-markup-links.ts";
import { comparableTarget, linkFinder, ownPaths, targetsOf } from "./index-links.ts";
import type { CitableBlock } from "../number-evidence.ts";
import type { TextSpan } from "../text/split-spans.ts";
import { withoutSpans } from "./resolve-citations.ts";

export type CheckedLinks = {
  readonly records: readonly FigureRecord[];
  /** Where the answer states a link or a path. */
  readonly spans: readonly TextSpan[];
};

const MOST_LINK_CHARS = 500;

/**
 * The links and paths of an answer. One that the question does not hold is flagged, whether a document brought it up or
 * nobody did, unless it is the path of a piece of the evidence. The answer stays as it is written: who shows it makes
 * no link of it.
 *
 * @param prose the answer with code blanked, where markup counts
 */
export function checkLinks(
  answer: string,
  prose: string,
  question: string,
  evidence: readonly CitableBlock[],
): CheckedLinks {
  const markup = findMarkupLinks(prose).filter(({ target }) => !target.startsWith("#"));
  const bare = findBareLinks(
    withoutSpans(
      answer,
      markup.map(({ tail }) => tail),
    ),
  );
  if (markup.length + bare.length === 0) return { records: [], spans: [] };
  const recordOf = recorder(question, evidence);
  const links = [
    ...markup.map(({ tail, target }) => ({ at: tail, record: recordOf("link", target) })),
    ...bare.map((link) => ({ at: link, record: recordOf(link.kind, link.target) })),
  ].sort((one, other) => one.at.start - other.at.start);
  return { records: links.map(({ record }) => record), spans: links.map(({ at }) => at) };
}

function recorder(
  question: string,
  evidence: readonly CitableBlock[],
): (kind: "link" | "path", target: string) => FigureRecord {
  const asked = targetsOf(question);
  const placeOf = linkFinder(evidence);
  const isOwn = ownPaths(evidence);
  return (kind, target) => {
    const span = placeOf(target);
    const isAsked = asked.has(comparableTarget(target));
    const isPath = isOwn(target);
    return {
      kind: isPath ? "path" : kind,
      text: cleanText(firstCodePoints(target, MOST_LINK_CHARS)),
      standsIn: whereOf(span !== null || isPath, isAsked),
      flagged: !isAsked && !isPath,
      span,
    };
  };
}
