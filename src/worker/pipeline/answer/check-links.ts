import type { FigureRecord } from "../../../shared/run-result.ts";
import { whereOf } from "./check-figures.ts";
import { cleanText } from "../text/clean-text.ts";
import { firstCodePoints } from "../text/code-points.ts";
import { applyEdits } from "../text/apply-edits.ts";
import type { Edit } from "../text/apply-edits.ts";
import { defuseLink } from "./defuse-link.ts";
import { findBareLinks } from "./find-bare-links.ts";
import type { BareLink } from "./find-bare-links.ts";
import { findMarkupLinks } from "./find-markup-links.ts";
import type { MarkupLink } from "./find-markup-links.ts";
import { comparableTarget, linkFinder, ownPaths, targetsOf } from "./index-links.ts";
import type { CitableBlock } from "../number-evidence.ts";
import type { TextSpan } from "../text/split-spans.ts";
import { withoutSpans } from "./resolve-citations.ts";

export type CheckedLinks = {
  readonly records: readonly FigureRecord[];
  /** Where the answer states a link or a path. */
  readonly spans: readonly TextSpan[];
  /** The answer with every flagged link defused. */
  readonly text: string;
};

const MOST_LINK_CHARS = 500;
/** Elements that load or lead somewhere. */
const HTML =
  /<(?=\/?(?:a|area|audio|base|button|embed|form|frame|iframe|image|img|input|link|meta|object|script|source|style|svg|track|video)\b)/gi;

/**
 * The links and paths of an answer. One that the question does not hold is flagged, whether a document brought it up or
 * nobody did, unless it is the path of a piece of the evidence. A flagged link is rewritten so that nothing can follow
 * it: `[text](https://a.org)` becomes `text (link from a document: hxxps://a[.]org)`; paths act nowhere and stay.
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
  const html = [...answer.matchAll(HTML)].map(({ index }) => edit(index, index + 1, "‹"));
  if (markup.length + bare.length + html.length === 0)
    return { records: [], spans: [], text: answer };
  const recordOf = recorder(question, evidence);
  const links = [
    ...markup.map((link) => ({ at: link.tail, record: recordOf("link", link.target), link })),
    ...bare.map((link) => ({ at: link, record: recordOf(link.kind, link.target), link })),
  ].sort((one, other) => one.at.start - other.at.start);
  const edits = links
    .filter(({ record }) => record.flagged && record.kind === "link")
    .flatMap(({ link, record }) =>
      "tail" in link ? defusedMarkup(link, record) : defusedBare(link, record, { answer, prose }),
    );
  return {
    records: links.map(({ record }) => record),
    spans: links.map(({ at }) => at),
    text: applyEdits(answer, [...edits, ...html]),
  };
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

const originOf = ({ standsIn }: FigureRecord): string =>
  standsIn === "neither" ? "that no document holds" : "from a document";

function defusedMarkup({ form, target, opening, tail }: MarkupLink, record: FigureRecord): Edit[] {
  const noun = form === "image" ? "image" : "link";
  const note = ` (${noun} ${originOf(record)}: ${defuseLink(target)})`;
  return [edit(opening.start, opening.end, ""), edit(tail.start, tail.end, note)];
}

/** Angle brackets around it would make a link of anything; in code a note would be code. */
function defusedBare(
  { start, end, target }: BareLink,
  record: FigureRecord,
  { answer, prose }: { readonly answer: string; readonly prose: string },
): Edit[] {
  const isAngled = answer.charAt(start - 1) === "<" && answer.charAt(end) === ">";
  const note = prose.charAt(start) === answer.charAt(start) ? ` (link ${originOf(record)})` : "";
  const [from, to] = isAngled ? [start - 1, end + 1] : [start, end];
  return [edit(from, to, defuseLink(target) + note)];
}

const edit = (start: number, end: number, text: string): Edit => ({ start, end, text });
