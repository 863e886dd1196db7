import { normaliseText } from "../../shared/text/normalise-text.ts";
import type { EvidenceSpan, FigureRecord } from "../../shared/job/run-result.ts";
import { placesIn } from "../evidence/number.ts";
import type { CitableBlock } from "../evidence/number.ts";
import { cleanText, firstCodePoints, withoutSpans } from "../text/clean-text.ts";
import type { TextSpan } from "../text/spans.ts";
import { whereOf } from "./figures.ts";
import { findBareLinks, findMarkupLinks } from "./find-links.ts";

type CheckedLinks = {
  readonly records: readonly FigureRecord[];
  /** The ranges of links and paths in the answer. */
  readonly spans: readonly TextSpan[];
};

const MOST_LINK_CHARS = 500;

/**
 * Looks up the links and paths of an answer. One that is not in the question is flagged, even if a document holds it, unless it
 * is the path of a piece of the evidence. The answer stays unchanged: pages that show it make no links from it.
 *
 * @param prose the answer with code replaced by spaces, for links in markdown
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
  const recordOf = linkRecorder(question, evidence);
  const links = [
    ...markup.map(({ tail, target }) => ({ at: tail, record: recordOf("link", target) })),
    ...bare.map((link) => ({ at: link, record: recordOf(link.kind, link.target) })),
  ].sort((one, other) => one.at.start - other.at.start);
  return { records: links.map(({ record }) => record), spans: links.map(({ at }) => at) };
}

function linkRecorder(
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

/** A target in the form for comparison: scheme and host in lower case, without http, https, `mailto:` and slashes at the end. */
function comparableTarget(target: string): string {
  const plain = normaliseText(target.trim(), "NFC").replace(/^(?:https?:\/\/|mailto:)/i, "");
  const host = /^(?:[a-z][a-z0-9+.-]{0,20}:)?(?:\/\/)?[^/?#]*/i.exec(plain)?.[0] ?? "";
  const path = plain.slice(host.length);
  let end = path.length;
  while (end > 0 && path.charAt(end - 1) === "/") end -= 1;
  return host.toLowerCase() + path.slice(0, end);
}

/** The targets of all links, addresses and paths of a text, each with its first place. */
function targetsOf(text: string): Map<string, TextSpan> {
  const targets = new Map<string, TextSpan>();
  const add = (target: string, span: TextSpan): void => {
    const key = comparableTarget(target);
    if (!targets.has(key)) targets.set(key, span);
  };
  for (const { target, start, end } of findBareLinks(text)) add(target, { start, end });
  for (const { target, tail } of findMarkupLinks(text)) add(target, tail);
  return targets;
}

/** Makes a function that finds the place of a target in the evidence, or null. */
function linkFinder(evidence: readonly CitableBlock[]): (target: string) => EvidenceSpan | null {
  const pieces = evidence.map((block) => ({
    targets: targetsOf(block.text),
    placeOf: placesIn(block),
  }));
  return (target) => {
    const key = comparableTarget(target);
    const piece = pieces.find(({ targets }) => targets.has(key));
    const span = piece?.targets.get(key);
    return piece === undefined || span === undefined ? null : piece.placeOf(span.start, span.end);
  };
}

/** Makes a test whether a target is a path of the evidence, or the last part of one. */
function ownPaths(evidence: readonly CitableBlock[]): (target: string) => boolean {
  const names = new Set(
    evidence.flatMap(({ path }) => [path, path.slice(path.lastIndexOf("/") + 1)]),
  );
  return (target) => {
    const plain = target.replace(/^\.\//, "");
    const bare = plain.replace(/(\.[\p{L}\p{N}]{1,8})(?:#[^\n]*|:\d{1,9}(?:[-–]\d{1,9})?)$/u, "$1");
    return names.has(plain) || names.has(bare);
  };
}
